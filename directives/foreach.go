package directives

import (
	"github.com/vaultflow/vaultflow/failure/diag"
)

// ForEach is `@for_each`: the step runs once for each item, or for each batch of items. An item is a file of the vault, one of
// the files that started the run, or an entry of a JSON list in a variable. Each batch is journaled, committed and resumed on its own.
//
// In the step's other directives {item} is the item's vault name (or its text), {item-name} its name without folder and
// extension, and {batch} the number of the batch, from 1. With several items in a batch, `@input file: {item}` selects all of
// them, in order; elsewhere {item} is the first.
type ForEach struct {
	At        diag.Position `json:"at"`
	Target    Target        `json:"target"`
	Selection Selection     `json:"selection,omitzero"`
	Batch     int           `json:"batch,omitempty"`    // items in one run of the step; 0 means 1
	Parallel  int           `json:"parallel,omitempty"` // batches running at the same time; 0 means 1
	As        string        `json:"as,omitempty"`       // the place {{As}} in the prompt, where the batch's items are shown as inputs
	OnError   string        `json:"on_error,omitempty"` // stop or skip; empty means stop
}

// ForEachIndex is the directive index of an `@for_each` in a [PendingKey]; inputs count from zero.
const ForEachIndex = -1

// Input returns the directive as an input, for [Input.Resolve].
func (f ForEach) Input() Input {
	return Input{At: f.At, Index: ForEachIndex, Target: f.Target, Selection: f.Selection, As: f.As}
}

// OnError words of a [ForEach].
const (
	OnErrorStop = "stop"
	OnErrorSkip = "skip"
)

// maxParallel bounds parallel=: every provider refuses more calls at the same time.
const maxParallel = 32

func readForEach(d Directive, r *report) *ForEach {
	f := &ForEach{At: d.At}
	t, ok := parseSource("@for_each", source{text: d.Text, at: d.TextAt}, r)
	f.Target = t
	for _, p := range d.Params {
		switch p.Key {
		case "batch":
			f.Batch = p.count(r)
		case "parallel":
			f.Parallel = p.atMost(r, maxParallel)
		case "as":
			f.As = p.place(r)
		case "on_error":
			f.OnError = p.word(r, OnErrorStop, OnErrorSkip)
		default:
			f.Selection.read(t, p, r)
		}
	}
	if ok && t.Scheme == SchemeFile {
		t.refuseFragment("@for_each", r)
		r.withoutItems(func() { checkInputPath(t, &f.Selection, r) }) // items are not known before they are found
	}
	f.Selection.check(d, r)
	return f
}
