package directives

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// ForEach is `@for_each`: the step runs once for each item, or for each batch of items. An item is a file of the vault, one of
// the files that started the run, an entry of a JSON list in a variable, or a part of a document. Each batch is journaled, committed
// and resumed on its own.
//
// In the step's other directives {item} is the item's vault name (or its text), {item-name} its name without folder and
// extension, and {batch} the number of the batch, from 1. With several items in a batch, `@input file: {item}` selects all of
// them, in order; elsewhere {item} is the first.
type ForEach struct {
	At        diag.Position `json:"at"`
	Parts     string        `json:"parts,omitempty"`   // pages, chapters or sections of the documents that the target names; empty: files
	Window    int           `json:"window,omitempty"`  // pages of an item, overlap included; 0 means 1
	Overlap   int           `json:"overlap,omitempty"` // pages that an item shares with the one before
	Level     int           `json:"level,omitempty"`   // of the headings that begin an item; 0: see [ForEach.Depth]
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

// The words of `@for_each WORD of …`.
const (
	PartPages    = "pages"
	PartChapters = "chapters"
	PartSections = "sections"
)

var partWords = []string{PartPages, PartChapters, PartSections}

// rangeWindow is the number of pages of an item in a document without the outline that its division needs.
const rangeWindow = 20

// Depth returns the level of the headings that begin an item: 1 for chapters and 2 for sections, unless level= is given.
func (f ForEach) Depth() int {
	switch {
	case f.Level > 0:
		return f.Level
	case f.Parts == PartSections:
		return 2
	}
	return 1
}

// Size returns how many pages an item has, where pages are counted.
func (f ForEach) Size() int {
	switch {
	case f.Window > 0:
		return f.Window
	case f.Parts == PartPages:
		return 1
	}
	return rangeWindow
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
	text := source{text: d.Text, at: d.TextAt}
	word, behind := partsOf(d.Text)
	if behind > 0 {
		if f.Parts = strings.ToLower(word); !slices.Contains(partWords, f.Parts) {
			r.add(d.TextAt, CodePartWord, diag.DidYouMean(word, partWords, "write @for_each pages of [[Workbook]]"), "@for_each takes %s of a document, not %s", diag.OneOf(partWords), clip(word))
			r.mendWord(d.TextAt, word, partWords)
			return nil
		}
		if text = text.from(behind); strings.HasPrefix(text.text, "[[") {
			text.text = "file: " + text.text
			text.at.Column -= len("file: ")
		}
	}
	t, ok := parseSource("@for_each", text, r)
	f.Target = t
	for _, p := range d.Params {
		switch p.Key {
		case "batch":
			f.Batch = p.count(r)
			if f.Parts != "" {
				r.add(p.At, CodePartBatch, "remove batch=, and write window=20 for items of twenty pages", "batch= and %s of a document exclude each other", f.Parts)
			}
		case "window":
			f.Window = p.count(r)
		case "overlap":
			f.Overlap = p.count(r)
		case "level":
			f.Level = p.upTo(r, maxHeading)
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
	f.checkParts(d, r)
	return f
}

// maxHeading is the deepest level of a heading.
const maxHeading = 6

// partsOf finds the word before ` of `, and where the document's name begins; 0 if the value names no parts.
func partsOf(text string) (word string, behind int) {
	word, rest, found := strings.Cut(text, " ")
	rest = strings.TrimLeft(rest, " \t")
	if !found || len(rest) < 3 || !strings.EqualFold(rest[:2], "of") || rest[2] != ' ' && rest[2] != '\t' || strings.ContainsAny(word, `:"'[`) {
		return "", 0
	}
	return word, len(text) - len(rest) + 3
}

// checkParts reports parameters that do not fit the division.
func (f *ForEach) checkParts(d Directive, r *report) {
	for _, p := range d.Params {
		switch {
		case !slices.Contains([]string{"window", "overlap", "level"}, p.Key):
		case f.Parts == "":
			r.add(p.At, CodeParamElsewhere, "write @for_each pages of …", "%s= divides documents, and this @for_each has none", p.Key)
		case p.Key == "level" && f.Parts == PartPages, p.Key == "overlap" && f.Parts != PartPages:
			r.add(p.At, CodeParamElsewhere, "", "%s= has no meaning for %s of a document", p.Key, f.Parts)
		case p.Key == "overlap" && f.Overlap > 0 && f.Overlap >= f.Size():
			r.add(p.At, CodePartOverlap, "write window=20, overlap=1", "an overlap of %d leaves no page for a window of %d", f.Overlap, f.Size())
		}
	}
	if f.Parts != "" && f.Target.Scheme == SchemeVariable {
		r.add(f.Target.At, CodePartSource, "write @for_each "+f.Parts+" of file: PATH", "a variable is no document, so it has no %s", f.Parts)
	}
}
