package ollama

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
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
	drawing *wire.Drawing
	model   string
}

// turn returns a message for each tool result, or for each block.
func (t *talk) turn(turn llm.Turn) []any {
	if turn.Role == llm.Assistant {
		return t.answer(turn)
	}
	var messages []any
	for _, r := range turn.Results {
		messages = append(messages, toolMessage{textMessage{"tool", escape(r.Text())}, r.Name})
	}
	for _, b := range turn.Blocks {
		if medium, ok := t.drawing.Media(b); ok {
			messages = append(messages, medium)
			continue
		}
		messages = append(messages, textMessage{string(llm.User), escape(b.Text())})
	}
	return messages
}

// answer returns an assistant's turn: unchanged if it came from here, else its texts and calls.
func (t *talk) answer(turn llm.Turn) []any {
	var calls []calling
	var said []content.Block
	for _, b := range turn.Blocks {
		c, ok := b.(content.ToolCall)
		if !ok {
			said = append(said, b)
			continue
		}
		var one calling
		one.Function.Name, one.Function.Arguments = c.Name, json.RawMessage(escape(string(wire.CallObject(c.Input))))
		calls = append(calls, one)
	}
	if raw, ok := wire.UnpackRaw(turn.Raw, wireName, t.model); ok {
		return []any{json.RawMessage(escape(string(raw)))} // the marks are plain letters in JSON too
	}
	text := textMessage{string(llm.Assistant), escape(content.Join(said))}
	switch {
	case len(calls) > 0:
		return []any{callingMessage{text, calls}}
	case text.Content != "":
		return []any{text}
	}
	return nil
}
