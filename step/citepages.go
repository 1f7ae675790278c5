package step

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/step/cite"
	"github.com/vaultflow/vaultflow/workflow"
)

// Cites reports whether a step of the plan has @cite, so that the pages that its steps are shown are recorded.
func Cites(s Context) bool {
	return slices.ContainsFunc(s.Plan.Steps, func(one workflow.Step) bool { return one.Cite != nil })
}

const citePages = `How to cite pages:
- Behind each statement, name the pages of the documents that it rests on, in square brackets: [Workbook, p. 131], [Workbook, pp. 12–14], [Workbook, pp. 3, 7; Reader, p. iv]. The name is that of the document's file or folder; of two with the same name, write the folder too: [Physics/Workbook, p. 131].
- The page is what is printed on it: of "page 137 of 600, printed as 131" write p. 131. Otherwise it is the page's number: of "page 137 of 600" write p. 137. Where two pages are printed alike, count them: p. #137.
- Cite only pages that you were shown. Write no links to pages: they are made from the brackets.`

const citeQuotes = `
- Put words that you take from a page between “ and ”, exactly as they are there, with the brackets right behind: “…” [Workbook, p. 131]. Mark what you leave out with …. Each quotation is looked up on its page.`

// citeGuide returns the system prompt's part about @cite.
func citeGuide(c *directives.Cite) string {
	switch {
	case c == nil:
		return ""
	case c.Mode == directives.CiteQuotes:
		return citePages + citeQuotes
	}
	return citePages
}

// cited returns an answer with links for its page references, for an output with a mode.
func (st *staging) cited(ctx context.Context, target, text string, output directives.Output, mode directives.WriteMode) (string, error) {
	c := st.s.Step.Cite
	if c == nil || st.shelf == nil {
		return text, nil
	}
	st.shelf.output = ""
	if output.Target.Scheme == directives.SchemeFile {
		if place, _, err := st.a.outputs.place(ctx, st.s, target, output, mode); err == nil { // writing it reports the error
			st.shelf.output = place.Name
		}
	}
	var total engine.Citations
	link := func(text string) string {
		got := cite.Answer(text, st.shelf, c.Mode == directives.CiteQuotes)
		total.Pages, total.Quotes = total.Pages+got.Pages, total.Quotes+got.Quotes
		for _, f := range got.Findings {
			total.Marked = append(total.Marked, cite.Finding{Text: oneLine(f.Text), Mark: f.Mark, Reason: oneLine(f.Reason)})
		}
		return got.Text
	}
	var err error
	if mode.Mode == directives.ModeFrontmatter {
		text, err = inStrings(text, link)
	} else {
		text = link(text)
	}
	st.citations = total
	return text, err
}

// inStrings changes the strings of a JSON text.
func inStrings(text string, change func(string) string) (string, error) {
	value, err := note.ReadJSON(note.Unfenced(text))
	if err != nil {
		return text, nil //nolint:nilerr // writing it reports the error
	}
	data, err := note.MarshalJSON(note.EachString(value, change))
	return string(data), err
}
