package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// answerPlaces returns the targets that a step's answer may name.
func (s Step) answerPlaces() []directives.Target {
	var list []directives.Target
	for _, out := range s.Outputs {
		if out.Target.Scheme == directives.SchemeFile {
			list = append(list, out.Target)
		}
	}
	if s.Move != nil {
		list = append(list, s.Move.To)
	}
	return list
}

// AnswerPatterns returns the patterns of the answer in a step's outputs and its move.
func (s Step) AnswerPatterns() []directives.AnswerPattern {
	var list []directives.AnswerPattern
	for _, t := range s.answerPlaces() {
		list = append(list, t.AnswerPatterns()...)
	}
	return list
}

// AnswerFault returns what is wrong with a property of a JSON Schema for a pattern such as {answer-title}, and what to do; both are
// empty if nothing is.
func AnswerFault(schema json.RawMessage, field string) (fault, fix string) {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
			Cons any   `json:"const"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return "", "" // another check reports it
	}
	property, known := s.Properties[field]
	kind, _ := property.Type.(string)
	scalar := func(v any) bool {
		switch v.(type) {
		case string, float64, bool:
			return true
		}
		return false
	}
	switch {
	case !known:
		return "the @schema has no property " + field, "add it to properties and to required"
	case !slices.Contains(s.Required, field):
		return "the @schema does not demand " + field + ", so an answer may lack it", "add it to required"
	case slices.Contains([]string{"string", "number", "integer", "boolean"}, kind),
		property.Type == nil && scalar(property.Cons),
		property.Type == nil && len(property.Enum) > 0 && !slices.ContainsFunc(property.Enum, func(v any) bool { return !scalar(v) }):
		return "", ""
	}
	return "the property " + field + " of the @schema is no single text or number", "write type: string, number, integer or boolean"
}

// answers reports patterns of the answer that the schema does not promise.
func (c stepCheck) answers() {
	for _, p := range c.step.AnswerPatterns() {
		fault, fix := "", ""
		switch schema := c.step.Schema; {
		case c.none():
			fault, fix = "the step calls no model, so there is no answer", "remove it, or choose a model"
		case schema == nil:
			fault, fix = "the step has no @schema, so its answer is text", "add @schema with "+p.Field+" in properties and required"
		case schema.Inline != nil:
			fault, fix = AnswerFault(schema.Inline, p.Field)
		}
		if fault != "" {
			c.out.add(p.At, directives.CodeAnswerField, fix, "{answer-%s} has no value: %s", p.Field, fault)
		}
	}
}

// move reports an @move that does not move one file for each item.
func (c stepCheck) move() {
	m, each := c.step.Move, c.step.ForEach
	if m == nil || each == nil {
		return
	}
	refuse := func(fix, format string, args ...any) {
		c.out.add(m.At, directives.CodeMoveItems, fix, format, args...)
	}
	switch {
	case each.Parts != "" && hasItem(m.Source):
		refuse("write @for_each file: PATH", "the items are parts of documents, which cannot be moved")
	case each.Target.Scheme == directives.SchemeVariable && hasItem(m.Source):
		refuse("write @for_each file: PATH, or offer move_file with @tools", "the items are entries of a list, not files of the vault")
	case each.Batch > 1:
		refuse("remove batch=", "a batch has several items, and @move moves one file")
	case !hasItem(m.Source):
		refuse("write @move {item} to: …, or move the file in a step of its own", "each item would move the same file, %s", m.Source)
	}
}

// mayWriteAt reports whether permissions.write may allow a file whose name is known only after the answer.
func (p Permissions) mayWriteAt(t directives.Target) bool {
	return !p.NoWrite && (p.Write == nil || mayFit(t, p.Write))
}

// MayMoveTo reports whether permissions.write may allow some file at the new name of a move.
func (p Permissions) MayMoveTo(t directives.Target) bool {
	if n := len(t.Path); n > 0 && t.Path[n-1] == '/' {
		t.Path += "*"
	}
	deep := t
	deep.Path += ".*"
	inside := t
	inside.Path += "/*"
	return p.mayWriteAt(t) || p.mayWriteAt(deep) || p.mayWriteAt(inside)
}

// MayAnswerAt reports whether permissions.write may allow an output whose name depends on the answer.
func (p Permissions) MayAnswerAt(t directives.Target) bool { return p.mayWriteAt(t) }

// moves checks where files move, with the facts of a made-up run.
func (c *checker) moves() {
	for _, s := range c.plan.Steps {
		m := s.Move
		if m == nil {
			continue
		}
		permissions := c.plan.Meta.Permissions
		facts := c.facts(s)
		facts.Unanswered = true
		place, err := m.Place(directives.OutputEnv{Facts: facts, ImportDir: c.world.ImportDir})
		at := strings.TrimSuffix(place.Name, "/")
		switch {
		case err != nil:
			c.add(asDiagnostic(err, m.To.At))
		case !permissions.MayMoveTo(m.To):
			c.add(directives.At(m.To.At, directives.CodeNotPermitted, "add it to permissions.write", "%s is not covered by permissions.write", m.To.Path))
		default:
			ruling := c.world.Gate.Decide(policy.Request{
				Writer: policy.ByOutput, Action: policy.Change, Place: policy.Target{Name: at + "/name.md", Bundle: at}, Workflow: c.plan.File,
				Permitted: policy.Permitted{Allowed: true, Explicit: permissions.NamesForWriting(at + ".md")},
			})
			if ruling.Verdict == policy.VerdictRefused {
				c.add(directives.At(m.To.At, directives.CodeRefusedPlace, ruling.Hint, "%s %s", m.To.Path, ruling.Reason))
			}
		}
	}
}
