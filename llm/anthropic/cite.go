package anthropic

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// cites reports whether citations are requested. The API refuses them beside a schema; and if the system prompt holds the
// schema, citations would only split the answer's JSON.
func cites(r llm.Request) bool { return r.Citations && len(r.Schema) == 0 }

// citation is one, of any of the API's kinds. From its page on citations: the end of a range is exclusive. Ranges of
// characters and blocks belong to documents that are not PDFs, and have no page.
type citation struct {
	CitedText string `json:"cited_text"`
	Title     string `json:"document_title"`
	Document  *int   `json:"document_index"`
	Start     int    `json:"start_page_number"`
	End       int    `json:"end_page_number"`
}

// quotes returns the citations of all texts. It skips those of anything but documents, such as web pages.
func (r *reader) quotes() []wire.Quote {
	var out []wire.Quote
	for _, b := range r.blocks {
		var list []json.RawMessage
		_ = json.Unmarshal(b.fields["citations"], &list) // null, absent or no list: none
		for _, raw := range list {
			var c citation
			if json.Unmarshal(raw, &c) != nil || c.Document == nil || *c.Document < 0 || b.to <= b.from {
				continue
			}
			out = append(out, wire.Quote{
				Start: b.from, End: b.to, Title: c.Title, Document: *c.Document, First: c.Start, Last: c.End - 1, Text: c.CitedText,
			})
		}
	}
	return out
}

// echoed returns a citation to send back: without file_id, which only answers have.
func echoed(citation json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(citation, &members) != nil || members["file_id"] == nil {
		return citation
	}
	delete(members, "file_id")
	data, err := json.Marshal(members)
	if err != nil { // cannot happen: they came from valid JSON
		return citation
	}
	return data
}
