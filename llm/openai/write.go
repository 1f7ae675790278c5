package openai

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (d dialect) form() llm.Form {
	return llm.Form{
		Accept: d.accept,
		Frame: func(mediaType string) (string, string) {
			return `{"type":"image_url","image_url":{"url":"data:` + mediaType + `;base64,`, `"}}`
		},
		Text: func(fallback string) any { return textPart{"text", fallback} },
	}
}

// write builds the request body.
func (p *Provider) write(r llm.Request) (*llm.Body, error) {
	drawing := llm.NewDrawing(r.Media, p.dialect.form())
	var messages []any
	if r.System != "" {
		messages = append(messages, message{"system", r.System})
	}
	for _, m := range r.Messages {
		if turn := p.turn(drawing, r.Model, m); turn != nil {
			messages = append(messages, turn)
		}
	}
	if len(messages) == 0 || r.System != "" && len(messages) == 1 {
		return nil, &llm.Error{Class: llm.ClassParameter, Provider: p.endpoint.Provider(), Message: "there is nothing to send: the prompt is empty"}
	}
	return drawing.Body(p.options(r, messages))
}

// options adds what the dialect allows. A map marshals with sorted members, so equal requests have equal bodies.
func (p *Provider) options(r llm.Request, messages []any) map[string]any {
	body := map[string]any{"model": r.Model, "messages": messages, "stream": true}
	if p.dialect.streamOptions {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	if p.dialect.usageInclude {
		body["usage"] = map[string]bool{"include": true}
	}
	if r.MaxOutputTokens > 0 {
		body[p.dialect.maxTokens] = r.MaxOutputTokens
	}
	if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	effort := r.Thinking
	switch effort {
	case "low", "medium", "high":
	case "off":
		effort = "none"
	default: // a number of tokens has no place here
		return body
	}
	switch p.dialect.effort {
	case "reasoning_effort":
		body["reasoning_effort"] = effort
	case "reasoning":
		body["reasoning"] = map[string]string{"effort": effort}
	}
	return body
}

// turn returns one message, nil when it has no content. Pictures stand in a user's turn alone. A single text is sent as
// a string, which the simplest servers take too.
func (p *Provider) turn(drawing *llm.Drawing, model string, m llm.Message) any {
	if raw, ok := llm.UnpackRaw(m.Raw, p.wire, model); ok && m.Role == llm.Assistant {
		return json.RawMessage(raw)
	}
	blocks := llm.SendableBlocks(m.Blocks)
	if m.Role == llm.Assistant {
		if text := content.Join(blocks); text != "" {
			return message{string(m.Role), text}
		}
		return nil
	}
	if len(blocks) == 1 && blocks[0].Type() == content.TypeText {
		return message{string(m.Role), blocks[0].Text()}
	}
	var parts []any
	for _, b := range blocks {
		if image, ok := b.(content.Image); ok {
			parts = append(parts, drawing.Image(image))
			continue
		}
		parts = append(parts, textPart{"text", b.Text()})
	}
	if parts == nil {
		return nil
	}
	return message{string(m.Role), parts}
}
