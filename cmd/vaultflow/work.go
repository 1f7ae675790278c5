package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/web/session"
	"github.com/vaultflow/vaultflow/workflow"
)

// grace is how long activities may take to end when this process does, which is to be gone within 5 s.
const grace = 4 * time.Second

// working is an app that may run things: it holds the state directory's lock.
type working struct {
	*app
	journal *journal.Journal
	exec    *local.Executor
	desk    *approval.Desk
	url     string          // of the dashboard, when one is served
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
func (a *app) work(ctx context.Context) (*working, error) {
	if err := a.trust.store.Begin(); err != nil { // before there is a journal that could be taken for an earlier version's
		return nil, err
	}
	j, err := journal.Open(ctx, a.stateDir)
	if err != nil {
		return nil, err
	}
	release, err := a.vault.Lock()
	if err != nil {
		return nil, errors.Join(lockedElsewhere(err), j.Close())
	}
	if n, err := a.vault.Sweep(); err != nil || n > 0 {
		a.log.Info("temporary files of a killed process removed", "count", n, "err", err)
	}
	sandbox.Office{Dir: a.officeDir()}.Sweep()
	w := &working{app: a, journal: j, claimed: map[string]string{}, told: map[string]bool{}, release: release, renew: make(chan struct{}, 1)}
	flow, err := a.flow(storesOf(j))
	if err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	flow.Models, flow.Cache, flow.Received = modelset.Probing{Set: a.models}, j.Answers, j.Answers
	a.giveWeb(flow)
	w.giveOutside(flow)
	flow.Runs, w.budget = nested{w}, flow.Budget
	importer := func(run string, events func(ingestion.Event)) step.Importer { return w.importer(run, events) }
	imports := &step.Imports{FS: a.vault.FS(), Importer: importer, Imported: j.Imports, Blobs: j.Blobs, Origin: flow.Origin}
	activities := flow.Activities()
	maps.Copy(activities, imports.Activities())
	w.exec = local.New(local.Config{
		Journal: j.Executor(), Activities: activities, MaxRuns: a.settings.Engine.MaxParallelRuns,
		Timeout: a.settings.Engine.RunTimeout.Std(), Location: a.zone, Logger: a.log, Renew: a.renew,
		Grace: grace,
	})
	if w.desk, err = w.newDesk(); err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	return w, nil
}

// importer makes an importer over the vault and the sandbox, for a run.
func (w *working) importer(run string, events func(ingestion.Event)) *ingestion.Importer {
	a := w.app
	files := a.writing(policy.ByImport)
	im := &ingestion.Importer{
		FS: a.vault.FS(), Files: files, Stager: files, Worker: sessions{a}, SafeName: vault.SafeName, Now: time.Now,
		Tool: "vaultflow " + version, MoveFolder: files.Move, Remove: files.Remove, Tidy: files.RemoveEmptyFolders, Takes: a.vault.Takes, Writing: a.vault.Writing,
		Events: events, Recogniser: a.services.recogniser(a, w.payer(run)), Passwords: func(ingestion.Job) []string { return a.passwords() },
		Office: a.importOffice(),
	}
	if w.held != nil {
		im.Hold = files
	}
	return im
}

// sessions start workers on files of the vault: a worker gets an open descriptor and no name.
type sessions struct{ a *app }

// Start implements ingestion.Worker.
func (s sessions) Start(ctx context.Context, name string, o extract.Open) (ingestion.Session, extract.Document, error) {
	f, err := s.a.vault.OpenFile(name)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer f.Close() // the worker has a descriptor of its own
	return s.on(ctx, f, o)
}

// StartFile implements ingestion.Worker: files of bundles are files of the system.
func (s sessions) StartFile(ctx context.Context, file fs.File, o extract.Open) (ingestion.Session, extract.Document, error) {
	f, ok := file.(*os.File)
	if !ok {
		return nil, extract.Document{}, fmt.Errorf("open a %T for the worker: %w", file, errors.ErrUnsupported)
	}
	return s.on(ctx, f, o)
}

func (s sessions) on(ctx context.Context, f *os.File, o extract.Open) (ingestion.Session, extract.Document, error) {
	session, document, err := s.a.startWorker(ctx, f, o)
	if err != nil {
		return nil, document, err
	}
	return session, document, nil
}

// sandbox is how workers are started.
func (a *app) sandbox() sandbox.Config {
	in := a.settings.Ingestion
	return sandbox.Config{
		Worker: a.workerPath(), Tessdata: in.Tessdata, PageTimeout: in.PageTimeout.Std(), OpenTimeout: in.OpenTimeout.Std(),
		MemoryBytes: int64(in.Memory), RequireConfinement: in.RequireConfinement, Logger: a.log, Cache: a.workerCache(),
	}
}

// workerPath is the worker's binary: the setting, else the one beside this binary, else the one that PATH finds.
func (a *app) workerPath() string {
	if path := a.settings.Ingestion.Worker; path != "" {
		return path
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), "vaultflow-worker")
			if _, err := os.Stat(beside); err == nil {
				return beside
			}
		}
	}
	return "vaultflow-worker"
}

// resume takes up the runs that an earlier process left. Only serve does: a command that does one thing would begin them
// and leave them again.
func (w *working) resume(ctx context.Context) error {
	resumed, err := w.exec.Resume(ctx)
	if resumed > 0 {
		w.log.Info("interrupted runs taken up again", "count", resumed)
	}
	return err
}

// run lets the executor work while fn does, and stops it afterwards.
func (w *working) run(ctx context.Context, fn func(ctx context.Context) error) error {
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.exec.Run(inner) }()
	err := fn(inner)
	cancel()
	return errors.Join(err, <-done)
}

// close gives the state directory free.
func (w *working) close() {
	w.servers.Close()
	if err := w.fetched.close(); err != nil {
		w.log.Warn("store of artifacts not closed", "err", err)
	}
	if err := errors.Join(w.journal.Close(), w.release()); err != nil {
		w.log.Warn("journal not closed", "err", err)
	}
}

// startRun asks the executor for a run of a workflow by hand.
func (w *working) startRun(ctx context.Context, o runOrder) (string, error) {
	plan, err := w.workflow(o.Workflow)
	if err != nil {
		return "", err
	}
	if err := knownSteps(plan, o.Steps); err != nil {
		return "", err
	}
	if o.Model != "" {
		_, _, waits := w.settings.Withheld(o.Model) // which mayRun says
		if _, err := w.models.Model(ctx, o.Model); err != nil && !waits {
			return "", err
		}
		setModel(plan, o.Model)
	}
	if err := w.trust.mayRun(plan); err != nil {
		return "", err
	}
	plan.Fresh = o.Fresh
	data, err := json.Marshal(plan)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	started, err := w.exec.Start(ctx, engine.Request{
		Kind: engine.KindWorkflow, Subject: plan.Name, Trigger: engine.Trigger{Kind: engine.TriggerManual},
		At: time.Now().In(plan.Meta.Location(w.zone)), Timeout: plan.Meta.Timeout, Plan: data, Steps: o.Steps, Vars: o.Vars,
	})
	return started.Run, err
}

// setModel makes all steps that call a model call another.
func setModel(plan *workflow.Plan, alias string) {
	plan.Meta.Model = alias
	for i, step := range plan.Steps {
		if step.Model != nil && !step.Model.None {
			plan.Steps[i].Model = nil
		}
	}
}

// shortHash is the beginning of a text's digest, for names.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
