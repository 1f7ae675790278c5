package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// maxRestages is how often a step's outputs are staged again because somebody changed a target in between. Other runs do not
// count: each of them is done with its own text then, so that they are in a queue. maxRaces bounds that all the same.
const (
	maxRestages = 5
	maxRaces    = 1000
)

// RunWorkflow is the body of a workflow run: the chosen steps in order, until one fails. The order within a step is:
// @run_on, @when, the items of @for_each; then for the step, or for each batch: resolve the inputs, assemble the prompt,
// ask the model (with tools, and until the answer is valid), stage the outputs, commit them with their marks. With @approve,
// tool calls or the commit wait for approval.
func RunWorkflow(f Flow, p Pinned) Outcome {
	if bad := checkChosen(p); bad != nil {
		return failed(bad)
	}
	b := &body{flow: f, pinned: p, vars: slices.Clone(p.Vars)}
	var records []StepRecord
	stop := ""
	for i, s := range p.Steps {
		if len(p.Chosen) > 0 && !slices.Contains(p.Chosen, s.Name) {
			continue
		}
		r := StepRecord{Run: p.Run, Index: i, Step: s.Name}
		if stop != "" {
			r.Status, r.Reason = Skipped, stop
			b.say(r)
		} else if !b.step(s, &r) {
			return Outcome{Status: Running, Steps: records}
		}
		if r.Status.Incomplete() {
			stop = fmt.Sprintf("not run, because step %q ended as %s", s.Name, r.Status)
		}
		records = append(records, r)
	}
	return outcomeOf(records)
}

func checkChosen(p Pinned) *failure.Error {
	if len(p.Steps) == 0 {
		return failure.New(failure.InvalidWorkflow, "add a section: a level-2 heading with a prompt below it", "workflow %q has no steps", p.Workflow)
	}
	for _, c := range p.Chosen {
		if !slices.ContainsFunc(p.Steps, func(s PinnedStep) bool { return s.Name == c }) {
			return unknownStep(p.Workflow, c, p.Steps)
		}
	}
	return nil
}

// body is the state of one workflow run: nothing but what activities returned.
type body struct {
	flow    Flow
	pinned  Pinned
	vars    []Var // sorted by name
	written []foreignFile
	shown   shownOutputs
	spent   float64 // by the steps before and the runs that they started, in US dollars
}

func (b *body) say(r StepRecord) {
	b.flow.Note(Event{Kind: EventStep, Step: r.Step, Status: r.Status, Message: r.Reason, Failure: r.Failure, Record: &r})
}

// step runs one step and fills its record. It returns false when the executor stopped.
func (b *body) step(s PinnedStep, r *StepRecord) bool {
	r.Status = Running
	b.say(*r)
	if reason := notToday(b.pinned, s); reason != "" {
		r.Status, r.Reason = Skipped, reason
	} else if s.Subject && len(b.pinned.Trigger.Files) == 0 {
		r.Status, r.Reason = Skipped, "it is about the file that starts the run, and none did"
	} else if err := b.attempt(s, r); Stopped(err) {
		return false
	} else if err != nil {
		r.Failure = failure.Of(err)
		r.Status, r.Reason = failureStatus(r.Failure), r.Failure.Message
	} else if r.Status == Running {
		r.Status = doneAs(r.Omitted)
	}
	b.spent += r.Usage.CostUSD + r.NestedUSD
	b.say(*r)
	return true
}

// doneAs is the status of a work that wrote everything.
func doneAs(omitted []string) Status {
	if len(omitted) > 0 {
		return DoneWithOmissions
	}
	return Done
}

// notToday returns why @run_on keeps a step from running today, or "". It concerns unattended runs only.
func notToday(p Pinned, s PinnedStep) string {
	if p.Trigger.Attended() || !s.Limited || slices.Contains(s.Days, p.At.Weekday()) {
		return ""
	}
	if len(s.Days) == 0 {
		return "@run_on never"
	}
	return fmt.Sprintf("@run_on leaves out %s", strings.ToLower(p.At.Weekday().String()))
}

// attempt does what a step asks for: its conditions, then its work, or one work for each batch of its items.
func (b *body) attempt(s PinnedStep, r *StepRecord) error {
	ref := StepRef{Run: b.pinned.Run, Workflow: b.pinned.Workflow, Plan: b.pinned.Plan, Index: r.Index, Step: s.Name, At: b.pinned.At}
	if b.pinned.Body >= 5 {
		ref.Subject = b.pinned.Trigger.Files
		if b.pinned.Trigger.Kind == TriggerTool {
			ref.Chosen = b.pinned.Origins
		}
	}
	var when WhenOut
	if s.When {
		if err := b.flow.Do(ActivityWhen, StepIn{ref, b.vars}, &when); err != nil {
			return err
		}
		if when.Skip {
			r.Status, r.Reason = Skipped, when.Reason+" does not hold"
			return nil
		}
	}
	if s.ForEach != nil {
		return b.batches(s, ref, when.Marks, r)
	}
	w := b.work(b.flow, s, ref, 0)
	defer func() { r.take(w.rec) }()
	if err := w.prepare(); err != nil || w.rec.Status == Skipped {
		r.Status, r.Reason = w.rec.Status, w.rec.Reason
		return err
	}
	err := b.write(w, when.Marks)
	if len(w.rec.Rejected) > 0 || w.idle() {
		r.Status, r.Reason = w.rec.Status, w.rec.Reason
	}
	return err
}
