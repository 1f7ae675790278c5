package engine

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// work is one run of a step: the whole step, or one batch of its items. Preparing it touches nothing but its own fields,
// so that works can be prepared beside each other; see [body.batches].
type work struct {
	flow    Flow
	step    PinnedStep
	ref     StepRef
	trigger Trigger
	vars    []Var
	written []foreignFile

	shownBefore shownOutputs // by the run's earlier steps
	spent       float64      // by the step's earlier works, in US dollars
	runUSD      float64      // by the run's earlier steps

	rec BatchRecord

	omissions []Omission // of the prompt that is asked with
	left      []string   // further omissions, in words
	inputs    []ResolvedInput
	text      string      // digest of what the outputs get
	cache     *CacheEntry // to be kept with the commit

	talk *conversation // nil without a model

	countsRounds bool // tools get their round
	tellsShown   bool // stages and tools get what the step was shown

	pages []PagesShown // that the model was shown, itself or through its inputs; only in workflows with @cite

	results  []RoutedResult // of tools, for the stage
	toolVars []StagedVar    // that tools have set
	nested   []string       // files that runs have written which tools started
	undone   []string       // approved calls that failed
}

// work makes a work with the variables as they are now.
func (b *body) work(f Flow, s PinnedStep, ref StepRef, spent float64) *work {
	w := &work{flow: f, step: s, ref: ref, trigger: b.pinned.Trigger, vars: b.vars, written: b.written, shownBefore: b.shown, spent: spent}
	if b.pinned.Body >= 1 {
		w.runUSD = b.spent
	}
	w.countsRounds, w.tellsShown = b.pinned.Body >= 2, b.pinned.Body >= 4
	w.rec = BatchRecord{
		Batch: ref.Batch, Items: itemNames(ref.Items), WorkRecord: WorkRecord{Status: Running, Origins: b.pinned.Origins},
	}
	return w
}

// prepare does everything before the outputs: it reads, and asks the model. It leaves the record's status Running when
// the outputs are to be written now, and Skipped when there is nothing to be done.
func (w *work) prepare() error {
	prompt, err := w.assemble()
	if err != nil || w.rec.Status == Skipped {
		return err
	}
	if w.step.NoModel {
		if w.text = prompt.Text; w.text == "" && w.step.Outputs > 0 {
			w.skip("the inputs hold no text")
		}
		return nil
	}
	return w.converse(prompt)
}

// assemble reads the inputs and builds the prompt. With @approve prompt it returns once the prompt may be sent; one that changes while
// it waits is built again.
func (w *work) assemble() (prompt AssembleOut, err error) {
	before := w.rec
	for range maxRaces {
		w.rec = before
		prompt, err = w.assembleNow()
		if err != nil || w.rec.Status == Skipped || !w.step.ApprovePrompt {
			return prompt, err
		}
		if again, err := w.sendable(prompt); err != nil || !again {
			return prompt, err
		}
	}
	return prompt, failure.New(failure.Conflict, "run the step again when its inputs stay as they are", "the prompt changed %d times while it waited for approval", maxRaces)
}

// sendable asks whether the prompt may be sent. again is true if it would be another one by now, although nobody rejected it.
func (w *work) sendable(prompt AssembleOut) (again bool, err error) {
	var out ApproveOut
	in := ApproveIn{StepRef: w.ref, Prompt: &AskedPrompt{Prompt: prompt.Prompt, Sketch: prompt.Sketch, Vars: w.vars, Trigger: w.trigger}}
	if err := w.flow.Do(ActivityApprove, in, &out); err != nil {
		return false, err
	}
	if len(out.Outdated) > 0 {
		w.flow.Note(Event{Kind: EventWarning, Step: w.step.Name, Batch: w.ref.Batch, Message: "the prompt has changed since it was shown, and was not sent: " + strings.Join(out.Outdated, "; ")})
		return true, nil
	}
	if len(out.Verdicts) != 1 {
		return false, failure.New(failure.Internal, "", "an approval without a verdict")
	}
	if v := out.Verdicts[0]; !v.Approved {
		w.rec.Rejected = append(w.rec.Rejected, rejection(v))
		w.skip("not approved: " + rejection(v))
	}
	return false, nil
}

func (w *work) assembleNow() (prompt AssembleOut, err error) {
	var found ResolveOut
	if err := w.flow.Do(ActivityResolve, ResolveIn{w.ref, w.vars, w.trigger}, &found); err != nil {
		return prompt, err
	}
	w.inputs = found.Inputs
	w.markForeign()
	w.pages = w.shownBefore.readBy(w.inputs, w.ref.Items)
	w.rec.Inputs, w.rec.Warnings = inputNames(found.Inputs), append(w.rec.Warnings, found.Warnings...)
	if len(found.Missing) > 0 {
		w.skip("required input not found: " + strings.Join(found.Missing, ", "))
		return prompt, nil
	}
	if err := w.flow.Do(ActivityAssemble, AssembleIn{w.ref, w.inputs, w.vars}, &prompt); err != nil {
		return prompt, err
	}
	w.taint(prompt.Origins)
	w.rec.Prompt, w.rec.Receipt, w.rec.Model = prompt.Prompt, prompt.Receipt, prompt.Model
	w.rec.Warnings = append(w.rec.Warnings, prompt.Warnings...)
	w.omissions, w.left, w.rec.Sent = prompt.Omissions, prompt.Omitted, prompt.Sent
	w.omit()
	if len(prompt.Unmet) > 0 {
		w.rec.Unmet = true
		w.skip("a required input did not arrive: " + strings.Join(OmissionLines(prompt.Unmet), "; "))
	}
	return prompt, nil
}

// lose adds omissions, each once: a conversation meets the same one with each call.
func (w *work) lose(list []Omission) {
	w.omissions = slices.Clone(w.omissions)
	for _, o := range list {
		if !slices.Contains(w.omissions, o) {
			w.omissions = append(w.omissions, o)
		}
	}
}

// omit brings the record's omissions up to date.
func (w *work) omit() {
	w.rec.LeftOut = LeftOutOf(w.omissions)
	w.rec.Omitted = append(leftOutLines(w.rec.LeftOut), w.left...)
}

func (w *work) skip(reason string) { w.rec.Status, w.rec.Reason = Skipped, reason }

func inputNames(inputs []ResolvedInput) []string {
	var names []string
	for _, in := range inputs {
		for _, f := range in.Files {
			names = append(names, f.Name)
		}
	}
	return names
}

func itemNames(items []Item) []string {
	var names []string
	for _, item := range items {
		names = append(names, item.Shown())
	}
	return names
}
