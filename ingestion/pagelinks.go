package ingestion

import (
	"regexp"
	"strconv"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
)

// pageLink is a link to another page of the document, as the layout writes it: to the page's block in the note.
var pageLink = regexp.MustCompile(`\[((?:\\.|[^\[\]\\])*)\]\(#\^p(\d{1,7})\)`)

// pageLinks makes links to pages lead from the file of a page to the note. The text of those to pages that were not asked for stays.
func (f pageFiles) pageLinks(text string) string {
	asked, err := choose.ParsePages(f.w.set.Asked.Pages)
	if err != nil {
		panic(err) // Settings.check has read it
	}
	return pageLink.ReplaceAllStringFunc(text, func(s string) string {
		m := pageLink.FindStringSubmatch(s)
		if n, err := strconv.Atoi(m[2]); err != nil || !asked.Has(n) {
			return m[1]
		}
		return "[" + m[1] + indexnote.ToNote + m[2] + ")"
	})
}
