package openai

import (
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (d dialect) form() wire.Form {
	form := wire.Form{
		Frame: func(mediaType string) (string, string) {
			return `{"type":"image_url","image_url":{"url":"data:` + mediaType + `;base64,`, `"}}`
		},
		Text: func(fallback string) any { return textPart{"text", fallback} },
		FrameRecording: func(mediaType, format string) (string, string) {
			if strings.HasPrefix(mediaType, "video/") { // OpenRouter alone has a place for it
				return `{"type":"video_url","video_url":{"url":"data:` + mediaType + `;base64,`, `"}}`
			}
			return `{"type":"input_audio","input_audio":{"format":"` + format + `","data":"`, `"}}`
		},
	}
	switch d.document {
	case "file":
		form.FrameDocument = func(mediaType, id string) (string, string) {
			return `{"type":"file","file":{"filename":"` + id + `.pdf","file_data":"data:` + mediaType + `;base64,`, `"}}`
		}
	case "document_url":
		form.FrameDocument = func(mediaType, id string) (string, string) {
			return `{"type":"document_url","document_name":"` + id + `.pdf","document_url":"data:` + mediaType + `;base64,`, `"}`
		}
	}
	return form
}

// write builds the request body.
func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	turns, drawing, err := p.endpoint.Draw(r, p.dialect.form())
	if err != nil {
		return nil, err
	}
	format, system := p.dialect.demand(r.Schema, r.System)
	var messages []any
	if system != "" {
		messages = append(messages, message{"system", system})
	}
	before := len(messages)
	talk := talk{dialect: p.dialect, wire: p.endpoint.Kind(), model: r.Model, drawing: drawing, ids: map[string]string{}}
	for _, t := range turns {
		messages = append(messages, talk.turn(t)...)
	}
	if len(messages) == before {
		return nil, p.endpoint.Empty()
	}
	body := p.options(r, messages)
	if format != nil {
		body["response_format"] = format
	}
	if len(r.Tools) > 0 {
		body["tools"] = tools(r.Tools)
	}
	return drawing.Body(body)
}

// options adds what the dialect allows. A map marshals with sorted members, so equal requests have equal bodies.
func (p *Provider) options(r llm.Request, messages []any) map[string]any {
	body := map[string]any{"model": r.Model, "messages": messages, "stream": true}
	if p.dialect.streamOptions {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	if r.MaxOutputTokens > 0 {
		body[p.dialect.maxTokens] = r.MaxOutputTokens
	}
	if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	switch {
	case p.dialect.cacheKey == "prompt_cache_key" && r.Cache:
		body["prompt_cache_key"] = r.CacheKey()
	case p.dialect.cacheKey == "cache_control" && r.Cache && strings.HasPrefix(r.Model, "anthropic/"): // the others' caches need no asking
		body["cache_control"] = map[string]string{"type": "ephemeral"}
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
