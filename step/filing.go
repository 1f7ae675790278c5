package step

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Filing finds what @move moves, and where to.
type Filing struct {
	Mover
	inputs  Inputs
	outputs Outputs
	demands Demands
}

// check fails if the step's move, or an output that its answer names, will be refused whatever the answer is, so that no model is
// paid for it.
func (f Filing) check(ctx context.Context, s Context) error {
	if patterns := s.Step.AnswerPatterns(); len(patterns) > 0 && s.Step.Schema != nil {
		wanted, err := f.demands.of(ctx, s)
		if err != nil {
			return err
		}
		for _, p := range patterns {
			if fault, fix := workflow.AnswerFault(wanted.Schema, p.Field); fault != "" {
				return failure.New(failure.InvalidWorkflow, fix, "%s: {answer-%s} has no value: %s", p.At, p.Field, fault)
			}
		}
	}
	if s.Step.Move == nil {
		return nil
	}
	s.Facts.Unanswered = true
	name, err := f.source(ctx, s)
	if err != nil {
		return err
	}
	m := s.Step.Move
	if !s.Plan.Meta.Permissions.MayMoveTo(m.To) {
		return failure.New(failure.Permission, "add it to permissions.write", "%s is not covered by the workflow's permissions.write", m.To.Path)
	}
	c, place, err := f.plan(s, name, nil)
	if err != nil || c.Name == "" {
		return err
	}
	ask := f.request(s, c, place)
	if len(m.To.AnswerPatterns()) > 0 {
		ask.ToPermitted.Allowed = true // it depends on the answer
	}
	return f.allowed(ask, c)
}

// previewed describes the move that a step would make. What its answer decides is in ‹›.
func (f Filing) previewed(ctx context.Context, s Context) []string {
	if s.Step.Move == nil {
		return nil
	}
	s.Facts.Unanswered = true
	name, err := f.source(ctx, s)
	if err != nil {
		return []string{"nothing is moved: " + failure.Of(err).Message}
	}
	c, _, err := f.plan(s, name, nil)
	switch {
	case err != nil:
		return []string{name + " is not moved: " + failure.Of(err).Message}
	case c.Name == "":
		return []string{name + " is where it belongs already"}
	}
	return []string{fmt.Sprintf("%s: moved to %s; links in %d files follow", c.Name, c.To, len(f.Linked(c)))}
}

// allowed asks the gate about a move.
func (f Filing) allowed(ask policy.Request, c engine.Change) error {
	_, err := f.Changes.Rule(change.Author{Ask: ask}, c).Pass()
	return change.Refused(err)
}

// source returns the file that a step moves.
func (f Filing) source(ctx context.Context, s Context) (string, error) {
	m := s.Step.Move
	if m.Source.Scheme == directives.SchemeTrigger {
		name, err := directives.Expand("{trigger}", s.Facts)
		return vault.Actual(f.Changes.FS, name), failure.WithCode(err, failure.Input)
	}
	found, err := directives.Input{At: m.At, Target: m.Source}.Resolve(ctx, f.inputs.env(s))
	if err != nil {
		return "", failure.WithCode(err, failure.Input)
	}
	if len(found.Files) != 1 {
		hint := "name one that exists"
		if len(found.Near) > 0 {
			hint = "similar names: " + strings.Join(found.Near, ", ")
		}
		return "", failure.New(failure.Input, hint, "%s: there is no file %s to move", m.At, m.Source)
	}
	return found.Files[0].Name, nil
}

// leaves returns the file that a step's move moves, or "".
func (f Filing) leaves(ctx context.Context, s Context) string {
	if s.Step.Move == nil {
		return ""
	}
	name, _ := f.source(ctx, s) // the move itself reports what is wrong with it
	return name
}

// plan returns the move of a file, and who named its place.
func (f Filing) plan(s Context, name string, taken func(string) bool) (engine.Change, outputPlace, error) {
	place, err := s.Step.Move.Place(f.outputs.Env(s))
	if err != nil {
		return engine.Change{}, outputPlace{}, failure.WithCode(err, failure.Output)
	}
	named := outputPlace{Place: place}
	if place.Named != directives.NamedByAuthor {
		named.from = s.NameFrom
	}
	c, err := f.Plan(name, place.Name, taken)
	return c, named, err
}

// request is the request to the gate for a step's move.
func (f Filing) request(s Context, c engine.Change, place outputPlace) policy.Request {
	ask := f.Request(s, policy.ByOutput, c)
	ask.Named, ask.NameFrom, ask.Granted = policy.Named(place.Named), place.from, s.Step.Move.Untrusted
	ask.Asked = s.Step.Approve != nil && s.Step.Approve.Outputs
	return ask
}

// move stages the step's move. Its outputs are staged before.
func (st *staging) move(ctx context.Context) (*engine.StagedMove, error) {
	m := st.s.Step.Move
	if m == nil {
		return nil, nil
	}
	filing := st.a.filing
	name, err := filing.source(ctx, st.s)
	if err != nil {
		return nil, err
	}
	taken := func(name string) bool {
		for _, file := range st.files {
			if policy.FoldName(file.Name) == policy.FoldName(name) {
				return true
			}
		}
		return false
	}
	c, place, err := filing.plan(st.s, name, taken)
	if err != nil {
		return nil, err
	}
	if c.Name == "" {
		st.notes = append(st.notes, name+" is where it belongs already: it was not moved")
		return nil, nil
	}
	if err := filing.allowed(filing.request(st.s, c, place), c); err != nil {
		return nil, err
	}
	for _, file := range st.files {
		if file.Name == c.Name {
			c.Before, c.After = vault.Digest(file.data), vault.Digest(file.data)
		}
	}
	staged := &engine.StagedMove{Change: c, Named: place.Named, NameFrom: place.from, Granted: m.Untrusted}
	if approve := st.s.Step.Approve; approve != nil && approve.Outputs { // finding them reads every note
		staged.Linked = filing.Linked(c)
	}
	return staged, nil
}

// shownBefore adds what a model is shown to who names the places that its answer names.
func shownBefore(s *Context, origins []string) {
	if len(origins) > 0 && len(s.Step.AnswerPatterns()) > 0 {
		s.Facts.ForeignAnswer = true
		s.NameFrom = policy.AddOrigins(slices.Clone(s.NameFrom), origins...)
	}
}

// answered adds the properties of an answer to the facts, for what is named after it.
func answered(s *Context, answer []byte, foreign *engine.Foreign) {
	if len(s.Step.AnswerPatterns()) == 0 {
		return
	}
	if foreign != nil {
		shownBefore(s, foreign.Origins)
	}
	s.Facts.Answer = map[string]string{}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil {
		return // the schema was not an object's: the patterns say what they lack
	}
	for field, value := range object {
		switch value.(type) {
		case string, json.Number, bool:
			s.Facts.Answer[field] = fmt.Sprint(value)
		}
	}
}

// moveCall identifies the move of a step among its changes.
const moveCall = "move"

// moves makes the moves of a step after its files are written, and lets the links follow.
func (c *Committer) moves(ctx context.Context, in engine.CommitIn, out *engine.CommitOut) error {
	var fresh []string
	for _, file := range in.Files {
		if file.Base == "" {
			fresh = append(fresh, file.Name)
		}
	}
	for _, staged := range in.Moves {
		by, err := c.mover(ctx, in, staged)
		if err != nil {
			return err
		}
		made, warnings, err := c.filing.Make(ctx, by, moveCall, staged.Change, "", fresh...)
		if errors.Is(err, vault.ErrConflict) {
			out.Conflicts = append(out.Conflicts, staged.Change.Name)
			continue
		}
		if err != nil {
			return failure.WithCode(err, failure.Output)
		}
		out.Changes, out.Warnings = append(out.Changes, made...), append(out.Warnings, warnings...)
	}
	return nil
}

// mover is the author of a staged move.
func (c *Committer) mover(ctx context.Context, in engine.CommitIn, staged engine.StagedMove) (change.Author, error) {
	s, err := c.plans.Context(ctx, in.StepRef)
	if err != nil {
		return change.Author{}, err
	}
	ask := c.filing.Request(s, policy.ByOutput, staged.Change)
	ask.Named, ask.NameFrom, ask.Granted = policy.Named(staged.Named), staged.NameFrom, staged.Granted
	ask.Asked = s.Step.Approve != nil && s.Step.Approve.Outputs
	return change.Author{Ref: in.StepRef, Ask: ask}, nil
}

// unmovable returns the names of what cannot be moved as it was staged, because somebody changed or moved it, or took the new name.
// A file that the step itself writes first is as it will be.
func (c *Committer) unmovable(ctx context.Context, in engine.CommitIn) ([]string, error) {
	var list []string
	for _, staged := range in.Moves {
		m := staged.Change
		by, err := c.mover(ctx, in, staged)
		if err != nil {
			return nil, err
		}
		if done, err := c.filing.moved(ctx, by, moveCall, m); err != nil || done {
			return list, err
		}
		at, err := change.StateOf(m, func(name string) (string, error) {
			for _, file := range in.Files {
				if file.Name == name && name == m.Name {
					return m.Before, nil
				}
			}
			return c.changes.Digest(name)
		})
		if err != nil {
			return nil, failure.New(failure.Vault, "", "read %s before moving it: %v", m.Name, err)
		}
		if there := policy.Look(c.changes.FS, m.To); at != change.Before || there.Exists && there.Name != m.Name && m.Note == "" {
			list = append(list, m.Name)
			continue
		}
		if err := c.filing.allowed(by.Ask, m); err != nil {
			return nil, err
		}
	}
	return list, nil
}
