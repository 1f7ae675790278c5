package engine

import (
	"fmt"
	"slices"
	"strings"
)

// write stages and commits a step's outputs, and stages again when somebody changed a target in between. What an
// attempt has written is not staged again, so that a text is never appended twice.
func (b *body) write(s PinnedStep, ref StepRef, answer string, inputs []ResolvedInput, r *StepRecord) error {
	var committed []StagedFile
	var conflicts []string
	for attempt := 1; attempt <= 1+maxRestages; attempt++ {
		var staged StageOut
		in := StageIn{ref, answer, inputs, b.vars, attempt, committed}
		if err := b.flow.Do(ActivityStage, in, &staged); err != nil {
			return err
		}
		if err := complete(s, staged, committed); err != nil {
			return err
		}
		var out CommitOut
		if err := b.flow.Do(ActivityCommit, CommitIn{StepRef: ref, Files: staged.Files, Shared: shared(staged.Vars), Marks: marks(inputs)}, &out); err != nil {
			return err
		}
		committed = append(committed, out.Written...)
		r.Outputs = fileOutputs(committed)
		if conflicts = out.Conflicts; len(conflicts) == 0 {
			r.Warnings = append(r.Warnings, staged.Warnings...)
			b.set(staged.Vars, r)
			return nil
		}
		b.flow.Note(Event{Kind: EventWarning, Step: r.Step, Message: "changed while the step was at work, staged again: " + strings.Join(conflicts, ", ")})
	}
	return Fail(CodeConflict, "run the step again when nothing else writes to it", "%s changed %d times while it was to be written",
		strings.Join(conflicts, ", "), 1+maxRestages)
}

// complete fails a step whose stage forgot a declared output.
func complete(s PinnedStep, staged StageOut, committed []StagedFile) error {
	for i := range s.Outputs {
		target := fmt.Sprintf("output:%d", i)
		serves := func(f StagedFile) bool { return slices.Contains(f.Targets, target) }
		inVar := func(v StagedVar) bool { return v.Target == target }
		if !slices.ContainsFunc(staged.Files, serves) && !slices.ContainsFunc(committed, serves) && !slices.ContainsFunc(staged.Vars, inVar) {
			return Fail(CodeOutput, "", "@output %d of step %q would not be written", i+1, s.Name)
		}
	}
	return nil
}

func shared(vars []StagedVar) []Var {
	var list []Var
	for _, v := range vars {
		if v.Shared {
			list = append(list, Var{v.Name, v.Digest})
		}
	}
	return list
}

// marks lists the files of pending inputs, in the content that the step has seen.
func marks(inputs []ResolvedInput) []Mark {
	var list []Mark
	for _, in := range inputs {
		for _, f := range in.Files {
			if f.Pending {
				list = append(list, Mark{in.Directive, f.Name, f.SHA256})
			}
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

// set gives variables their values for the steps that follow.
func (b *body) set(vars []StagedVar, r *StepRecord) {
	for _, v := range vars {
		b.vars = setVar(b.vars, Var{v.Name, v.Digest})
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
