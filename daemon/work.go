package daemon

import (
	"context"
	"errors"
	"maps"
	"path"
	"time"

	"github.com/vaultflow/vaultflow/daemon/artifacts"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/daemon/reload"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/imports"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/tools/toolbox"
)

// grace is how long activities may take to end when this process does, which is to be gone within 5 s.
const grace = 4 * time.Second

// Process is a workspace that can run things: it holds the locks of the state directory and of the vault.
type Process struct {
	Workspace *Workspace
	Journal   *journal.Journal
	Exec      *local.Executor
	Runs      *Runs
	Imports   *intake.Imports

	desk      *approval.Desk
	origins   *origin.Book
	importers intake.Importers
	artifacts *artifacts.Artifacts
	servers   *mcp.Hub
	changes   *reload.Watch // of the settings and the trust; used by serve
	release   func() error  // the vault's lock
}

// work implements [Workspace.Work]. With holding, imported files may stay in the import folder for a while; only serve can
// look after them.
func work(ctx context.Context, a *Workspace, holding bool, locked ...func() error) (*Process, error) {
	if err := statedir.Usable(a.State); err != nil {
		return nil, err
	}
	release := func() error { return nil }
	j, err := journal.Open(ctx, a.StateDir, append(locked, a.Trust.Begin, func() (err error) {
		if release, err = a.Vault.Lock(); err != nil {
			release = func() error { return nil }
			return statedir.InUse(err)
		}
		a.State, err = statedir.Settle(ctx, a.State, a.options.StateDir, a.Trust.Untrusted(), a.Writing(policy.ByIdentity), a.Log)
		return err
	})...)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	statedir.Recover(ctx, a.State, j, a.Vault.FS(), a.Book(j.Origins), a.Log)
	if n, err := a.Vault.Sweep(); err != nil || n > 0 {
		a.Log.Info("temporary files of a killed process removed", "count", n, "err", err)
	}
	a.Workers.Sweep()
	w, err := wire(a, j, holding, release)
	if err != nil {
		return nil, errors.Join(err, j.Close(), release())
	}
	return w, nil
}

// wire makes a process over an open journal.
func wire(a *Workspace, j *journal.Journal, holding bool, release func() error) (*Process, error) {
	s := a.Settings
	secret, err := state.Secret(a.StateDir)
	if err != nil {
		return nil, err
	}
	kept := storesOf(j)
	kept.Nonce = prompt.Keyed(secret)
	d, err := a.deps(kept, modelset.Probing{Set: a.Models}, remote.New(a.outside.pictures()))
	if err != nil {
		return nil, err
	}
	importers := intake.Importers{
		Settings: s, Vault: a.Vault, Files: a.Writing(policy.ByImport), Workers: a.Workers, Trust: a.Trust, Passwords: a.Passwords,
		Recognition: intake.NewRecognition(s, a.Models, a.Trust, a.Log), Ledger: j.Spending, Budget: d.Budget, Zone: a.Zone, Moved: d.Plans.Moved,
		Version: a.options.Version, Holding: holding, Journal: j, Log: a.Log,
	}
	fetched := artifacts.New(a.StateDir, func(id string) bool {
		r, err := j.Runs.Run(context.Background(), id)
		return err != nil || !r.Status.Finished()
	}, a.Log)
	servers := a.servers(d.Foreign().Keep)

	// A model may start runs, so the activities need the executor that carries them out.
	var exec *local.Executor
	f := newFlow(d, j.Undo, toolbox.Config{
		AutoBuffer: s.Engine.AutoBufferTokens, Outside: a.reach(fetched, servers), Log: a.Log,
		Runs: nested{workflows: a.Workflows, trust: a.Trust, journal: j, zone: a.Zone, exec: func() *local.Executor { return exec }},
	})
	im := &imports.Imports{
		FS: a.Vault.FS(), Imported: j.Imports, Blobs: j.Blobs, Origin: d.Origin,
		Importer: func(run string, events func(ingestion.Event)) imports.Importer { return importers.For(run, events) },
	}
	activities := f.activities()
	maps.Copy(activities, im.Activities())
	changes := reload.New(reload.Config{
		Trust: a.Trust, Input: a.input, Unusable: a.options.unusable, Log: a.Log,
		There: func() error { return errors.Join(a.Vault.There(), j.There()) }, Working: func() []string { return exec.Drain.Working() },
	})
	var outdated func() bool // a command ends before its settings change
	if holding {
		outdated = changes.Changed
	}
	exec = local.New(local.Config{
		Journal: j.Executor(), Activities: activities, MaxRuns: s.Engine.MaxParallelRuns, Turns: a.shared.runs.Line(), Timeout: s.Engine.RunTimeout.Std(),
		Location: a.Zone, Logger: a.Log, Renew: a.rules.Renew, Grace: grace, Lacks: a.rules.Lacks, Outdated: outdated,
	})
	documents := a.options.Web.Documents
	if documents == nil {
		documents = remote.New(a.outside.documents())
	}
	taken := intake.New(intake.Config{
		Settings: s, Vault: a.Vault, Files: a.Writing(policy.ByDrop), Trust: a.Trust, Rules: a.rules, Web: documents,
		Artifacts: fetched, Journal: j, Exec: exec, Zone: a.Zone,
	})
	return &Process{
		Workspace: a, Journal: j, Exec: exec, importers: importers, artifacts: fetched, servers: servers, release: release,
		Runs:    &Runs{settings: s, journal: j, exec: exec, workflows: a.Workflows, imports: taken, models: a.Models, trust: a.Trust, zone: a.Zone},
		Imports: taken,
		desk: approval.New(approval.Config{
			Keys: approval.NewKeys(secret), Proposals: j.Approvals, Blobs: j.Blobs, Files: a.Writing(policy.ByApprovals),
			Wake: exec.Wake, Subscribe: exec.Subscribe, Dir: path.Join(s.Vault.WorkflowsDir, step.ApprovalsDir), Zone: a.Zone, Logger: a.Log,
		}),
		origins: a.Book(j.Origins), changes: changes,
	}, nil
}

// resume continues the runs that an earlier process left. Only serve does: a command that does one thing would start them and
// leave them again.
func (w *Process) resume(ctx context.Context) error {
	resumed, err := w.Exec.Resume(ctx)
	if resumed > 0 {
		w.Workspace.Log.Info("interrupted runs resumed", "count", resumed)
	}
	return err
}

// Run lets the executor work while fn runs, and stops it afterwards.
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
	if err := errors.Join(w.artifacts.Close(), w.Journal.Close(), w.release()); err != nil {
		w.Workspace.Log.Warn("artifacts or journal not closed", "err", err)
	}
}

// Decide carries out what the user decided with a command.
func (w *Process) Decide(ctx context.Context, o control.ApproveOrder) error {
	d := engine.Decision{Run: o.Run, Items: o.Items, Approve: !o.Reject, By: engine.DecidedCommand, Reason: o.Reason}
	if o.Edited != nil {
		var err error
		if d.Edited, err = w.Journal.Blobs.Put(ctx, *o.Edited); err != nil {
			return err
		}
	}
	return w.desk.Decide(ctx, d)
}
