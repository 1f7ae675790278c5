package step

import (
	"context"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Conditions tests the @when conditions of steps.
type Conditions struct {
	plans  *Plans
	vars   Vars
	inputs Inputs
}

// When tests the @when conditions of a step. It only reads. The reason is the first condition that does not hold.
func (c *Conditions) When(ctx context.Context, in engine.StepIn) (engine.WhenOut, error) {
	s, err := c.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.WhenOut{}, err
	}
	return c.conditions(ctx, s, in.Vars)
}

func (c *Conditions) conditions(ctx context.Context, s Context, vars []engine.Var) (engine.WhenOut, error) {
	var marks []engine.Mark
	for _, when := range s.Step.When {
		holds, seen, err := c.test(ctx, s, when, vars)
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

// conditionText returns a condition as written.
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

// test makes one test, without its `not`. marks are the changed contents that it saw.
func (c *Conditions) test(ctx context.Context, s Context, when directives.When, vars []engine.Var) (holds bool, marks []engine.Mark, err error) {
	switch when.Test {
	case directives.WhenEmpty, directives.WhenNonempty:
		text, _, err := c.vars.Text(ctx, s.Plan.Name, when.Target.Path, vars)
		return strings.TrimSpace(text) == "" == (when.Test == directives.WhenEmpty), nil, err
	case directives.WhenChanged:
		found, err := c.changed(ctx, s, when)
		return len(found) > 0, found, err
	}
	input := directives.Input{At: when.At, Target: when.Target, Selection: directives.Selection{Limit: 1}}
	found, err := input.Resolve(ctx, c.inputs.env(s))
	if err != nil {
		return false, nil, failure.WithCode(err, failure.Input)
	}
	return len(found.Files) > 0 == (when.Test == directives.WhenExists), nil, nil
}

// changed lists the matching files whose content this step has not processed.
func (c *Conditions) changed(ctx context.Context, s Context, when directives.When) ([]engine.Mark, error) {
	key := when.Key(s.Plan.Name, s.Step.Name)
	input := directives.Input{At: when.At, Index: key.Directive, Target: when.Target, Selection: directives.Selection{Pending: true}}
	found, _, err := c.inputs.Find(ctx, s, input, nil)
	if err != nil {
		return nil, err
	}
	var marks []engine.Mark
	for _, file := range found.Files {
		marks = append(marks, engine.Mark{Directive: key.Directive, Name: file.Name, SHA256: file.SHA256})
	}
	return marks, nil
}
