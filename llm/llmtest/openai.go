package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// OpenAI is Chat Completions. Kind is the dialect whose members are allowed; "" is OpenAI's own.
type OpenAI struct{ Kind string }

// Path implements Wire.
func (OpenAI) Path() string { return "/v1/chat/completions" }

type openaiBody struct {
	Model         string          `json:"model"`
	Stream        bool            `json:"stream"`
	Temperature   *float64        `json:"temperature"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Effort        string          `json:"reasoning_effort"`
	Reasoning     json.RawMessage `json:"reasoning"`
	Usage         json.RawMessage `json:"usage"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []openaiMessage `json:"messages"`
}

type openaiMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"`
	Reasoning json.RawMessage `json:"reasoning_content"`
	Extra     json.RawMessage `json:"extra_content"` // compatible services send such members and want them back
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// Read implements Wire.
func (o OpenAI) Read(header http.Header, body []byte) ([]Part, error) {
	if header.Get("Authorization") != "Bearer "+Key {
		return nil, errors.New("you didn't provide an API key")
	}
	var b openaiBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	if err := o.members(b); err != nil {
		return nil, err
	}
	var parts []Part
	for i, m := range b.Messages {
		more, err := m.parts()
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role == "user" {
			parts = append(parts, more...)
		}
	}
	return parts, nil
}

// members refuses what this dialect's schema does not have.
func (o OpenAI) members(b openaiBody) error {
	own := o.Kind == "" || o.Kind == "openai_chat"
	switch {
	case b.Model == "" || !b.Stream || len(b.Messages) == 0:
		return errors.New("model, stream and messages are required")
	case o.Kind == "mistral" && (b.StreamOptions != nil || b.Effort != "" || b.MaxCompletion != 0):
		return errors.New("extra inputs are not permitted")
	case own && b.MaxTokens != 0:
		return errors.New("unsupported parameter: 'max_tokens'")
	case o.Kind != "openrouter" && (b.Usage != nil || b.Reasoning != nil):
		return errors.New("unknown parameter: 'usage' or 'reasoning'")
	case own && (b.StreamOptions == nil || !b.StreamOptions.IncludeUsage):
		return errors.New("the test wants usage in the stream")
	}
	return nil
}

func (m openaiMessage) parts() ([]Part, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []Part{{Text: text}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(m.Content, &list); err != nil || len(list) == 0 {
		return nil, errors.New("content must be a string or a non-empty array")
	}
	var parts []Part
	for _, raw := range list {
		part, err := m.part(raw)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (m openaiMessage) part(raw json.RawMessage) (Part, error) {
	switch kind := typeOf(raw); {
	case kind == "text":
		var t struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		err := strict(raw, &t)
		return Part{Text: t.Text}, err
	case kind == "image_url" && m.Role == "user":
		var i struct {
			Type     string `json:"type"`
			ImageURL struct {
				URL string `json:"url"`
			} `json:"image_url"`
		}
		if err := strict(raw, &i); err != nil {
			return Part{}, err
		}
		head, encoded, ok := strings.Cut(i.ImageURL.URL, ";base64,")
		if !ok {
			return Part{}, errors.New("not a data URI")
		}
		part, err := picture(encoded, "image/png", "image/jpeg", "image/gif", "image/webp")
		if err == nil && head != "data:"+part.MediaType {
			err = fmt.Errorf("%s holds %s", head, part.MediaType)
		}
		return part, err
	default:
		return Part{}, fmt.Errorf("content blocks are expected to be either text or image_url type, got %q from %s", kind, m.Role)
	}
}

// Answer implements Wire.
func (o OpenAI) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		send(w, "data: %s\n\n", toJSON(map[string]any{
			"id": "c1", "object": "chat.completion.chunk", "model": "gpt-test-1", "usage": nil,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	chunk(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
	if a.Thinking != "" {
		chunk(map[string]any{"reasoning_content": a.Thinking}, nil)
	}
	if a.Refusal != "" {
		chunk(map[string]any{"refusal": a.Refusal}, nil)
	}
	for _, d := range a.Deltas {
		chunk(map[string]any{"content": d}, nil)
		between(a)
	}
	if a.Broken {
		return
	}
	finish := map[llm.Stop]string{llm.StopLength: "length", llm.StopRefusal: "content_filter", llm.StopToolUse: "tool_calls"}[a.Stop]
	if finish == "" || a.Refusal != "" {
		finish = "stop"
	}
	chunk(map[string]any{}, finish)
	send(w, "data: %s\n\ndata: [DONE]\n\n", toJSON(map[string]any{
		"id": "c1", "model": "gpt-test-1", "choices": []any{},
		"usage": map[string]any{"prompt_tokens": a.Input, "completion_tokens": a.Output, "total_tokens": a.Input + a.Output, "prompt_tokens_details": map[string]any{"cached_tokens": a.Cached}},
	}))
}

// Fail implements Wire.
func (OpenAI) Fail(w http.ResponseWriter, status int, code, message string) {
	fail(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": code}})
}
