package daemon

import (
	"context"
	"log/slog"
	"path"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/workflow"
)

// firing decides which workflows fire by themselves, and which files fire none.
type firing struct {
	settings  *settings.Settings
	workflows *Workflows
	trust     *consent.Trust
	log       *slog.Logger

	mu   sync.Mutex
	told map[string]bool // what was logged and is not logged again. Guarded by mu
}

func newTriggers(w *Process) *trigger.Triggers {
	f := &firing{settings: w.Workspace.Settings, workflows: w.Workspace.Workflows, trust: w.Workspace.Trust, log: w.Workspace.Log, told: map[string]bool{}}
	return trigger.New(trigger.Config{
		Plans: f.plans, Starter: w.Exec, Slots: w.Journal.Slots, Watches: w.Journal.Watches, History: w.Journal.Runs,
		Writers: w.Journal.Memory, Imports: w.Journal.Imports,
		Busy:      func(workflow string) bool { return w.Exec.Busy(engine.KindWorkflow, workflow) },
		Importing: func() bool { return w.Exec.Busy(engine.KindImport, "") },

		Files: w.Workspace.Vault, FS: w.Workspace.Vault.FS(), Ours: f.ours, Location: w.Workspace.Zone, Debounce: w.Workspace.Settings.Watch.Debounce.Std(), Logger: w.Workspace.Log,
	})
}

// ours reports whether vaultflow writes a note itself. Such a note fires nothing.
func (f *firing) ours(name string) bool {
	return vault.Within(strings.ToLower(name), strings.ToLower(path.Join(f.settings.Vault.WorkflowsDir, step.ApprovalsDir))) || strings.EqualFold(name, f.settings.Engine.StatusNote)
}

// plans are the workflows that may run now. Their mistakes and warnings are logged, each once.
func (f *firing) plans() []*workflow.Plan {
	all, err := f.workflows.All()
	if err != nil {
		f.log.Error("workflows not listed", "err", err)
		return nil
	}
	var plans []*workflow.Plan
	now := f.trust.Now()
	for _, loaded := range all {
		f.tellMistakes(loaded)
		if !loaded.Valid() {
			continue
		}
		plan := loaded.Plan
		if why := f.trust.Waits(now, plan); why != "" {
			f.tellWaiting(plan, why)
			plan = off(plan)
		}
		plans = append(plans, plan)
	}
	return plans
}

// tellMistakes logs what is wrong with a workflow that fires by itself, and what will surprise, when that is new. Lines above it
// may change.
func (f *firing) tellMistakes(loaded workflow.Loaded) {
	for _, d := range loaded.Diagnostics {
		what, level := "workflow has a mistake and cannot run", slog.LevelError
		switch {
		case d.Severity == diag.SeverityNote:
			continue
		case d.Code == directives.CodeWatchLoop:
			what, level = "workflows can start each other in a circle", slog.LevelWarn
		case d.Severity == diag.SeverityWarning && !(loaded.Plan.Meta.Enabled && loaded.Plan.Meta.Triggered()):
			continue
		case d.Severity == diag.SeverityWarning:
			what, level = "workflow has a warning", slog.LevelWarn
		}
		if f.isNews(d.File + " " + d.Code + " " + d.Message) {
			f.log.Log(context.Background(), level, what, "workflow", loaded.Plan.Name, "name", d.File, "line", d.Line, "code", d.Code, "reason", d.Message, "fix", d.Suggestion)
		}
	}
}

// tellWaiting logs that a workflow does not fire before a person allows it, when that is new.
func (f *firing) tellWaiting(p *workflow.Plan, why string) {
	if p.Meta.Enabled && p.Meta.Triggered() && f.isNews("waits "+p.Name+" "+why) {
		f.log.Warn("workflow does not run by itself", "workflow", p.Name, "reason", why, "fix", "vaultflow trust")
	}
}

// isNews reports whether a text was not logged yet.
func (f *firing) isNews(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[text] {
		return false
	}
	f.told[text] = true
	return true
}

// followChanges passes changed notes on: to the book of origins, to approvals, to the triggers.
func followChanges(ctx context.Context, w *Process, watcher *disk.Watcher, triggers *trigger.Triggers) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-watcher.Changes():
			w.followOrigin(ctx, c)
			if w.desk.Changed(c.Name) { // a box may have been ticked
				continue
			}
			if vault.Within(c.Name, w.Workspace.Settings.Vault.WorkflowsDir) || c.Name == "settings.yaml" {
				triggers.Reload()
			}
			triggers.Changed(ctx, c)
		}
	}
}

// followEnded makes the triggers look again when an import has ended, or a run that others may have waited for.
func followEnded(ctx context.Context, w *Process, triggers *trigger.Triggers) error {
	events, stop := w.Exec.Subscribe(0)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-events:
			if !open {
				return nil
			}
			if e.Kind == engine.EventLost || e.Kind == engine.EventRun && e.Status.Finished() || e.Kind == engine.EventImport && e.State.Finished() {
				triggers.Reload()
			}
		}
	}
}

// off returns a workflow whose triggers do not fire.
func off(p *workflow.Plan) *workflow.Plan {
	quiet := *p
	quiet.Meta.Enabled = false
	return &quiet
}
