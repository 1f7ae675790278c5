package engine

import (
	"fmt"
	"slices"
	"strings"
)

// PagesShown are pages of a document that a model was shown.
type PagesShown struct {
	Document string `json:"document"` // vault name of the import's folder, or of the file
	Pages    string `json:"pages"`    // numbers with ranges, such as 1-20,35
}

// Citations is what became of an answer's page references and quotations (@cite).
type Citations struct {
	Pages  int        `json:"pages,omitempty"`  // references that were checked
	Quotes int        `json:"quotes,omitempty"` // quotations that were checked
	Marked []Citation `json:"marked,omitempty"` // those that failed, in order
}

// Citation is a page reference or a quotation that got a mark.
type Citation struct {
	Text   string `json:"text"` // the beginning of it, as the model wrote it
	Mark   string `json:"mark"` // in the output, such as [page not shown]
	Reason string `json:"reason"`
}

// String describes the citation.
func (c Citation) String() string { return fmt.Sprintf("%s %s: %s", c.Text, c.Mark, c.Reason) }

// String summarises the checks.
func (c Citations) String() string {
	text := fmt.Sprintf("%d page references checked", c.Pages)
	if c.Quotes > 0 {
		text += fmt.Sprintf(", %d quotations", c.Quotes)
	}
	if len(c.Marked) > 0 {
		text += fmt.Sprintf(", %d marked", len(c.Marked))
	}
	return text
}

func (c Citations) add(more Citations) Citations {
	return Citations{c.Pages + more.Pages, c.Quotes + more.Quotes, slices.Concat(c.Marked, more.Marked)}
}

// shownOutput is a file or a variable that a step of the run has written, and the pages that its model was shown.
type shownOutput struct {
	kind, name string
	pages      []PagesShown
}

// inherit adds the pages that were shown to those whose outputs the work reads.
func (w *work) inherit() {
	for _, out := range w.shownBefore {
		reads := func(in ResolvedInput) bool {
			if out.kind == "variable" {
				return in.Variable == out.name
			}
			return slices.ContainsFunc(in.Files, func(f ResolvedFile) bool { return strings.EqualFold(f.Name, out.name) })
		}
		isItem := func(i Item) bool { return out.kind == "file" && strings.EqualFold(i.Name, out.name) }
		if slices.ContainsFunc(w.inputs, reads) || slices.ContainsFunc(w.ref.Items, isItem) {
			w.pages = addPages(w.pages, out.pages)
		}
	}
}

// showed remembers which pages the outputs of a work rest on.
func (b *body) showed(w *work) {
	if len(w.pages) == 0 {
		return
	}
	b.shown = slices.Clip(b.shown) // works at the side look at the list that they were given
	for _, out := range w.rec.Outputs {
		b.shown = append(b.shown, shownOutput{out.Kind, out.Name, w.pages})
	}
}

// addPages adds pages to a list, each entry once. The list itself is not changed.
func addPages(list, more []PagesShown) []PagesShown {
	list = slices.Clone(list)
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
