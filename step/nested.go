package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/workflow"
)

// Runs let a model run other workflows of the vault.
type Runs interface {
	// Plan gives a workflow that may be started now, by its name. The error is for the model: why there is none.
	Plan(ctx context.Context, name string) (*workflow.Plan, error)
	// Asked gives the run that was asked for under a key, and Run the one with an id; engine.ErrNotFound when there is none.
	Asked(ctx context.Context, key string) (engine.RunRecord, error)
	Run(ctx context.Context, id string) (engine.RunRecord, error)
	// Start and Wait are those of the engine.Executor at whose work the call is.
	Start(ctx context.Context, r engine.Request) (engine.Started, error)
	Wait(ctx context.Context, run string) (engine.RunRecord, error)
}

// maxRunLevels is how many runs may wait for each other: a run, one that it started, and one that this started.
const maxRunLevels = 3

// runner is run_workflow for the call at work.
func (b *toolbox) runner() *tools.WorkflowRunner { return &tools.WorkflowRunner{Start: b.runWorkflow} }

// runWorkflow runs a workflow for the call at work, and waits. The run's key is the call: when this process dies and the
// call is repeated, it finds the run that it asked for, whatever has become of the workflow's file since. A call that was
// refused has left no run and is looked at anew; one whose lane was busy has left a skipped run and stays refused.
//
// An error is for the model. What is wrong with the journal or the executor is kept in b.broken.
func (b *toolbox) runWorkflow(ctx context.Context, call tools.WorkflowCall) (tools.WorkflowEnd, error) {
	key := fmt.Sprintf("tool:%s/%d/%d/%s", b.in.Run, b.in.Index, b.in.Batch, b.call)
	run, err := b.w.Runs.Asked(ctx, key)
	id := run.ID
	if errors.Is(err, engine.ErrNotFound) {
		id, err = b.startNested(ctx, key, call)
		if refused, ok := errors.AsType[refusal](err); ok {
			return tools.WorkflowEnd{}, refused
		}
	}
	if err == nil {
		_, err = b.w.Runs.Wait(ctx, id)
	}
	if err == nil {
		run, err = b.w.Runs.Run(ctx, id) // with its batches
	}
	if err != nil {
		return tools.WorkflowEnd{}, b.fails(err)
	}
	if run.Status == engine.Skipped && run.Started.IsZero() {
		return tools.WorkflowEnd{}, fmt.Errorf("it is running now: %s. Go on without it, or call again later", run.Reason)
	}
	end, err := b.ended(ctx, run)
	if err != nil {
		return end, b.fails(err)
	}
	b.nestedUSD += costOf(run)
	b.nestedFiles = append(b.nestedFiles, end.Files...)
	return end, nil
}

// refusal is why a workflow is not run, for the model.
type refusal struct{ error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// fails keeps an error that no model can do anything about.
func (b *toolbox) fails(err error) error {
	b.broken = err
	if !engine.Stopped(err) {
		b.broken = failure.New(failure.State, "start vaultflow serve, which takes interrupted runs up, and try the run again", "run_workflow: %v", err)
	}
	return errors.New("the run cannot be followed")
}

// startNested asks for the run, unless it must not be.
func (b *toolbox) startNested(ctx context.Context, key string, call tools.WorkflowCall) (string, error) {
	plan, err := b.w.Runs.Plan(ctx, call.Workflow)
	if err != nil {
		return "", refusal{err}
	}
	if err := b.mayNest(ctx, plan.Name); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(call.Variables)) {
		if !directives.IsVariableName(name) {
			return "", refuse("%.80q is not a variable's name: a letter, then letters, digits, _ and -", name)
		}
	}
	data, err := json.Marshal(plan)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	started, err := b.w.Runs.Start(ctx, engine.Request{
		Key: key, Kind: engine.KindWorkflow, Subject: plan.Name, Trigger: engine.Trigger{Kind: engine.TriggerTool, Parent: b.in.Run, Step: b.in.Index},
		At: b.in.At, Timeout: plan.Meta.Timeout, Plan: data, Vars: call.Variables, Origins: b.in.Origins,
	})
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return "", refusal{f}
	}
	if err == nil && started.Status != engine.Skipped {
		engine.Report(ctx, engine.Event{
			Kind: engine.EventInfo, Step: b.in.Step, Batch: b.in.Batch, Name: started.Run, Message: fmt.Sprintf("started run %s of %s", started.Run, plan.Name),
		})
	}
	return started.Run, err
}

// mayNest refuses a workflow that is among the runs that would wait for it, and too many of them.
func (b *toolbox) mayNest(ctx context.Context, name string) error {
	var waiting []string
	for id := b.in.Run; id != ""; {
		run, err := b.w.Runs.Run(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			break // of a run that is tried again after its parent was forgotten
		}
		if err != nil {
			return err
		}
		waiting = append(waiting, run.Workflow)
		id = run.Trigger.Parent
	}
	slices.Reverse(waiting)
	chain := strings.Join(append(waiting, name), " > ")
	switch {
	case slices.ContainsFunc(waiting, func(w string) bool { return strings.EqualFold(w, name) }):
		return refuse("it waits for this call itself (%s)", chain)
	case len(waiting) >= maxRunLevels:
		return refuse("at most %d runs may wait for each other (%s)", maxRunLevels, chain)
	}
	return nil
}

// ended is what the model is told of a run's end.
func (b *toolbox) ended(ctx context.Context, run engine.RunRecord) (tools.WorkflowEnd, error) {
	end := tools.WorkflowEnd{
		Run: run.ID, Workflow: run.Workflow, Status: string(run.Status), Reason: run.Reason,
		Done: run.Status.Succeeded() || run.Status == engine.Skipped,
	}
	if f := run.Failure; f != nil {
		end.Code, end.Hint = string(f.Code), f.Hint
	}
	add := func(name string) {
		if !slices.Contains(end.Files, name) {
			end.Files = append(end.Files, name)
		}
	}
	for _, c := range run.Changes {
		if c.To != "" {
			add(c.To)
		} else {
			add(c.Name)
		}
	}
	for _, o := range run.Outputs {
		if o.Kind == "file" {
			add(o.Name)
		}
	}
	answer := ""
	for _, s := range run.Steps {
		end.Origins = policy.AddOrigins(end.Origins, s.Origins...)
		for _, w := range s.Works() {
			if w.Answer != "" && w.Status.Succeeded() {
				answer = w.Answer
			}
		}
	}
	if answer == "" || !end.Done {
		return end, nil
	}
	data, err := b.w.Blobs.Get(ctx, answer)
	end.Answer = string(data)
	return end, err
}

// costOf is what a run has cost with all that it started, in US dollars.
func costOf(run engine.RunRecord) float64 {
	cost := run.Usage.CostUSD
	for _, s := range run.Steps {
		cost += s.NestedUSD
	}
	return cost
}
