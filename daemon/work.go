package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/web/session"
)

// grace is how long activities may take to end when this process does, which is to be gone within 5 s.
const grace = 4 * time.Second

// Process is an Workspace that may run things: it holds the state directory's lock.
type Process struct {
	*Workspace
	Journal *journal.Journal
	Exec    *local.Executor
	desk    *approval.Desk
	url     string          // of the dashboard, when one is served
	address string          // at which it listens
	access  *session.Access // to the dashboard, when one is served
	budget  policy.Budget   // of the settings

	mu      sync.Mutex
	claimed map[string]string // runs of files of the import folder that a command has asked for, by name. Guarded by mu
	told    map[string]bool   // what was logged and is not logged again. Guarded by mu
	moved   originals         // that lie where their imports have put them
	held    *holds            // files that are left in the import folder for a while; nil unless this is serve

	fetched fetched
	servers *mcp.Hub
	release func() error  // the vault's lock
	renew   chan struct{} // somebody has changed the trust in the vault
}

// work takes the state directory and the vault and makes an executor. Nothing runs before run.
func (a *Workspace) Work(ctx context.Context) (*Process, error) {
	if err := a.Trust.store.Begin(); err != nil { // before there is a journal that could be taken for an earlier version's
		return nil, err
	}
	j, err := journal.Open(ctx, a.StateDir)
	if err != nil {
		return nil, err
	}
	release, err := a.Vault.Lock()
	if err != nil {
		return nil, errors.Join(lockedElsewhere(err), j.Close())
	}
	if n, err := a.Vault.Sweep(); err != nil || n > 0 {
		a.Log.Info("temporary files of a killed process removed", "count", n, "err", err)
	}
	sandbox.Office{Dir: a.Workers.officeDir()}.Sweep()
	w := &Process{Workspace: a, Journal: j, claimed: map[string]string{}, told: map[string]bool{}, release: release, renew: make(chan struct{}, 1)}
	flow, err := a.Flow(storesOf(j))
	if err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	flow.Models, flow.Cache, flow.Received = modelset.Probing{Set: a.Models}, j.Answers, j.Answers
	a.giveWeb(flow)
	w.giveOutside(flow)
	flow.Runs, w.budget = nested{w}, flow.Budget
	importer := func(run string, events func(ingestion.Event)) step.Importer { return w.importer(run, events) }
	imports := &step.Imports{FS: a.Vault.FS(), Importer: importer, Imported: j.Imports, Blobs: j.Blobs, Origin: flow.Origin}
	activities := flow.Activities()
	maps.Copy(activities, imports.Activities())
	w.Exec = local.New(local.Config{
		Journal: j.Executor(), Activities: activities, MaxRuns: a.Settings.Engine.MaxParallelRuns,
		Timeout: a.Settings.Engine.RunTimeout.Std(), Location: a.Zone, Logger: a.Log, Renew: a.rules.renew,
		Grace: grace,
	})
	if w.desk, err = w.newDesk(); err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	return w, nil
}

// importer makes an importer over the vault and the sandbox, for a run.
func (w *Process) importer(run string, events func(ingestion.Event)) *ingestion.Importer {
	a := w.Workspace
	im := &ingestion.Importer{
		Files: a.Writing(policy.ByImport), Worker: sessions{a.Workers}, Now: time.Now,
		Tool: "vaultflow " + a.options.Version, Takes: a.Vault.Takes, Writing: a.Vault.Writing,
		Events: events, Recogniser: a.recognition.recogniser(w.payer(run)), Passwords: func(ingestion.Job) []string { return a.Passwords.All() },
		Office: a.Workers.importOffice(),
	}
	if w.held != nil {
		im.Endless = func(head []byte) bool { return !disk.ShowsEnd(head) }
	}
	return im
}

// resume takes up the runs that an earlier process left. Only serve does: a command that does one thing would begin them
// and leave them again.
func (w *Process) resume(ctx context.Context) error {
	resumed, err := w.Exec.Resume(ctx)
	if resumed > 0 {
		w.Log.Info("interrupted runs taken up again", "count", resumed)
	}
	return err
}

// run lets the executor work while fn does, and stops it afterwards.
func (w *Process) Run(ctx context.Context, fn func(ctx context.Context) error) error {
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Exec.Run(inner) }()
	err := fn(inner)
	cancel()
	return errors.Join(err, <-done)
}

// close gives the state directory free.
func (w *Process) Close() {
	w.servers.Close()
	if err := w.fetched.close(); err != nil {
		w.Log.Warn("store of artifacts not closed", "err", err)
	}
	if err := errors.Join(w.Journal.Close(), w.release()); err != nil {
		w.Log.Warn("journal not closed", "err", err)
	}
}

// shortHash is the beginning of a text's digest, for names.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
