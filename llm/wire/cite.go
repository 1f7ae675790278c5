package wire

import (
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Quote is a citation in a service's terms: it counts the documents of the request, and the pages that it was sent.
type Quote struct {
	Start, End  int    // the part of Response.Text, in bytes
	Title       string // of the document as sent: the id passed to Form.FrameDocument. It takes precedence over Document
	Document    int    // index among the documents sent as files, for services without titles
	First, Last int    // pages of what was sent, from 1, inclusive; 0: unknown
	Text        string // the passage
}

// Untold is the Quote.Document of a service without numbers.
const Untold = -1

// Cite resolves the quotes of an answer to the documents that were sent as files. It drops quotes of other documents, and
// pages that a document does not have. Titles take precedence because no service documents whether its numbers count the
// documents in tool results.
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

// originalPage returns the page of the vault's document for a page of what was sent, or 0. A file cut out of a document
// holds the pages of the range in order, each once.
func originalPage(d content.Document, n int) int {
	pages, _ := d.PageNumbers() // none of an invalid range
	slices.Sort(pages)
	pages = slices.Compact(pages)
	switch {
	case n < 1 || len(pages) > 0 && n > len(pages) || len(pages) == 0 && d.PageRange != "":
		return 0
	case len(pages) == 0: // their number is unknown
		return n
	}
	return pages[n-1]
}
