package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/step/cite"
)

// PagesShown are pages of a document that a model was shown.
type PagesShown struct {
	Document string `json:"document"` // vault name of the import's folder, or of the file
	Pages    string `json:"pages"`    // numbers with ranges, such as 1-20,35
}

// Citations is what became of an answer's page references and quotations (@cite).
type Citations struct {
	Pages  int            `json:"pages,omitempty"`  // references that were checked
	Quotes int            `json:"quotes,omitempty"` // quotations that were checked
	Marked []cite.Finding `json:"marked,omitempty"` // those that failed, in order
}

// String summarises the checks.
func (c Citations) String() string {
	text := fmt.Sprintf("page references checked: %d", c.Pages)
	if c.Quotes > 0 {
		text += fmt.Sprintf(", quotations: %d", c.Quotes)
	}
	if len(c.Marked) > 0 {
		text += fmt.Sprintf(", marked: %d", len(c.Marked))
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

// shownOutputs are those of the run's earlier steps.
type shownOutputs []shownOutput

// readBy returns the pages behind the inputs and items of a work.
func (all shownOutputs) readBy(inputs []ResolvedInput, items []Item) []PagesShown {
	var pages []PagesShown
	for _, out := range all {
		reads := func(in ResolvedInput) bool {
			if out.kind == "variable" {
				return in.Variable == out.name
			}
			return slices.ContainsFunc(in.Files, func(f ResolvedFile) bool { return strings.EqualFold(f.Name, out.name) })
		}
		isItem := func(i Item) bool { return out.kind == "file" && strings.EqualFold(i.Name, out.name) }
		if slices.ContainsFunc(inputs, reads) || slices.ContainsFunc(items, isItem) {
			pages = addPages(pages, out.pages)
		}
	}
	return pages
}

// with adds the outputs of a work. The list itself is not changed, because other works look at it.
func (all shownOutputs) with(outputs []Output, pages []PagesShown) shownOutputs {
	all = slices.Clip(all)
	for _, out := range outputs {
		if len(pages) > 0 {
			all = append(all, shownOutput{out.Kind, out.Name, pages})
		}
	}
	return all
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
