package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/vaultflow/vaultflow/llm"
)

// Ollama is its native chat. Unlike the real server, which ignores them, it refuses unknown members.
type Ollama struct{}

// Path implements Wire.
func (Ollama) Path() string { return "/api/chat" }

// Aside answers /api/show: a model with vision and a window of 32,768 tokens.
func (Ollama) Aside(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || r.URL.Path != "/api/show" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write([]byte(`{"capabilities":["completion","vision"],"model_info":{"general.architecture":"qwen25vl","qwen25vl.context_length":32768}}`))
	return err == nil
}

type ollamaBody struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Truncate *bool           `json:"truncate"`
	Shift    *bool           `json:"shift"`
	Think    json.RawMessage `json:"think"`
	Options  struct {
		NumCtx      int      `json:"num_ctx"`
		NumPredict  int      `json:"num_predict"`
		Temperature *float64 `json:"temperature"`
	} `json:"options"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   string          `json:"content"`
		Thinking  string          `json:"thinking"`
		Images    []string        `json:"images"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	} `json:"messages"`
}

var mark = regexp.MustCompile(`\[img(-\d+)?\]`)

// Read implements Wire. Pictures of a message come before its text, as in Ollama's prompt.
func (Ollama) Read(_ http.Header, body []byte) ([]Part, error) {
	var b ollamaBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Model == "" || len(b.Messages) == 0:
		return nil, errors.New("model and messages are required")
	case b.Truncate == nil || *b.Truncate || b.Shift == nil || *b.Shift:
		return nil, errors.New("the test wants truncate and shift false")
	}
	var parts []Part
	for i, m := range b.Messages {
		if mark.MatchString(m.Content) {
			return nil, fmt.Errorf("messages[%d]: invalid image index", i)
		}
		if m.Role != "user" {
			continue
		}
		for _, encoded := range m.Images {
			part, err := picture(encoded, "image/png", "image/jpeg", "image/webp")
			if err != nil {
				return nil, fmt.Errorf("messages[%d]: %w", i, err)
			}
			parts = append(parts, part)
		}
		if m.Content != "" {
			parts = append(parts, Part{Text: m.Content})
		}
	}
	return parts, nil
}

// Answer implements Wire.
func (Ollama) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	line := func(message map[string]any, more map[string]any) {
		message["role"] = "assistant"
		v := map[string]any{"model": "test:1b", "created_at": "2026-11-01T00:00:00Z", "message": message, "done": false}
		for key, value := range more {
			v[key] = value
		}
		send(w, "%s\n", toJSON(v))
	}
	if a.Thinking != "" {
		line(map[string]any{"content": "", "thinking": a.Thinking}, nil)
	}
	for _, d := range a.Deltas {
		line(map[string]any{"content": d}, nil)
		between(a)
	}
	if a.Broken {
		return
	}
	reason := "stop"
	if a.Stop == llm.StopLength {
		reason = "length"
	}
	line(map[string]any{"content": ""}, map[string]any{"done": true, "done_reason": reason, "prompt_eval_count": a.Input, "eval_count": a.Output})
}

// Fail implements Wire.
func (Ollama) Fail(w http.ResponseWriter, status int, _, message string) {
	fail(w, status, map[string]any{"error": message})
}
