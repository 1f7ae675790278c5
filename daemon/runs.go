package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/workflow"
)

// Runs starts and ends runs for people.
type Runs struct {
	settings  *settings.Settings
	journal   *journal.Journal
	exec      *local.Executor
	workflows *Workflows
	imports   *intake.Imports
	models    *modelset.Set
	trust     *consent.Trust
	zone      *time.Location
}

// Start asks the executor for a run of a workflow by hand.
func (r *Runs) Start(ctx context.Context, o control.RunOrder) (string, error) {
	plan, err := r.workflows.Named(o.Workflow)
	if err != nil {
		return "", err
	}
	if err := KnownSteps(plan, o.Steps); err != nil {
		return "", err
	}
	files, err := r.workflows.Files(plan, o.Steps, o.Files)
	if err != nil {
		return "", err
	}
	if o.Model != "" {
		waits := len(r.settings.ModelWaits(o.Model)) > 0 // which mayRun says
		if _, err := r.models.Model(ctx, o.Model); err != nil && !waits {
			return "", err
		}
		UseModel(plan, o.Model)
	}
	if err := r.trust.MayRun(plan); err != nil {
		return "", err
	}
	plan.Fresh = o.Fresh
	data, err := json.Marshal(plan)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	started, err := r.exec.Start(ctx, engine.Request{
		Kind: engine.KindWorkflow, Subject: plan.Name, Trigger: engine.Trigger{Kind: engine.TriggerManual, Files: files},
		At: time.Now().In(plan.Meta.Location(r.zone)), Timeout: plan.Meta.Timeout, Plan: data, Steps: o.Steps, Vars: o.Vars,
	})
	return started.Run, err
}

// UseModel makes every step that calls a model call this one.
func UseModel(plan *workflow.Plan, alias string) {
	plan.Meta.Model = alias
	for i, step := range plan.Steps {
		if step.Model != nil && !step.Model.None {
			plan.Steps[i].Model = nil
		}
	}
}

// Retry resumes a failed run, if its workflow as it was then may run. It returns the run that does so: another one for an import
// whose file was replaced.
func (r *Runs) Retry(ctx context.Context, id string, from engine.RetryFrom) (string, error) {
	run, err := r.journal.Runs.Run(ctx, id)
	if err != nil {
		return "", err
	}
	if run.Kind == engine.KindImport {
		return r.imports.Retry(ctx, run, from)
	}
	if run.Kind == engine.KindWorkflow {
		if pinned, err := r.pinned(ctx, run); err == nil { // a run without a plan is refused by the executor
			if err := r.trust.MayRun(pinned); err != nil {
				return "", err
			}
		}
	}
	return id, r.exec.Retry(ctx, id, from)
}

// pinned is the plan that a run was started with.
func (r *Runs) pinned(ctx context.Context, run engine.RunRecord) (*workflow.Plan, error) {
	data, err := r.journal.Blobs.Get(ctx, run.Plan)
	if err != nil {
		return nil, err
	}
	return engine.ReadPlan(data)
}

// Undo asks the executor for the undo of a run.
func (r *Runs) Undo(ctx context.Context, id string) (string, error) {
	run, err := r.journal.Runs.Run(ctx, id)
	if err != nil {
		return "", err
	}
	if refused := engine.CheckUndo(run); refused != nil {
		return "", refused
	}
	started, err := r.exec.Start(ctx, engine.UndoRequest(run))
	return started.Run, err
}

// Unpause ends a pause and returns its reason, or "" if there was none.
func (r *Runs) Unpause(ctx context.Context, name string) (was string, err error) {
	if was, err = trigger.Paused(ctx, r.journal.Runs, name); err != nil || was == "" {
		return "", err
	}
	return was, r.journal.Runs.Unpause(ctx, name, time.Now())
}

// Dismiss removes a run from the failures of the overview.
func (r *Runs) Dismiss(ctx context.Context, id string) error {
	return r.journal.Runs.Dismiss(ctx, id, time.Now())
}

// KnownSteps refuses names of steps that the workflow has not.
func KnownSteps(plan *workflow.Plan, steps []string) error {
	for _, name := range steps {
		if _, ok := plan.Step(name); ok {
			continue
		}
		known := make([]string, len(plan.Steps))
		for i, s := range plan.Steps {
			known[i] = s.Name
		}
		return control.Usage.Errorf("%s has no step %q; there are: %s", plan.Name, name, strings.Join(known, ", "))
	}
	return nil
}

// PreviewUndo returns what an undo of a run would do.
func (a *Workspace) PreviewUndo(ctx context.Context, id string) (preview engine.UndoPreview, err error) {
	err = a.Reading(ctx, func(j *journal.Journal) error {
		u, err := a.takeBack(j)
		if err == nil {
			preview, err = u.Preview(ctx, id)
		}
		return err
	})
	return preview, err
}

// Cancel ends a run.
func (r *Runs) Cancel(ctx context.Context, id string) error { return r.exec.Cancel(ctx, id) }
