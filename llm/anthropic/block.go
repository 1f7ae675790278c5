package anthropic

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm/wire"
)

var errNotUnderstood = errors.New("the answer is not what the Messages API sends")

// block is one content block of an answer. It keeps every field, known to us or not, so that the block can be echoed
// unchanged. The pieces of a text are joined once, at the end.
type block struct {
	fields  map[string]json.RawMessage
	growing map[string]*strings.Builder
	input   strings.Builder // pieces of a tool call's input: JSON text

	from, to int // its part of the answer's text, in bytes
}

func newBlock(fields map[string]json.RawMessage) *block {
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	return &block{fields: fields, growing: map[string]*strings.Builder{}}
}

// add applies a delta. Whatever its kind: texts are appended to the field of their name, citations gathered, partial JSON
// becomes the input, anything else replaces the field.
func (b *block) add(delta map[string]json.RawMessage) {
	for name, value := range delta {
		var piece string
		isText := json.Unmarshal(value, &piece) == nil && len(value) > 0 && value[0] == '"'
		switch {
		case name == "type":
		case name == "partial_json":
			b.input.WriteString(piece)
		case name == "citation":
			b.fields["citations"] = appendRaw(b.fields["citations"], echoed(value))
		case isText:
			b.grow(name).WriteString(piece)
		default:
			b.fields[name] = value
		}
	}
}

// grow returns the builder of a text field, begun with what the block came with.
func (b *block) grow(name string) *strings.Builder {
	if b.growing[name] == nil {
		b.growing[name] = &strings.Builder{}
		b.growing[name].WriteString(text(b.fields[name]))
	}
	return b.growing[name]
}

// raw returns the block to echo.
func (b *block) raw() (json.RawMessage, error) {
	for name, builder := range b.growing {
		value, err := json.Marshal(builder.String())
		if err != nil {
			return nil, err
		}
		b.fields[name] = value
	}
	if input := b.input.String(); input != "" {
		b.fields["input"] = wire.CallObject(json.RawMessage(input)) // a call that was cut off goes back without arguments
	}
	return json.Marshal(b.fields)
}

// known converts the block; nil if we have no such block. Call it after raw.
func (b *block) known() content.Block {
	switch text(b.fields["type"]) {
	case "text":
		return content.Text{Value: text(b.fields["text"])}
	case "thinking":
		return content.Thinking{Value: text(b.fields["thinking"]), Signature: text(b.fields["signature"])}
	case "redacted_thinking":
		return content.Thinking{Redacted: text(b.fields["data"])}
	case "tool_use":
		input := b.input.String()
		if input == "" {
			input = string(b.fields["input"])
		}
		return content.ToolCall{ID: text(b.fields["id"]), Name: text(b.fields["name"]), Input: wire.CallInput(input)}
	}
	return nil
}

func appendRaw(list, value json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	_ = json.Unmarshal(list, &all) // null or absent: an empty list
	data, err := json.Marshal(append(all, value))
	if err != nil { // cannot happen: both came from valid JSON
		return list
	}
	return data
}
