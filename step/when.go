package step

import (
	"context"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// When asks whether all @when conditions of a step hold. It only reads. The first that does not hold is the reason.
func (w *Workflow) When(ctx context.Context, in engine.StepIn) (engine.WhenOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.WhenOut{}, err
	}
	return w.conditions(ctx, s, in.Vars)
}

func (w *Workflow) conditions(ctx context.Context, s scene, vars []engine.Var) (engine.WhenOut, error) {
	var marks []engine.Mark
	for _, when := range s.step.When {
		holds, seen, err := w.test(ctx, s, when, vars)
		if err != nil {
			return engine.WhenOut{}, err
		}
		if holds == when.Not {
			return engine.WhenOut{Skip: true, Reason: conditionText(when)}, nil
		}
		marks = append(marks, seen...)
	}
	return engine.WhenOut{Marks: marks}, nil
}

// conditionText is a condition as written.
func conditionText(when directives.When) string {
	words := []string{"@when"}
	if when.Not {
		words = append(words, "not")
	}
	target := when.Target.String()
	if when.Target.Scheme == directives.SchemeFile {
		target = strings.TrimPrefix(target, directives.SchemeFile+": ")
	}
	return strings.Join(append(words, when.Test, target), " ")
}

// test carries out one test, before its `not`. marks are the changed contents that it saw.
func (w *Workflow) test(ctx context.Context, s scene, when directives.When, vars []engine.Var) (holds bool, marks []engine.Mark, err error) {
	switch when.Test {
	case directives.WhenEmpty, directives.WhenNonempty:
		text, _, err := w.textOf(ctx, s, when.Target.Path, vars)
		return strings.TrimSpace(text) == "" == (when.Test == directives.WhenEmpty), nil, err
	case directives.WhenChanged:
		found, err := w.changed(ctx, s, when)
		return len(found) > 0, found, err
	}
	input := directives.Input{At: when.At, Target: when.Target, Selection: directives.Selection{Limit: 1}}
	found, err := input.Resolve(ctx, w.resolveEnv(s))
	if err != nil {
		return false, nil, inputFailure(err)
	}
	return len(found.Files) > 0 == (when.Test == directives.WhenExists), nil, nil
}

// changed lists the files that fit and have a content which this step has not been carried out with.
func (w *Workflow) changed(ctx context.Context, s scene, when directives.When) ([]engine.Mark, error) {
	key := when.Key(s.plan.Name, s.step.Name)
	input := directives.Input{At: when.At, Index: key.Directive, Target: when.Target, Selection: directives.Selection{Pending: true}}
	found, _, err := w.resolveInput(ctx, s, input, nil)
	if err != nil {
		return nil, err
	}
	var marks []engine.Mark
	for _, file := range found.Files {
		marks = append(marks, engine.Mark{Directive: key.Directive, Name: file.Name, SHA256: file.SHA256})
	}
	return marks, nil
}

// textOf is the text of a variable: of the run, or else of the workflow, and whether it is set.
func (w *Workflow) textOf(ctx context.Context, s scene, name string, vars []engine.Var) (text string, set bool, err error) {
	for _, scope := range []string{"run", "workflow"} {
		v, err := w.variable(ctx, s.plan.Name, name, scope, vars)
		if err != nil {
			return "", false, err
		}
		if v.Digest == "" {
			continue
		}
		data, err := w.Blobs.Get(ctx, v.Digest)
		if err != nil {
			return "", false, failure.New(failure.State, "", "read variable %s: %v", name, err)
		}
		return string(data), true, nil
	}
	return "", false, nil
}
