package gemini

import (
	"encoding/json"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// part is one part of an answer. It keeps every field as it came, known to us or not, so that it can go back unchanged.
type part struct {
	fields  map[string]json.RawMessage
	text    strings.Builder // of a part that holds text
	hasText bool
	thought bool
	plain   bool // only text: the next plain part continues it
}

// parts collects the parts of an answer. A text arrives in pieces, each a part, which are joined. A part with a signature is
// not joined: the signature is only for it.
type parts []*part

// add takes a part and returns what it adds to the answer's text.
func (ps *parts) add(fields map[string]json.RawMessage) (answer string) {
	p := &part{fields: fields, plain: true}
	var piece string
	if raw, ok := fields["text"]; ok && json.Unmarshal(raw, &piece) == nil {
		p.hasText = true
		p.text.WriteString(piece)
	}
	_ = json.Unmarshal(fields["thought"], &p.thought) // absent is false
	for name := range fields {
		p.plain = p.plain && (name == "text" || name == "thought")
	}
	p.plain = p.plain && p.hasText
	if last := len(*ps) - 1; p.plain && last >= 0 && (*ps)[last].plain && (*ps)[last].thought == p.thought {
		(*ps)[last].text.WriteString(piece)
	} else if len(fields) > 0 {
		*ps = append(*ps, p)
	}
	if p.thought {
		return ""
	}
	return piece
}

// raw returns the turn to echo.
func (ps parts) raw() json.RawMessage {
	list := make([]map[string]json.RawMessage, 0, len(ps))
	for _, p := range ps {
		if p.hasText {
			p.fields["text"] = quote(p.text.String())
		}
		list = append(list, p.fields)
	}
	data, err := json.Marshal(map[string]any{"role": "model", "parts": list})
	if err != nil { // cannot happen: all fields came from valid JSON
		return nil
	}
	return data
}

// blocks converts the parts; what we have no block for is only in the raw turn. id makes one for a call without.
func (ps parts) blocks(id func(place int) string) (blocks []content.Block, calls int) {
	for _, p := range ps {
		switch {
		case p.thought:
			var signature string
			_ = json.Unmarshal(p.fields["thoughtSignature"], &signature) // absent is ""
			blocks = append(blocks, content.Thinking{Value: p.text.String(), Signature: signature})
		case p.hasText && p.text.Len() > 0:
			blocks = append(blocks, content.Text{Value: p.text.String()})
		case p.fields["functionCall"] != nil:
			var c call
			_ = json.Unmarshal(p.fields["functionCall"], &c) // what is no call has no name, which no tool has either
			if c.ID == "" {
				c.ID = id(calls)
			}
			calls++
			blocks = append(blocks, content.ToolCall{ID: c.ID, Name: c.Name, Input: wire.CallInput(string(c.Args))})
		}
	}
	return blocks, calls
}

func quote(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil { // cannot happen: a string always has a JSON form
		return json.RawMessage(`""`)
	}
	return data
}
