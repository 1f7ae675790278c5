package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/vaultflow/vaultflow/llm"
)

// Anthropic is the Messages API.
type Anthropic struct{}

// Path implements Wire.
func (Anthropic) Path() string { return "/v1/messages" }

type anthropicBody struct {
	Model       string            `json:"model"`
	MaxTokens   int               `json:"max_tokens"`
	System      string            `json:"system"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	Thinking    *anthropicThought `json:"thinking"`
	Output      *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type anthropicThought struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// Read implements Wire.
func (Anthropic) Read(header http.Header, body []byte) ([]Part, error) {
	if header.Get("X-Api-Key") != Key || header.Get("Anthropic-Version") == "" {
		return nil, errors.New("headers x-api-key and anthropic-version are required")
	}
	var b anthropicBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Model == "" || b.MaxTokens < 1 || !b.Stream || len(b.Messages) == 0:
		return nil, errors.New("model, max_tokens, stream and messages are required")
	case b.Messages[0].Role != "user":
		return nil, errors.New("first message must use the user role")
	case b.Thinking != nil && b.Thinking.Type == "enabled" && (b.Thinking.Budget < 1024 || b.Thinking.Budget >= b.MaxTokens || b.Temperature != nil):
		return nil, errors.New("budget_tokens must be at least 1024 and below max_tokens, without a temperature")
	}
	var parts []Part
	for i, m := range b.Messages {
		var blocks []json.RawMessage
		if err := json.Unmarshal(m.Content, &blocks); err != nil || len(blocks) == 0 {
			return nil, fmt.Errorf("messages.%d: content must be a non-empty array", i)
		}
		for _, raw := range blocks {
			part, err := anthropicPart(m.Role, raw)
			if err != nil {
				return nil, fmt.Errorf("messages.%d: %w", i, err)
			}
			if m.Role == "user" {
				parts = append(parts, part)
			}
		}
	}
	return parts, nil
}

func anthropicPart(role string, raw json.RawMessage) (Part, error) {
	switch kind := typeOf(raw); {
	case kind == "text":
		var t struct {
			Type      string            `json:"type"`
			Text      string            `json:"text"`
			Citations []json.RawMessage `json:"citations"`
		}
		if err := strict(raw, &t); err != nil {
			return Part{}, err
		}
		return Part{Text: t.Text}, notBlank(t.Text)
	case kind == "image" && role == "user":
		var i struct {
			Type   string `json:"type"`
			Source struct {
				Type      string `json:"type"`
				MediaType string `json:"media_type"`
				Data      string `json:"data"`
			} `json:"source"`
		}
		if err := strict(raw, &i); err != nil {
			return Part{}, err
		}
		part, err := picture(i.Source.Data, "image/png", "image/jpeg", "image/gif", "image/webp")
		if err == nil && (i.Source.Type != "base64" || i.Source.MediaType != part.MediaType) {
			err = fmt.Errorf("image does not match the provided media type %s", i.Source.MediaType)
		}
		return part, err
	case role == "assistant" && (kind == "thinking" || kind == "redacted_thinking" || kind == "tool_use"):
		return Part{}, nil
	default:
		return Part{}, fmt.Errorf("unexpected block %q of role %s", kind, role)
	}
}

// Answer implements Wire.
func (Anthropic) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	event := func(name string, v map[string]any) {
		v["type"] = name
		send(w, "event: %s\ndata: %s\n\n", name, toJSON(v))
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-1", "content": []any{},
		"usage": map[string]any{"input_tokens": a.Input - a.Cached, "cache_read_input_tokens": a.Cached, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}})
	event("ping", map[string]any{})
	index := 0
	if a.Thinking != "" {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "thinking", "thinking": "", "signature": ""}})
		event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "thinking_delta", "thinking": a.Thinking}})
		event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "signature_delta", "signature": "c2lnbmVk"}})
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	deltas := a.Deltas
	if a.Refusal != "" {
		deltas = []string{a.Refusal}
	}
	if len(deltas) > 0 {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "text", "text": ""}})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "text_delta", "text": d}})
			between(a)
		}
		if a.Broken {
			return
		}
		event("content_block_stop", map[string]any{"index": index})
	}
	stop := map[llm.Stop]string{llm.StopLength: "max_tokens", llm.StopRefusal: "refusal", llm.StopToolUse: "tool_use"}[a.Stop]
	if stop == "" {
		stop = "end_turn"
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": a.Output}})
	event("message_stop", map[string]any{})
}

// Fail implements Wire.
func (Anthropic) Fail(w http.ResponseWriter, status int, code, message string) {
	fail(w, status, map[string]any{"type": "error", "error": map[string]any{"type": code, "message": message}, "request_id": "req_1"})
}

func between(a Answer) {
	if a.Between != nil {
		a.Between()
	}
}
