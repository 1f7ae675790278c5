package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/vaultflow/vaultflow/llm/wire"
)

// citation is a citation of an answer. The location is a union; a place in a document's text has the same shape. The service
// sometimes names a document only by its title, with an empty location.
type citation struct {
	Title  string      `json:"title"`
	Source []textBlock `json:"sourceContent"`

	Location struct {
		Page  *place `json:"documentPage"`
		Char  *place `json:"documentChar"`
		Chunk *place `json:"documentChunk"`
		Web   struct {
			URL string `json:"url"`
		} `json:"web"`
		Search json.RawMessage `json:"searchResultLocation"`
	} `json:"location"`
}

type place struct {
	Document *int `json:"documentIndex"`
	Start    int  `json:"start"`
}

// quotes returns the citations of all texts, with the page on which a passage begins only: the service model does not
// define whether the end of a range is inclusive.
func (r *reader) quotes() []wire.Quote {
	var out []wire.Quote
	for _, i := range r.order {
		b := r.blocks[i]
		for _, raw := range b.citations {
			var c citation
			if json.Unmarshal(raw, &c) != nil || c.Location.Web.URL != "" || len(c.Location.Search) > 0 || b.to <= b.from {
				continue
			}
			q := wire.Quote{Start: b.from, End: b.to, Document: wire.Untold, Title: c.Title}
			for _, at := range []*place{c.Location.Page, c.Location.Char, c.Location.Chunk} {
				if at != nil && at.Document != nil && *at.Document >= 0 {
					q.Document = *at.Document
				}
			}
			if page := c.Location.Page; page != nil {
				q.First, q.Last = page.Start, page.Start
			}
			var passage strings.Builder
			for _, s := range c.Source {
				passage.WriteString(s.Text)
			}
			q.Text = passage.String()
			out = append(out, q)
		}
	}
	return out
}
