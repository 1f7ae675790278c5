package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"time"

	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/imports"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/tools/toolbox"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// grace is how long activities may take to end when this process does, which is to be gone within 5 s.
const grace = 4 * time.Second

// Process is a workspace that may run things: it holds the locks of the state directory and of the vault.
type Process struct {
	*Workspace
	Journal *journal.Journal
	Exec    *local.Executor
	desk    *approval.Desk
	budget  policy.Budget // of the settings

	Runs     *Runs
	Imports  *Imports
	holding  bool        // imported files may stay in the import folder for a while
	renewals *trustWatch // used by serve

	fetched fetched
	servers *mcp.Hub
	release func() error // the vault's lock
}

// work is Work. holding lets imported files stay in the import folder for a while, which takes a serve.
func work(ctx context.Context, a *Workspace, holding bool) (*Process, error) {
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
	w := &Process{Workspace: a, Journal: j, holding: holding, release: release}
	d, err := a.deps(storesOf(j), modelset.Probing{Set: a.Models}, a.webFetcher())
	if err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	w.budget = d.Budget
	f := newFlow(d, j.Undo, toolbox.Config{
		AutoBuffer: a.Settings.Engine.AutoBufferTokens, Outside: w.reach(d), Runs: nested{func() *Runs { return w.Runs }}, Log: a.Log,
	})
	importer := func(run string, events func(ingestion.Event)) imports.Importer { return w.importer(run, events) }
	im := &imports.Imports{FS: a.Vault.FS(), Importer: importer, Imported: j.Imports, Blobs: j.Blobs, Origin: d.Origin}
	activities := f.activities()
	maps.Copy(activities, im.Activities())
	w.Exec = local.New(local.Config{
		Journal: j.Executor(), Activities: activities, MaxRuns: a.Settings.Engine.MaxParallelRuns,
		Timeout: a.Settings.Engine.RunTimeout.Std(), Location: a.Zone, Logger: a.Log, Renew: a.rules.renew,
		Grace: grace,
	})
	w.Runs = &Runs{settings: a.Settings, journal: j, exec: w.Exec, workflows: a.Workflows, models: a.Models, trust: a.Trust, zone: a.Zone}
	w.Imports = newImports(w)
	w.renewals = &trustWatch{trust: a.Trust, vault: a.Vault, journal: j, log: a.Log, renew: make(chan struct{}, 1)}
	if w.desk, err = newDesk(w); err != nil {
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
		Events: events, Recogniser: a.recognition.recogniser(payerOf(w, run)), Passwords: func(ingestion.Job) []string { return a.Passwords.All() },
		Office: a.Workers.importOffice(),
	}
	if w.holding {
		im.Endless = func(head []byte) bool { return !disk.ShowsEnd(head) }
	}
	return im
}

// resume continues the runs that an earlier process left. Only serve does: a command that does one thing would begin them
// and leave them again.
func (w *Process) resume(ctx context.Context) error {
	resumed, err := w.Exec.Resume(ctx)
	if resumed > 0 {
		w.Log.Info("interrupted runs taken up again", "count", resumed)
	}
	return err
}

// Run lets the executor work while fn does, and stops it afterwards.
func (w *Process) Run(ctx context.Context, fn func(ctx context.Context) error) error {
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Exec.Run(inner) }()
	err := fn(inner)
	cancel()
	return errors.Join(err, <-done)
}

// Close releases the state directory and the vault.
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
