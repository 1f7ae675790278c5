package engine

import (
	"fmt"
	"slices"
	"strings"
)

// maxRestages is how often a step's outputs are staged again because somebody changed a target in between.
const maxRestages = 5

// RunWorkflow is the body of a workflow run: the chosen steps in order, until one fails.
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
		if r.Status == Failed || r.Status == Cancelled {
			stop = fmt.Sprintf("not run, because step %q ended as %s", s.Name, r.Status)
		}
		records = append(records, r)
	}
	return outcomeOf(records)
}

func checkChosen(p Pinned) *Failure {
	if len(p.Steps) == 0 {
		return Fail(CodeInvalidWorkflow, "add a section: a level-2 heading with a prompt below it", "workflow %q has no steps", p.Workflow)
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
	flow   Flow
	pinned Pinned
	vars   []Var // sorted by name
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
	} else if err := b.work(s, r); Stopped(err) {
		return false
	} else if err != nil {
		r.Failure = FailureOf(err)
		r.Status, r.Reason = failureStatus(r.Failure), r.Failure.Message
	} else if r.Status == Running {
		r.Status = Done
		if len(r.Omitted) > 0 {
			r.Status = DoneWithOmissions
		}
	}
	b.say(*r)
	return true
}

// notToday says why @run_on keeps a step from running, and nothing when it does not. It concerns unattended runs only.
func notToday(p Pinned, s PinnedStep) string {
	if p.Trigger.Attended() || !s.Limited || slices.Contains(s.Days, p.At.Weekday()) {
		return ""
	}
	if len(s.Days) == 0 {
		return "@run_on never"
	}
	return fmt.Sprintf("@run_on leaves out %s", strings.ToLower(p.At.Weekday().String()))
}

// work is the order of a step: resolve, assemble, generate, stage, commit.
func (b *body) work(s PinnedStep, r *StepRecord) error {
	ref := StepRef{Run: b.pinned.Run, Workflow: b.pinned.Workflow, Plan: b.pinned.Plan, Index: r.Index, Step: s.Name, At: b.pinned.At}
	var found ResolveOut
	if err := b.flow.Do(ActivityResolve, ResolveIn{ref, b.vars, b.pinned.Trigger}, &found); err != nil {
		return err
	}
	r.Inputs, r.Warnings = inputNames(found.Inputs), append(r.Warnings, found.Warnings...)
	if len(found.Missing) > 0 {
		r.Status, r.Reason = Skipped, "required input not found: "+strings.Join(found.Missing, ", ")
		return nil
	}
	var prompt AssembleOut
	if err := b.flow.Do(ActivityAssemble, AssembleIn{ref, found.Inputs, b.vars}, &prompt); err != nil {
		return err
	}
	r.Prompt, r.Receipt, r.Model = prompt.Prompt, prompt.Receipt, prompt.Model
	r.Warnings, r.Omitted = append(r.Warnings, prompt.Warnings...), append(r.Omitted, prompt.Omitted...)
	answer, err := b.answer(s, ref, prompt, r)
	if err != nil || r.Status == Skipped {
		return err
	}
	return b.write(s, ref, answer, found.Inputs, r)
}

// answer gives the digest of the text that the outputs get.
func (b *body) answer(s PinnedStep, ref StepRef, prompt AssembleOut, r *StepRecord) (string, error) {
	if s.NoModel {
		if prompt.Text == "" && s.Outputs > 0 {
			r.Status, r.Reason = Skipped, "the inputs hold no text"
		}
		return prompt.Text, nil
	}
	var got GenerateOut
	if err := b.flow.Do(ActivityGenerate, GenerateIn{StepRef: ref, Prompt: prompt.Prompt, Model: prompt.Model}, &got); err != nil {
		return "", err
	}
	r.Answer, r.Raw, r.Usage, r.Answered = got.Answer, got.Raw, got.Usage, got.Model
	r.Warnings, r.Omitted = append(r.Warnings, got.Warnings...), append(r.Omitted, got.Omitted...)
	return got.Answer, honest(got)
}

// honest says what is wrong with an answer that must not be written.
func honest(got GenerateOut) error {
	switch {
	case got.Stop == StopRefusal:
		return Fail(CodeRefusal, "read the answer in the run's record; change the prompt or choose another model", "the model refused to answer")
	case got.Stop == StopLength:
		return Fail(CodeCutOff, "raise max_output_tokens, or ask for less in one step", "the answer was cut off at its length limit")
	case got.Stop != StopEnd:
		return Fail(CodeIncomplete, "read the answer in the run's record", "the answer stopped before its end (%s)", got.Stop)
	case got.Empty || got.Answer == "":
		return Fail(CodeEmptyAnswer, "run the step again, or choose another model", "the model answered nothing")
	}
	return nil
}

func inputNames(inputs []ResolvedInput) []string {
	var names []string
	for _, in := range inputs {
		for _, f := range in.Files {
			names = append(names, f.Name)
		}
	}
	return names
}
