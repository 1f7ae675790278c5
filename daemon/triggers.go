package daemon

import (
	"context"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/workflow"
)

func (w *Process) newTriggers() *trigger.Triggers {
	return trigger.New(trigger.Config{
		Plans: w.plans, Starter: w.Exec, Slots: w.Journal.Slots, Watches: w.Journal.Watches, History: w.Journal.Runs,
		Writers: w.Journal.Memory, Imports: w.Journal.Imports, Busy: w.Exec.Busy,
		Files: w.Vault, Ours: w.ours, Location: w.Zone, Debounce: w.Settings.Watch.Debounce.Std(), Logger: w.Log,
	})
}

// ours says whether vaultflow keeps a note itself: such a one fires nothing.
func (w *Process) ours(name string) bool {
	return inside(strings.ToLower(name), strings.ToLower(path.Join(w.Settings.Vault.WorkflowsDir, step.ApprovalsDir))) || strings.EqualFold(name, w.Settings.Engine.StatusNote)
}

// plans are the workflows that may run now. Circles among them are logged, each once.
func (w *Process) plans() []*workflow.Plan {
	all, err := w.Workflows.All()
	if err != nil {
		w.Log.Error("workflows not listed", "err", err)
		return nil
	}
	var plans []*workflow.Plan
	now := w.Trust.Now()
	for _, loaded := range all {
		if !loaded.Valid() {
			continue
		}
		w.tellLoops(loaded)
		plan := loaded.Plan
		if why := w.Trust.waits(now, plan); why != "" {
			w.tellWaiting(plan, why)
			plan = off(plan)
		}
		plans = append(plans, plan)
	}
	return plans
}

// tellLoops logs that a workflow can start itself, when that is new.
func (w *Process) tellLoops(loaded workflow.Loaded) {
	for _, d := range loaded.Diagnostics {
		if d.Code == directives.CodeWatchLoop && w.isNews(d.String()) {
			w.Log.Warn("workflows can start each other in a circle", "workflow", loaded.Plan.Name, "name", d.File, "line", d.Line, "reason", d.Message, "fix", d.Suggestion)
		}
	}
}

// tellWaiting logs that a workflow does not fire before a person allows it, when that is new.
func (w *Process) tellWaiting(p *workflow.Plan, why string) {
	if p.Meta.Enabled && p.Meta.Triggered() && w.isNews("waits "+p.Name+" "+why) {
		w.Log.Warn("workflow does not run by itself", "workflow", p.Name, "reason", why, "fix", "vaultflow trust")
	}
}

// isNews says whether nobody was told of something yet.
func (w *Process) isNews(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[text] {
		return false
	}
	w.told[text] = true
	return true
}

// changes tells the triggers of changed notes.
func (w *Process) changes(ctx context.Context, watcher *disk.Watcher, triggers *trigger.Triggers) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-watcher.Changes():
			w.followOrigins(ctx, c)
			if w.desk.Changed(c.Name) { // a box may have been ticked
				continue
			}
			if inside(c.Name, w.Settings.Vault.WorkflowsDir) || c.Name == "settings.yaml" {
				triggers.Reload()
			}
			triggers.Changed(ctx, c)
		}
	}
}

// settled tells the triggers of finished imports, and of finished runs that may have kept others waiting.
func (w *Process) settled(ctx context.Context, triggers *trigger.Triggers) error {
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

// inside tells whether a name lies below a folder.
func inside(name, dir string) bool {
	return name == dir || len(name) > len(dir) && name[:len(dir)] == dir && name[len(dir)] == '/'
}
