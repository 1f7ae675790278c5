package prompt

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
)

// Deferred is a chunk that the prompt has no room for. Blocks are what stands in its place when it is asked for: its
// text, or its label and the picture.
type Deferred struct {
	ID     string
	Line   Line
	Blocks []content.Block
}

// storedDeferred is the JSON form of a Deferred.
type storedDeferred struct {
	ID     string          `json:"id"`
	Line   Line            `json:"line"`
	Blocks json.RawMessage `json:"blocks"`
}

// MarshalJSON writes the stored form: names and digests, never bytes of media.
func (d Deferred) MarshalJSON() ([]byte, error) {
	blocks, err := content.MarshalBlocks(d.Blocks)
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedDeferred{ID: d.ID, Line: d.Line, Blocks: blocks})
}

// UnmarshalJSON reads the stored form.
func (d *Deferred) UnmarshalJSON(data []byte) error {
	var s storedDeferred
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	blocks, err := content.UnmarshalBlocks(s.Blocks)
	*d = Deferred{ID: s.ID, Line: s.Line, Blocks: blocks}
	return err
}
