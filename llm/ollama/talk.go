package ollama

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func tools(list []llm.Tool) []tool {
	var out []tool
	for _, t := range list {
		out = append(out, tool{"function", function{t.Name, t.Description, t.ParametersOrNone()}})
	}
	return out
}

type callingMessage struct {
	textMessage
	ToolCalls []calling `json:"tool_calls"`
}

type calling struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type toolMessage struct {
	textMessage
	ToolName string `json:"tool_name"`
}

// talk writes the messages of one request.
type talk struct {
	drawing *llm.Drawing
	model   string
	files   llm.FileIDs
	names   map[string]string // of the tools that were called, by call: results carry the name
}

func (t *talk) turn(m llm.Message) []any {
	if m.Role == llm.Assistant {
		return t.answer(m)
	}
	return t.question(m.Blocks)
}

// answer is an assistant's turn: as it came when it came from here, else its texts and calls.
func (t *talk) answer(m llm.Message) []any {
	var calls []calling
	var said []content.Block
	for _, b := range m.Blocks {
		c, ok := b.(content.ToolCall)
		if !ok {
			said = append(said, b)
			continue
		}
		t.names[c.ID] = c.Name
		var one calling
		one.Function.Name, one.Function.Arguments = c.Name, json.RawMessage(escape(string(llm.CallObject(c.Input))))
		calls = append(calls, one)
	}
	if raw, ok := llm.UnpackRaw(m.Raw, wire, t.model); ok {
		return []any{json.RawMessage(escape(string(raw)))} // the marks are plain letters in JSON too
	}
	text := textMessage{string(llm.Assistant), escape(content.Join(t.drawing.Sendable(said)))}
	switch {
	case len(calls) > 0:
		return []any{callingMessage{text, calls}}
	case text.Content != "":
		return []any{text}
	}
	return nil
}

// question is a user's turn: a message for each tool result, in the order of the calls, then the files that they speak of
// and whatever else was said, each part as a message of its own.
func (t *talk) question(blocks []content.Block) []any {
	var messages []any
	var said, rest []content.Block
	for _, b := range blocks {
		result, ok := b.(content.ToolResult)
		if !ok {
			rest = append(rest, b)
			continue
		}
		text, files := t.files.Split(t.drawing.Sendable(result.Parts()))
		messages = append(messages, toolMessage{textMessage{"tool", escape(text)}, t.names[result.CallID]})
		said = append(said, files...)
	}
	for _, b := range append(said, t.drawing.Sendable(rest)...) {
		if medium, ok := t.drawing.Media(b); ok {
			messages = append(messages, medium)
			continue
		}
		messages = append(messages, textMessage{string(llm.User), escape(b.Text())})
	}
	return messages
}
