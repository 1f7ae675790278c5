package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// startRun asks the executor for a run of a workflow by hand.
func (w *Process) StartRun(ctx context.Context, o RunOrder) (string, error) {
	plan, err := w.Workflows.Named(o.Workflow)
	if err != nil {
		return "", err
	}
	if err := KnownSteps(plan, o.Steps); err != nil {
		return "", err
	}
	if o.Model != "" {
		_, _, waits := w.Settings.Withheld(o.Model) // which mayRun says
		if _, err := w.Models.Model(ctx, o.Model); err != nil && !waits {
			return "", err
		}
		setModel(plan, o.Model)
	}
	if err := w.Trust.mayRun(plan); err != nil {
		return "", err
	}
	plan.Fresh = o.Fresh
	data, err := json.Marshal(plan)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	started, err := w.Exec.Start(ctx, engine.Request{
		Kind: engine.KindWorkflow, Subject: plan.Name, Trigger: engine.Trigger{Kind: engine.TriggerManual},
		At: time.Now().In(plan.Meta.Location(w.Zone)), Timeout: plan.Meta.Timeout, Plan: data, Steps: o.Steps, Vars: o.Vars,
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

// retry takes up a run again, if its workflow may run as it was then.
func (w *Process) Retry(ctx context.Context, id string, from engine.RetryFrom) error {
	r, err := w.Journal.Runs.Run(ctx, id)
	if err != nil {
		return err
	}
	if r.Kind == engine.KindWorkflow {
		if pinned, err := w.pinned(ctx, r); err == nil { // a run without a plan is refused by the executor
			if err := w.Trust.mayRun(pinned); err != nil {
				return err
			}
		}
	}
	return w.Exec.Retry(ctx, id, from)
}

// pinned is the plan that a run was started with.
func (w *Process) pinned(ctx context.Context, r engine.RunRecord) (*workflow.Plan, error) {
	data, err := w.Journal.Blobs.Get(ctx, r.Plan)
	if err != nil {
		return nil, err
	}
	return engine.ReadPlan(data)
}

// startUndo asks the executor for the undo of a run.
func (w *Process) StartUndo(ctx context.Context, id string) (string, error) {
	run, err := w.Journal.Runs.Run(ctx, id)
	if err != nil {
		return "", err
	}
	if refused := engine.CheckUndo(run); refused != nil {
		return "", refused
	}
	started, err := w.Exec.Start(ctx, engine.UndoRequest(run))
	return started.Run, err
}

// unpause ends a pause, and says why there was one.
func (w *Process) Unpause(ctx context.Context, name string) (was string, err error) {
	if was, err = trigger.Paused(ctx, w.Journal.Runs, name); err != nil || was == "" {
		return "", err
	}
	return was, w.Journal.Runs.Unpause(ctx, name, time.Now())
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
		return usagef("%s has no step %q; there are: %s", plan.Name, name, strings.Join(known, ", "))
	}
	return nil
}

// PreviewUndo returns what an undo of a run would do.
func (a *Workspace) PreviewUndo(ctx context.Context, id string) (preview engine.UndoPreview, err error) {
	err = a.Reading(ctx, func(j *journal.Journal) error {
		flow, err := a.Flow(storesOf(j))
		if err == nil {
			preview, err = flow.PreviewUndo(ctx, id)
		}
		return err
	})
	return preview, err
}
