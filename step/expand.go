package step

import (
	"context"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/note"
)

// Expander lists the items of an @for_each.
type Expander struct {
	plans  *Plans
	vars   Vars
	inputs Inputs
	divide divider
}

// expansion is the items of an @for_each now.
type expansion struct {
	items    []item
	warnings []string
	parts    *engine.PartsChange // of documents
	all      []engine.Item       // all parts, with those that are done
}

// Expand lists the items of a step's @for_each in batches: files with the digest of their content, or the entries of a
// JSON list in a variable. It only reads; entries are kept as blobs.
func (e *Expander) Expand(ctx context.Context, in engine.StepIn) (engine.ExpandOut, error) {
	s, err := e.plans.Context(ctx, in.StepRef)
	if err != nil || s.Step.ForEach == nil {
		return engine.ExpandOut{}, err
	}
	found, err := e.itemsOf(ctx, s, in.Vars)
	if err != nil {
		return engine.ExpandOut{}, err
	}
	out := engine.ExpandOut{Warnings: found.warnings, Parts: found.parts}
	for batch := range slices.Chunk(found.items, max(s.Step.ForEach.Batch, 1)) {
		var stored []engine.Item
		for _, it := range batch {
			if it.Value {
				if it.SHA256, err = e.inputs.Blobs.Put(ctx, []byte(it.text)); err != nil {
					return out, err
				}
			}
			stored = append(stored, it.Item)
		}
		out.Batches = append(out.Batches, stored)
	}
	return out, nil
}

// itemsOf returns the items of an @for_each, in order. Entries of a list have no digest yet.
func (e *Expander) itemsOf(ctx context.Context, s Context, vars []engine.Var) (found expansion, err error) {
	if err := s.checkSubject(); err != nil {
		return found, err
	}
	each := *s.Step.ForEach
	switch {
	case each.Target.Scheme == directives.SchemeVariable:
		found.items, err = e.entries(ctx, s, each, vars)
		return found, err
	case each.Parts != "":
		return e.divide.divide(ctx, s, vars)
	}
	inputs := e.inputs
	inputs.MaxFiles = math.MaxInt // each batch is a work of its own
	files, diagnostics, err := inputs.Find(ctx, s, each.Input(), vars)
	if err != nil {
		return found, err
	}
	for _, file := range files.Files {
		found.items = append(found.items, item{engine.Item{Name: file.Name, SHA256: file.SHA256, Pending: file.Pending}, file.Name})
	}
	found.warnings = warningLines(diagnostics)
	return found, nil
}

func warningLines(diagnostics []diag.Diagnostic) []string {
	var lines []string
	for _, d := range diagnostics {
		lines = append(lines, d.String())
	}
	return lines
}

// entries returns the entries of the JSON list in a variable, none if it is not set.
func (e *Expander) entries(ctx context.Context, s Context, each directives.ForEach, vars []engine.Var) ([]item, error) {
	text, set, err := e.vars.Text(ctx, s.Plan.Name, each.Target.Path, vars)
	if err != nil || !set {
		return nil, err
	}
	value, err := note.ReadJSON(note.Unfenced(text))
	list, isList := value.([]any)
	if err != nil || !isList {
		return nil, failure.New(failure.Input, "let the step that sets it answer with a JSON list, such as [\"a\", \"b\"]",
			"%s: the variable %s holds no JSON list", each.At, each.Target.Path)
	}
	if len(list) > e.inputs.MaxFiles && e.inputs.MaxFiles > 0 {
		return nil, failure.New(failure.Input, "raise engine.max_selected_files, or make the list shorter",
			"%s: the list in %s has %d entries, more than %d (engine.max_selected_files)", each.At, each.Target.Path, len(list), e.inputs.MaxFiles)
	}
	var items []item
	for _, entry := range list {
		text, isText := entry.(string)
		if !isText {
			data, err := note.MarshalJSON(entry)
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		items = append(items, item{engine.Item{Name: oneLine(text), Value: true}, text})
	}
	return items, nil
}
