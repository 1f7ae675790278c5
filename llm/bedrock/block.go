package bedrock

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// delta is what is added to a block.
type delta struct {
	Text    string `json:"text"`
	ToolUse struct {
		Input string `json:"input"` // a piece of JSON text
	} `json:"toolUse"`
	Reasoning struct {
		Text      *string `json:"text"`
		Signature string  `json:"signature"`
		Redacted  []byte  `json:"redactedContent"`
	} `json:"reasoningContent"`
	Citation json.RawMessage `json:"citation"`
}

// block is one content block of an answer as it grows.
type block struct {
	text, input        strings.Builder
	call               map[string]json.RawMessage // of a tool's call: what it began with, every field
	thought, signature strings.Builder
	reasons            bool
	redacted           []byte
	citations          []json.RawMessage

	from, to int // its part of the answer's text, in bytes
}

// add applies a delta.
func (b *block) add(d delta) {
	b.text.WriteString(d.Text)
	b.input.WriteString(d.ToolUse.Input)
	if d.Reasoning.Text != nil || d.Reasoning.Signature != "" {
		b.reasons = true
	}
	if d.Reasoning.Text != nil {
		b.thought.WriteString(*d.Reasoning.Text)
	}
	b.signature.WriteString(d.Reasoning.Signature)
	b.redacted = append(b.redacted, d.Reasoning.Redacted...)
	if len(d.Citation) > 0 {
		b.citations = append(b.citations, d.Citation)
	}
}

type textBlock struct {
	Text string `json:"text"`
}

type toolUseBlock struct {
	ToolUse map[string]json.RawMessage `json:"toolUse"`
}

type reasoningBlock struct {
	Reasoning reasoning `json:"reasoningContent"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitempty"`
	Redacted []byte         `json:"redactedContent,omitempty"`
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

type citedBlock struct {
	Cited struct {
		Content   []textBlock       `json:"content"`
		Citations []json.RawMessage `json:"citations"`
	} `json:"citationsContent"`
}

// acceptedID is the service model's pattern for the id of a call.
var acceptedID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)

// finished returns the block to echo, and the converted one. Both are nil for a blank block, which the service would refuse,
// and for unknown kinds.
func (b *block) finished() (raw any, known content.Block) {
	switch {
	case b.call != nil:
		b.call["input"] = wire.CallObject(json.RawMessage(b.input.String())) // a call that was cut off goes back without arguments
		return toolUseBlock{b.call}, content.ToolCall{
			ID: text(b.call["toolUseId"]), Name: text(b.call["name"]), Input: wire.CallInput(b.input.String()),
		}
	case len(b.redacted) > 0:
		r := reasoning{Redacted: b.redacted}
		data, _ := json.Marshal(r.Redacted) // bytes always have a JSON form
		return reasoningBlock{r}, content.Thinking{Redacted: text(data)}
	case b.reasons:
		said := reasoningText{b.thought.String(), b.signature.String()}
		return reasoningBlock{reasoning{Text: &said}}, content.Thinking{Value: said.Text, Signature: said.Signature}
	case strings.TrimSpace(b.text.String()) == "":
		return nil, nil
	case len(b.citations) > 0:
		var cited citedBlock
		cited.Cited.Content, cited.Cited.Citations = []textBlock{{b.text.String()}}, b.citations
		return cited, content.Text{Value: b.text.String()}
	}
	return textBlock{b.text.String()}, content.Text{Value: b.text.String()}
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}
