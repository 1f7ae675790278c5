package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// write stages and commits a work's outputs, and stages again when somebody changed a target in between. What an
// attempt has written, or the user has rejected, is not staged again, so that a text is never appended twice. The marks
// are stored with the last commit, besides those of the work's own inputs and items.
func (b *body) write(w *work, extra []Mark) error {
	for asked := 0; ; asked++ {
		again, err := b.deliver(w, extra, asked < w.step.ApproveRetries && w.talk != nil)
		if err != nil || !again {
			return err
		}
	}
}

// deliver tries to write once. With revise, the model may be asked for another answer when somebody rejects this one with a
// reason. Then again is true, and the new answer is to be delivered.
func (b *body) deliver(w *work, extra []Mark, revise bool) (again bool, err error) {
	d := &delivery{work: w, body: b, marks: append(marksOf(w), extra...), revise: revise}
	vars := b.vars
	for _, v := range w.toolVars {
		vars = v.put(vars, w.rec.Origins)
	}
	var conflicts []string
	for attempt, changed := 1, 0; changed <= maxRestages && attempt <= maxRaces; attempt++ {
		var staged StageOut
		if err := w.flow.Do(ActivityStage, w.stageIn(vars, attempt, d.settled), &staged); err != nil {
			return false, err
		}
		if d.stays || d.moved {
			staged.Moves = nil
		}
		if err := complete(w.step, staged, d.settled); err != nil {
			return false, err
		}
		w.defused(staged)
		w.rec.Citations = staged.Citations
		var raced bool
		if conflicts, raced, err = d.commit(staged); err != nil {
			return false, err
		}
		if len(conflicts) == 0 {
			if again, err := d.askAgain(); again || err != nil {
				return again, err
			}
			d.end(staged)
			return false, nil
		}
		kind, said := EventInfo, "another run wrote to it first, staged again: "
		if !raced {
			changed++
			kind, said = EventWarning, "changed while the step was running, staged again: "
		}
		if d.again = w.step.ApproveOutputs; d.again {
			said = "changed since it was proposed, staged and proposed again: "
		}
		w.flow.Note(Event{Kind: kind, Step: w.step.Name, Message: said + strings.Join(conflicts, ", ")})
	}
	return false, failure.New(failure.Conflict, "run the step again when nothing else writes to it", "%s changed %d times while it was to be written",
		strings.Join(conflicts, ", "), 1+maxRestages)
}

// stageIn asks for the work's outputs.
func (w *work) stageIn(vars []Var, attempt int, settled []StagedFile) StageIn {
	in := StageIn{StepRef: w.ref, Answer: w.text, Inputs: w.inputs, Vars: vars, Attempt: attempt, Committed: settled, Results: w.results}
	if w.tellsShown && len(w.rec.Origins) > 0 {
		in.Foreign = &Foreign{w.rec.Origins, w.rec.Prompt, w.rec.Turns}
	}
	if w.step.Cite {
		in.Pages = w.pages
	}
	if w.step.TellsOmissions {
		in.Omitted = w.rec.Omitted
	}
	return in
}

// defused puts the places that a stage made inert into the record, in place of those that an earlier stage found in the
// same files.
func (w *work) defused(staged StageOut) {
	w.rec.Defused = slices.DeleteFunc(slices.Clone(w.rec.Defused), func(d Defused) bool {
		return slices.ContainsFunc(staged.Files, func(f StagedFile) bool { return f.Name == d.Name }) && !w.changed(d.Name)
	})
	w.rec.Defused = append(w.rec.Defused, staged.Defused...)
}

// changed reports whether a tool changed a file.
func (w *work) changed(name string) bool {
	return slices.ContainsFunc(w.rec.Changes, func(c Change) bool { return c.Name == name })
}

// delivery is a work's outputs on their way into the vault.
type delivery struct {
	*work
	body    *body
	marks   []Mark
	settled []StagedFile // done or rejected: nothing more becomes of them
	done    []StagedFile // written
	again   bool         // targets have changed
	moved   bool         // the file was moved
	stays   bool         // its move was rejected

	revise   bool      // the model may be asked to revise rejected files
	declined []Verdict // rejected, if revise
	reply    string    // our message to it
}

// commit writes the staged files, each when it may be written. It returns the names that somebody changed in between, and
// whether these were other runs.
func (d *delivery) commit(staged StageOut) (conflicts []string, raced bool, err error) {
	var moves []StagedMove // approved
	for waiting, last := (undecided{staged.Files, staged.Moves}), false; !last; {
		agreed, no, open, err := d.approved(waiting)
		if err != nil {
			return nil, false, err
		}
		yes := agreed.files
		d.settled, moves = append(d.settled, no...), append(moves, agreed.moves...)
		in := CommitIn{StepRef: d.ref, Files: yes}
		if d.body.pinned.Body >= 4 {
			in.Origins = d.rec.Origins
		}
		if last = open.empty(); last {
			if len(yes)+len(d.done)+len(moves) == 0 && len(d.rec.Rejected) > 0 {
				return nil, false, nil
			}
			in.Moves = moves
			in.Shared, in.Cache = shared(d.withTools(staged.Vars), d.rec.Origins), d.cache
			in.Marks = withFiles(d.written(yes), slices.Concat(d.done, yes), d.step.Whole)
		} else if waiting = open; len(yes) == 0 {
			continue
		}
		var out CommitOut
		if err := d.flow.Do(ActivityCommit, in, &out); err != nil {
			return nil, false, err
		}
		d.settled, d.done = append(d.settled, out.Written...), append(d.done, out.Written...)
		d.rec.Outputs, d.rec.Warnings = fileOutputs(d.done), append(d.rec.Warnings, out.Warnings...)
		d.rec.Changes, d.moved = append(d.rec.Changes, out.Changes...), d.moved || len(out.Changes) > 0
		if len(out.Conflicts) > 0 {
			return out.Conflicts, out.Raced, nil
		}
	}
	return nil, false, nil
}

// end sets the variables and ends the record.
func (d *delivery) end(staged StageOut) {
	d.rec.Warnings = append(d.rec.Warnings, staged.Warnings...)
	d.rec.Status = doneAs(d.rec.Omitted)
	if d.idle() {
		d.rec.Status, d.rec.Reason = DoneWithOmissions, "approved, but nothing was done: "+strings.Join(d.undone, ", ")
	}
	if d.rejected(); d.rec.Status == Skipped {
		return
	}
	d.body.set(d.withTools(staged.Vars), &d.rec)
	d.body.wrote(d.work)
	d.body.shown = d.body.shown.with(d.rec.Outputs, d.pages)
}

// idle reports whether calls were approved and none changed anything.
func (w *work) idle() bool { return len(w.undone) > 0 && len(w.rec.Changes)+len(w.nested) == 0 }

// complete fails a step whose stage forgot a declared output.
func complete(s PinnedStep, staged StageOut, committed []StagedFile) error {
	for i := range s.Outputs {
		target := fmt.Sprintf("output:%d", i)
		serves := func(f StagedFile) bool { return slices.Contains(f.Targets, target) }
		inVar := func(v StagedVar) bool { return v.Target == target }
		if !slices.ContainsFunc(staged.Files, serves) && !slices.ContainsFunc(committed, serves) && !slices.ContainsFunc(staged.Vars, inVar) {
			return failure.New(failure.Output, "", "@output %d of step %q would not be written", i+1, s.Name)
		}
	}
	return nil
}

func shared(vars []StagedVar, origins []string) []Var {
	var list []Var
	for _, v := range vars {
		if v.Shared {
			list = append(list, Var{v.Name, v.Digest, origins})
		}
	}
	return list
}

// ForEachDirective is the place of an @for_each among a step's directives in a [Mark]: directives.ForEachIndex.
const ForEachDirective = -1

// written returns the marks after writing files: what the work itself adds to a file whose changes it was shown is no change for
// the next run.
func (d *delivery) written(now []StagedFile) []Mark {
	marks := slices.Clone(d.marks)
	for _, in := range d.inputs {
		for _, f := range in.Files {
			for _, file := range slices.Concat(d.done, now) {
				i := slices.Index(marks, Mark{Directive: in.Directive, Name: f.Name, SHA256: f.SHA256})
				if f.Changes && i >= 0 && file.Name == f.Name && file.Base == f.SHA256 {
					marks[i].SHA256 = file.New
				}
			}
		}
	}
	return marks
}

// marksOf lists the files of pending inputs and of those that show changes, and the pending items, in the content that the work has seen.
func marksOf(w *work) []Mark {
	var list []Mark
	for _, in := range w.inputs {
		for _, f := range in.Files {
			if f.Pending || f.Changes {
				list = append(list, Mark{Directive: in.Directive, Name: f.Name, SHA256: f.SHA256})
			}
		}
	}
	for _, item := range w.ref.Items {
		if item.Part != nil {
			list = append(list, item.mark())
		} else if item.Pending {
			list = append(list, Mark{Directive: ForEachDirective, Name: item.Name, SHA256: item.SHA256})
		}
	}
	return list
}

func fileOutputs(files []StagedFile) []Output {
	var outputs []Output
	for _, f := range files {
		outputs = append(outputs, Output{Kind: "file", Name: f.Name, Before: f.Base, After: f.New})
	}
	return outputs
}

// set sets variables for the steps that follow.
func (b *body) set(vars []StagedVar, r *BatchRecord) {
	for _, v := range vars {
		b.vars = setVar(b.vars, Var{v.Name, v.Digest, b.madeFrom(v.Name, r.Origins)})
		r.Outputs = append(r.Outputs, Output{Kind: "variable", Name: v.Name, After: v.Digest})
	}
}

// setVar puts a variable at its place in a list that is sorted by name. The list it was given stays as it is.
func setVar(vars []Var, v Var) []Var {
	vars = slices.Clone(vars)
	i, found := slices.BinarySearchFunc(vars, v, func(a, b Var) int { return strings.Compare(a.Name, b.Name) })
	if found {
		vars[i] = v
		return vars
	}
	return slices.Insert(vars, i, v)
}
