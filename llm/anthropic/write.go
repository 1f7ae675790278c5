package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// defaultMaxTokens is sent if the request sets no limit: the API requires one. 8192 is accepted by all models but the
// first Claude 3 ones.
const defaultMaxTokens = 8192

type messagesBody struct {
	Version      string    `json:"anthropic_version,omitempty"` // on Vertex AI, which has the model in its address
	Model        string    `json:"model,omitempty"`
	MaxTokens    int       `json:"max_tokens"`
	System       any       `json:"system,omitempty"` // a string, or with a cache mark a list of one text
	Messages     []message `json:"messages"`
	Stream       bool      `json:"stream"`
	Temperature  *float64  `json:"temperature,omitempty"`
	Thinking     *thinking `json:"thinking,omitempty"`
	OutputConfig *output   `json:"output_config,omitempty"`
	Tools        []tool    `json:"tools,omitempty"`
}

type message struct {
	Role    llm.Role `json:"role"`
	Content any      `json:"content"`
}

type textPart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text"`
	Cache *cacheMark `json:"cache_control,omitempty"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
}

type output struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// form is the API's form for pictures and documents. Citations apply to all documents of a request or to none; they name a
// document by the title it was sent with, an id of ours.
func form(cited bool) wire.Form {
	return wire.Form{
		Frame: func(mediaType string) (string, string) {
			return `{"type":"image","source":{"type":"base64","media_type":"` + mediaType + `","data":"`, `"}}`
		},
		Text: func(fallback string) any { return newText(fallback) },
		FrameDocument: func(mediaType, id string) (string, string) {
			citations := ""
			if cited {
				citations = `"title":"` + id + `","citations":{"enabled":true},`
			}
			return `{"type":"document",` + citations + `"source":{"type":"base64","media_type":"` + mediaType + `","data":"`, `"}}`
		},
	}
}

// write builds the request body.
func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	turns, drawing, err := p.endpoint.Draw(r, form(cites(r)))
	if err != nil {
		return nil, err
	}
	body := messagesBody{Model: r.Model, MaxTokens: r.MaxOutputTokens, Stream: true, Temperature: llm.ClaudeTemperature(r.Model, r.Temperature), Tools: tools(r.Tools)}
	if body.MaxTokens <= 0 {
		body.MaxTokens = defaultMaxTokens
	}
	think(&body, r.Model, r.Thinking)
	if p.endpoint.Kind() == vertexKind {
		body.Version, body.Model = vertexVersion, ""
	}
	system := demand(&body, r.System, r.Schema)
	if system != "" {
		body.System = system
	}
	ids := callIDs{}
	for _, t := range turns {
		if parts := turn(drawing, ids, r.Model, t); parts != nil {
			body.Messages = append(body.Messages, message{t.Role, parts})
		}
	}
	if len(body.Messages) == 0 {
		return nil, p.endpoint.Empty()
	}
	if r.Cache {
		keep(&body, system)
	}
	return drawing.Body(body)
}

// turn returns the content of one message, nil if it has none. Tool results come first in a user's turn.
func turn(drawing *wire.Drawing, ids callIDs, model string, t llm.Turn) any {
	if raw, ok := wire.UnpackRaw(t.Raw, wireName, model); ok {
		return echo(raw, t.Stale && llm.ClaudeBindsThinking(model))
	}
	var blocks []any
	for _, r := range t.Results {
		blocks = append(blocks, result(drawing, ids, r))
	}
	for _, b := range t.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			blocks = append(blocks, toolUse{"tool_use", ids.foreign(call.ID), call.Name, wire.CallObject(call.Input)})
			continue
		}
		blocks = append(blocks, part(drawing, b))
	}
	if blocks == nil {
		return nil
	}
	return blocks
}

// echo returns the service's own turn as it came, or without its reasoning; nil if nothing is left.
func echo(raw json.RawMessage, forgotten bool) any {
	if !forgotten {
		return raw
	}
	var blocks []json.RawMessage
	_ = json.Unmarshal(raw, &blocks) // only lists were stored
	blocks = slices.DeleteFunc(blocks, func(b json.RawMessage) bool {
		var kind struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(b, &kind) // a block is an object
		return kind.Type == "thinking" || kind.Type == "redacted_thinking"
	})
	if len(blocks) == 0 {
		return nil
	}
	return blocks
}

// part returns a text or a medium.
func part(drawing *wire.Drawing, b content.Block) any {
	if medium, ok := drawing.Media(b); ok {
		return medium
	}
	return newText(b.Text())
}

// think requests reasoning, or none. Its tokens are added to those for the answer. With it, the API refuses any temperature but the
// default.
func think(body *messagesBody, model, level string) {
	tokens, effort := llm.ClaudeThinking(model, level)
	kind := ""
	if level == "off" {
		kind, effort = llm.ClaudeOff(model)
	}
	switch {
	case kind != "":
		body.Thinking = &thinking{Type: kind}
	case effort != "":
		body.Thinking, body.OutputConfig, body.Temperature = &thinking{Type: "adaptive"}, &output{Effort: effort}, nil
	case tokens > 0:
		body.Thinking, body.Temperature = &thinking{"enabled", tokens}, nil
	}
	body.MaxTokens += llm.ThinkingRoom(model, level)
}
