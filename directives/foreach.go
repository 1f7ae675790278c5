package directives

// ForEach is `@for_each`: the step runs once for each item, or for each batch of items. An item is a file of the vault or
// an entry of a JSON list in a variable. Each run of the step is journaled, committed and resumed on its own.
//
// In the step's other directives {item} is the item's vault name (or its text), {item-name} its name without folder and
// extension, {batch} the number of the batch, counted from 1. With several items in a batch, an `@input file: {item}`
// takes them all, in order; elsewhere {item} is the first one.
type ForEach struct {
	At        Position  `json:"at"`
	Target    Target    `json:"target"`
	Selection Selection `json:"selection,omitzero"`
	Batch     int       `json:"batch,omitempty"`    // items in one run of the step; 0 means 1
	Parallel  int       `json:"parallel,omitempty"` // batches at work at the same time; 0 means 1
	As        string    `json:"as,omitempty"`       // the place {{As}} in the prompt, where the batch's items are shown as inputs
	OnError   string    `json:"on_error,omitempty"` // stop or skip; empty means stop
}

// ForEachIndex is the directive index of an `@for_each` in a [PendingKey]; inputs count from zero.
const ForEachIndex = -1

// Input is the directive as an input, for [Input.Resolve].
func (f ForEach) Input() Input {
	return Input{At: f.At, Index: ForEachIndex, Target: f.Target, Selection: f.Selection, As: f.As}
}
