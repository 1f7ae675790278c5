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
type Ollama struct {
	Capabilities []string // what /api/show tells of every model; nil: completion and vision
}

// Path implements Wire.
func (Ollama) Path() string { return "/api/chat" }

// Aside answers /api/show: a window of 32,768 tokens and the capabilities.
func (o Ollama) Aside(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || r.URL.Path != "/api/show" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	can := o.Capabilities
	if can == nil {
		can = []string{"completion", "vision"}
	}
	_, err := w.Write([]byte(toJSON(map[string]any{
		"capabilities": can, "model_info": map[string]any{"general.architecture": "qwen25vl", "qwen25vl.context_length": 32768},
	})))
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
	Format json.RawMessage `json:"format"`
	Tools  []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Messages []ollamaMessage `json:"messages"`
}

type ollamaMessage struct {
	Role      string   `json:"role"`
	Content   string   `json:"content"`
	Thinking  string   `json:"thinking"`
	Images    []string `json:"images"`
	ToolName  string   `json:"tool_name"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Index     int                        `json:"index"`
			Name      string                     `json:"name"`
			Arguments map[string]json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

var mark = regexp.MustCompile(`\[img(-\d+)?\]`)

// Read implements Wire. Pictures of a message come before its text, as in Ollama's prompt.
func (Ollama) Read(_ http.Header, body []byte) ([]Part, error) {
	var b ollamaBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	if err := Published("ollama", body); err != nil {
		return nil, err
	}
	switch {
	case b.Model == "" || len(b.Messages) == 0:
		return nil, errors.New("model and messages are required")
	case b.Truncate == nil || *b.Truncate || b.Shift == nil || *b.Shift:
		return nil, errors.New("the test wants truncate and shift false")
	}
	tools := declared{}
	for _, t := range b.Tools {
		if err := tools.add(t.Function.Name, t.Function.Parameters); err != nil || t.Type != "function" {
			return nil, fmt.Errorf("tools: %s of type %q: %w", t.Function.Name, t.Type, err)
		}
	}
	if len(b.Format) > 0 && string(b.Format) != `"json"` {
		if _, err := schemaOf(b.Format); err != nil {
			return nil, fmt.Errorf("invalid JSON schema in format: %w", err)
		}
	}
	reading := ollamaReading{tools: tools}
	for i, m := range b.Messages {
		if err := reading.message(i, m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(reading.open) > 0 {
		return nil, fmt.Errorf("calls without results: %v", reading.open)
	}
	return reading.parts, nil
}

// ollamaReading reads the messages in turn. Results belong to calls by their order: the test wants each of them, with its
// tool's name, directly behind the calls.
type ollamaReading struct {
	tools declared
	open  []string // names of the tools that were called and have no result yet
	parts []Part
}

func (r *ollamaReading) message(i int, m ollamaMessage) error {
	if mark.MatchString(m.Content) {
		return errors.New("invalid image index")
	}
	if m.Role != "tool" && len(r.open) > 0 {
		return fmt.Errorf("calls without results: %v", r.open)
	}
	if len(m.ToolCalls) > 0 && m.Role != "assistant" || m.ToolName != "" && m.Role != "tool" || len(m.Images) > 0 && m.Role != "user" {
		return fmt.Errorf("the test wants calls, tool_name and images in their own roles, not in %s", m.Role)
	}
	switch m.Role {
	case "system":
	case "assistant":
		for _, c := range m.ToolCalls {
			if c.Function.Arguments == nil || c.Function.Name == "" || len(r.tools.names) == 0 {
				return fmt.Errorf("tool call %+v, tools %v", c, r.tools.names)
			}
			r.open = append(r.open, c.Function.Name)
		}
	case "tool":
		if len(r.open) == 0 || r.open[0] != m.ToolName || m.Content == "" {
			return fmt.Errorf("result of %q, the test wants those of %v with a content", m.ToolName, r.open)
		}
		r.open = r.open[1:]
		r.parts = append(r.parts, Part{Text: m.Content, Result: m.ToolName})
	case "user":
		for _, encoded := range m.Images {
			part, err := picture(encoded, "image/png", "image/jpeg", "image/webp")
			if err != nil {
				return err
			}
			r.parts = append(r.parts, part)
		}
		if m.Content != "" {
			r.parts = append(r.parts, Part{Text: m.Content})
		}
	default:
		return fmt.Errorf("role %q", m.Role)
	}
	return nil
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
	for _, d := range a.pieces() {
		line(map[string]any{"content": d}, nil)
		between(a)
	}
	if a.Broken {
		return
	}
	for i, c := range a.ToolCalls { // the server parses arguments itself: what is no object never arrives
		arguments := json.RawMessage("{}")
		if json.Valid([]byte(c.Input)) {
			arguments = json.RawMessage(c.Input)
		}
		call := map[string]any{"function": map[string]any{"index": i, "name": c.Name, "arguments": arguments}}
		if c.ID != "" {
			call["id"] = c.ID
		}
		line(map[string]any{"content": "", "tool_calls": []any{call}}, nil)
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
