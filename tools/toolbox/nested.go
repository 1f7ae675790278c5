package toolbox

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

// Runs starts other workflows of the vault for a model.
type Runs interface {
	// Plan returns the workflow with this name if it may start now. The error explains to the model why not.
	Plan(ctx context.Context, name string) (*workflow.Plan, error)
	// Asked returns the run with a key, and Run the one with an id, or engine.ErrNotFound.
	Asked(ctx context.Context, key string) (engine.RunRecord, error)
	Run(ctx context.Context, id string) (engine.RunRecord, error)
	// Start and Wait are those of the engine.Executor that runs the call.
	Start(ctx context.Context, r engine.Request) (engine.Started, error)
	Wait(ctx context.Context, run string) (engine.RunRecord, error)
}

// maxRunLevels is how many runs may wait for each other: a run, its child and its grandchild.
const maxRunLevels = 3

// nested runs other workflows for the calls of a turn.
type nested struct{ t *turn }

// run starts a workflow for the current call, and waits. The call is the key of the run, so a call repeated after a crash finds its
// run, even if the workflow's file has changed. A refused call has no run and is checked again; one whose lane was busy has a
// skipped run and stays refused.
//
// An error is for the model. Errors of the journal and the executor go to turn.broken.
func (n nested) run(ctx context.Context, call tools.WorkflowCall) (tools.WorkflowEnd, error) {
	key := fmt.Sprintf("tool:%s/%d/%d/%s", n.t.in.Run, n.t.in.Index, n.t.in.Batch, n.t.call)
	run, err := n.t.box.Runs.Asked(ctx, key)
	id := run.ID
	if errors.Is(err, engine.ErrNotFound) {
		id, err = n.start(ctx, key, call)
		if refused, ok := errors.AsType[refusal](err); ok {
			return tools.WorkflowEnd{}, refused
		}
	}
	if err == nil {
		_, err = n.t.box.Runs.Wait(ctx, id)
	}
	if err == nil {
		run, err = n.t.box.Runs.Run(ctx, id) // with its batches
	}
	if err != nil {
		return tools.WorkflowEnd{}, n.fails(err)
	}
	if run.Status == engine.Skipped && run.Started.IsZero() {
		return tools.WorkflowEnd{}, fmt.Errorf("it is running now: %s. Continue without it, or call again later", run.Reason)
	}
	end, err := n.ended(ctx, run)
	if err != nil {
		return end, n.fails(err)
	}
	n.t.nestedUSD += costOf(run)
	n.t.nestedFiles = append(n.t.nestedFiles, end.Files...)
	return end, nil
}

// refusal is why a workflow is not started, for the model.
type refusal struct{ error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// fails keeps an error that the model cannot handle.
func (n nested) fails(err error) error {
	n.t.broken = err
	if !engine.Stopped(err) {
		n.t.broken = failure.New(failure.State, "start vaultflow serve, which resumes interrupted runs, and retry the run", "run_workflow: %v", err)
	}
	return errors.New("the run cannot be followed")
}

// start starts the run if it is allowed.
func (n nested) start(ctx context.Context, key string, call tools.WorkflowCall) (string, error) {
	plan, err := n.t.box.Runs.Plan(ctx, call.Workflow)
	if err != nil {
		return "", refusal{err}
	}
	if err := n.may(ctx, plan.Name); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(call.Variables)) {
		if !directives.IsVariableName(name) {
			return "", refuse("%.80q is not a valid variable name: a letter, then letters, digits, _ and -", name)
		}
	}
	files, err := n.files(plan, call.Files)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(plan)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	started, err := n.t.box.Runs.Start(ctx, engine.Request{
		Key: key, Kind: engine.KindWorkflow, Subject: plan.Name, Trigger: engine.Trigger{Kind: engine.TriggerTool, Parent: n.t.in.Run, Step: n.t.in.Index, Files: files},
		At: n.t.in.At, Timeout: plan.Meta.Timeout, Plan: data, Vars: call.Variables, Origins: n.t.in.Origins,
	})
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return "", refusal{f}
	}
	if err == nil && started.Status != engine.Skipped {
		engine.Report(ctx, engine.Event{
			Kind: engine.EventInfo, Step: n.t.in.Step, Batch: n.t.in.Batch, Name: started.Run, Message: fmt.Sprintf("started run %s of %s", started.Run, plan.Name),
		})
	}
	return started.Run, err
}

// files checks the files that a run is to be about. The calling workflow must be allowed to read them.
func (n nested) files(plan *workflow.Plan, names []string) ([]string, error) {
	var files []string
	for _, written := range names {
		name, err := n.t.paths().File(written)
		if err != nil {
			return nil, refusal{err}
		}
		if !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	switch {
	case len(files) == 0 && plan.NeedsFile(nil):
		return nil, refuse("it works on a file: name it in \"files\"")
	case plan.FileFault(nil, min(len(files), 1)) != "":
		return nil, refuse("it does not read the file that starts it: call it without \"files\"")
	case plan.FileFault(nil, len(files)) != "":
		return nil, refuse("it works on one file: call it once for each")
	}
	return files, nil
}

// may refuses a workflow that already waits for this run, and too long a chain of waiting runs.
func (n nested) may(ctx context.Context, name string) error {
	var waiting []string
	for id := n.t.in.Run; id != ""; {
		run, err := n.t.box.Runs.Run(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			break // a retried run whose parent was swept
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
		return refuse("it already waits for this call (%s)", chain)
	case len(waiting) >= maxRunLevels:
		return refuse("at most %d runs may wait for each other (%s)", maxRunLevels, chain)
	}
	return nil
}

// ended returns the outcome of a run for the model.
func (n nested) ended(ctx context.Context, run engine.RunRecord) (tools.WorkflowEnd, error) {
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
		for _, l := range s.LeftOut {
			n.t.omissions = append(n.t.omissions, l.In(run.Workflow))
		}
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
	data, err := n.t.box.stored.Blobs.Get(ctx, answer)
	end.Answer = string(data)
	return end, err
}

// costOf returns the cost of a run and all it started, in US dollars.
func costOf(run engine.RunRecord) float64 {
	cost := run.Usage.CostUSD
	for _, s := range run.Steps {
		cost += s.NestedUSD
	}
	return cost
}
