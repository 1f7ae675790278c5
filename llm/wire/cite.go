package wire

import (
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Quote is a citation in a service's terms: it counts the documents of the request, and the pages that it was sent.
type Quote struct {
	Start, End  int    // the part of Response.Text, in bytes
	Title       string // under which the document went: the id that Form.FrameDocument got. It goes before Document
	Document    int    // which of the documents that went as files, from 0, for services that tell no title
	First, Last int    // pages of what was sent, from 1, both of them included; 0: not told
	Text        string // the passage
}

// Untold is a Quote.Document where the service says no number.
const Untold = -1

// Cite finds what the quotes of an answer are from, among the documents that the latest writing sent as files. One of a
// document that was not sent is left out, as is a page that it did not have. Titles go first because no service says
// whether its numbers count the documents in results of tools.
func (b *Body) Cite(quotes []Quote) []llm.Citation {
	b.mu.Lock()
	sent := slices.Clone(b.sent)
	b.mu.Unlock()
	var out []llm.Citation
	for _, q := range quotes {
		i := slices.IndexFunc(sent, func(m medium) bool { return m.id == q.Title })
		if i < 0 {
			i = q.Document
		}
		if i < 0 || i >= len(sent) {
			continue
		}
		document, ok := sent[i].Block.(content.Document)
		if !ok {
			continue
		}
		c := llm.Citation{Start: q.Start, End: q.End, Document: document.Name, Text: q.Text}
		if c.From = originalPage(document, q.First); c.From > 0 {
			c.To = max(c.From, originalPage(document, q.Last))
		}
		out = append(out, c)
	}
	return out
}

// originalPage is the page of the vault's document that a page of what was sent is; 0 when there is none. A file that was
// cut out of a document holds the pages of the range in their order, each once.
func originalPage(d content.Document, n int) int {
	pages, _ := d.PageNumbers() // of a range that is none nothing is known
	slices.Sort(pages)
	pages = slices.Compact(pages)
	switch {
	case n < 1 || len(pages) > 0 && n > len(pages) || len(pages) == 0 && d.PageRange != "":
		return 0
	case len(pages) == 0: // nobody knows how many there are
		return n
	}
	return pages[n-1]
}
