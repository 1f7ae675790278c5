package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// Responses is OpenAI's newer format.
type Responses struct {
	XAI bool // xAI's side of it: the system prompt as a message, results as texts, no documents
}

// Path implements Wire.
func (Responses) Path() string { return "/v1/responses" }

type responsesBody struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Input        []json.RawMessage `json:"input"`
	Stream       bool              `json:"stream"`
	Store        *bool             `json:"store"`
	Include      []string          `json:"include"`
	MaxTokens    int               `json:"max_output_tokens"`
	Temperature  *float64          `json:"temperature"`
	CacheKey     string            `json:"prompt_cache_key"`
	Reasoning    *struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
	Text *struct {
		Format struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"format"`
	} `json:"text"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
}

// Read implements Wire.
func (w Responses) Read(header http.Header, body []byte) ([]Part, error) {
	if header.Get("Authorization") != "Bearer "+Key {
		return nil, errors.New("you didn't provide an API key")
	}
	var b responsesBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	if err := w.dialect(&b, body); err != nil {
		return nil, err
	}
	if b.Model == "" || !b.Stream || len(b.Input) == 0 || b.Store == nil || *b.Store {
		return nil, errors.New("the test wants model, input, stream, and store false")
	}
	if r := b.Reasoning; r != nil && !strings.Contains(" none low medium high ", " "+r.Effort+" ") {
		return nil, fmt.Errorf("invalid value: reasoning.effort %q", r.Effort)
	}
	tools := declared{}
	for _, t := range b.Tools {
		if t.Type != "function" || t.Strict != nil && *t.Strict {
			return nil, fmt.Errorf("tools: type %q, strict %v", t.Type, *t.Strict)
		}
		if err := tools.add(t.Name, t.Parameters); err != nil {
			return nil, err
		}
	}
	if b.Text != nil {
		f := b.Text.Format
		if f.Type != "json_schema" || !nameForm.MatchString(f.Name) {
			return nil, fmt.Errorf("text.format: type %q, name %q", f.Type, f.Name)
		}
		if f.Strict {
			if err := openaiStrict.check(f.Schema); err != nil {
				return nil, fmt.Errorf("text.format.schema: %w", err)
			}
		}
	}
	reading := responsesReading{wire: w, tools: tools}
	for i, raw := range b.Input {
		if err := reading.item(raw); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return reading.parts, reading.open.none()
}

// dialect checks what differs between OpenAI and xAI, which publishes no schema: its requests are held to OpenAI's, with what
// that demands and xAI does not name.
func (w Responses) dialect(b *responsesBody, body []byte) error {
	if !w.XAI {
		return Published("openai_responses", body)
	}
	if b.Instructions != "" || b.CacheKey != "" {
		return errors.New("argument not supported: instructions, prompt_cache_key")
	}
	if b.Reasoning != nil && !strings.HasPrefix(b.Model, "grok-3-mini") {
		return fmt.Errorf("model %s does not support parameter reasoningEffort", b.Model)
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	tools, _ := members["tools"].([]any)
	for i, t := range b.Tools {
		if t.Strict != nil {
			return errors.New("tools: strict")
		}
		if tool, ok := tools[i].(map[string]any); ok {
			tool["strict"] = false
		}
	}
	return Published("openai_responses", []byte(toJSON(members)))
}

// responsesReading reads the items in turn.
type responsesReading struct {
	wire    Responses
	tools   declared
	open    pending
	calling bool // the item before was a call
	parts   []Part
}

func (r *responsesReading) item(raw json.RawMessage) error {
	kind := typeOf(raw)
	wasCalling := r.calling
	r.calling = kind == "function_call"
	switch kind {
	case "function_call":
		var call struct {
			Type, ID, Name, Arguments, Status string
			CallID                            string `json:"call_id"`
		}
		if err := strict(raw, &call); err != nil {
			return err
		}
		var arguments map[string]json.RawMessage
		if json.Unmarshal([]byte(call.Arguments), &arguments) != nil || call.Name == "" || len(call.CallID) > 64 {
			return fmt.Errorf("function_call %s", raw)
		}
		if !wasCalling {
			if err := r.open.none(); err != nil {
				return err
			}
		}
		return r.open.call(0, call.CallID, r.tools)
	case "function_call_output":
		return r.output(raw)
	case "reasoning":
		return r.open.none()
	case "message":
		if err := r.open.none(); err != nil {
			return fmt.Errorf("no tool output found for function call: %w", err)
		}
		return r.message(raw)
	}
	return fmt.Errorf("invalid value: type %q", kind)
}

func (r *responsesReading) message(raw json.RawMessage) error {
	var m struct {
		Type, ID, Role, Status string
		Content                json.RawMessage
	}
	if err := strict(raw, &m); err != nil {
		return err
	}
	var said string
	if json.Unmarshal(m.Content, &said) == nil && (m.Role == "assistant" || m.Role == "system" && r.wire.XAI && len(r.parts) == 0) {
		return notBlank(said)
	}
	var list []json.RawMessage
	if json.Unmarshal(m.Content, &list) != nil || len(list) == 0 || m.Role != "user" && m.Role != "assistant" {
		return fmt.Errorf("role %q with %d parts", m.Role, len(list))
	}
	for _, c := range list {
		if m.Role == "assistant" {
			if kind := typeOf(c); kind != "output_text" && kind != "refusal" {
				return fmt.Errorf("invalid value: %q; supported values are 'output_text' and 'refusal'", kind)
			}
			continue
		}
		part, err := r.wire.part(c)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, part)
	}
	return nil
}

// output reads the result of a function: a text, or a list of texts, pictures and documents.
func (r *responsesReading) output(raw json.RawMessage) error {
	var o struct {
		Type   string          `json:"type"`
		CallID string          `json:"call_id"`
		Output json.RawMessage `json:"output"`
	}
	if err := strict(raw, &o); err != nil {
		return err
	}
	if err := r.open.result(o.CallID); err != nil {
		return err
	}
	var said string
	if json.Unmarshal(o.Output, &said) == nil {
		r.parts = append(r.parts, Part{Text: said, Result: o.CallID})
		return notBlank(said)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(o.Output, &list); err != nil || len(list) == 0 || r.wire.XAI {
		return errors.New("output must be a string or a non-empty array")
	}
	for _, c := range list {
		part, err := r.wire.part(c)
		if err != nil {
			return err
		}
		part.Result = o.CallID
		r.parts = append(r.parts, part)
	}
	return nil
}

func (w Responses) part(raw json.RawMessage) (Part, error) {
	var p struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL string `json:"image_url"`
		Detail   string `json:"detail"`
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	}
	if err := strict(raw, &p); err != nil {
		return Part{}, err
	}
	switch p.Type {
	case "input_text":
		return Part{Text: p.Text}, notBlank(p.Text)
	case "input_image":
		if w.XAI { // its pages name two types
			return dataURI(p.ImageURL, "image/png", "image/jpeg")
		}
		return dataURI(p.ImageURL, "image/png", "image/jpeg", "image/gif", "image/webp")
	case "input_file":
		if p.Filename == "" || w.XAI {
			return Part{}, errors.New("input_file: filename is required; xAI takes files by upload")
		}
		return dataURI(p.FileData, "application/pdf")
	}
	return Part{}, fmt.Errorf("invalid value: %q; supported values are 'input_text', 'input_image' and 'input_file'", p.Type)
}

// Answer implements Wire.
func (Responses) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	var items []any
	event := func(name string, v map[string]any) {
		v["type"] = name
		send(w, "event: %s\ndata: %s\n\n", name, toJSON(v))
	}
	done := func(item map[string]any) {
		event("response.output_item.done", map[string]any{"output_index": len(items), "item": item})
		items = append(items, item)
	}
	event("response.created", map[string]any{"response": map[string]any{"id": "resp_1", "status": "in_progress", "output": []any{}}})
	if a.Thinking != "" {
		event("response.reasoning_summary_text.delta", map[string]any{"delta": a.Thinking})
		done(map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{map[string]any{"type": "summary_text", "text": a.Thinking}}, "encrypted_content": a.signature()})
	}
	for _, d := range a.pieces() {
		event("response.output_text.delta", map[string]any{"delta": d})
		between(a)
	}
	if a.Broken {
		return
	}
	said := []any{}
	if text := strings.Join(a.pieces(), ""); text != "" {
		said = append(said, map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}})
	}
	if a.Refusal != "" {
		event("response.refusal.delta", map[string]any{"delta": a.Refusal})
		said = append(said, map[string]any{"type": "refusal", "refusal": a.Refusal})
	}
	if len(said) > 0 {
		done(map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": said})
	}
	for i, c := range a.ToolCalls {
		for _, piece := range c.pieces() {
			event("response.function_call_arguments.delta", map[string]any{"delta": piece})
		}
		done(map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": c.id(a, i, "call_%d_%d"), "name": c.Name, "arguments": c.Input, "status": "completed"})
	}
	end := map[string]any{
		"id": "resp_1", "status": "completed", "model": "gpt-test-1", "output": items, "error": nil, "incomplete_details": nil,
		"usage": map[string]any{"input_tokens": a.Input, "output_tokens": a.Output, "input_tokens_details": map[string]any{"cached_tokens": a.Cached}},
	}
	if a.Stop == llm.StopLength {
		end["status"], end["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
		event("response.incomplete", map[string]any{"response": end})
		return
	}
	event("response.completed", map[string]any{"response": end})
}

// Fail implements Wire.
func (Responses) Fail(w http.ResponseWriter, status int, code, message string) {
	OpenAI{}.Fail(w, status, code, message)
}
