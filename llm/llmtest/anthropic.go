package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Anthropic is the Messages API.
type Anthropic struct {
	Vertex bool // on Vertex AI: the model in the address, the version in the body, a token for a key
}

// VertexPath is what stands before the address of a publisher's models on Vertex AI.
const VertexPath = "/v1/projects/notes-1/locations/global/publishers/"

// Path implements Wire.
func (a Anthropic) Path() string {
	if a.Vertex {
		return VertexPath + "anthropic/models/claude:streamRawPredict"
	}
	return "/v1/messages"
}

// Serves takes every model.
func (a Anthropic) Serves(r *http.Request) bool {
	if !a.Vertex {
		return r.URL.Path == a.Path()
	}
	model, ok := strings.CutPrefix(r.URL.Path, VertexPath+"anthropic/models/")
	model, method, _ := strings.Cut(model, ":")
	return ok && strings.Contains(model, "claude") && method == "streamRawPredict" && r.URL.RawQuery == ""
}

type anthropicBody struct {
	Version     string            `json:"anthropic_version"`
	Model       string            `json:"model"`
	MaxTokens   int               `json:"max_tokens"`
	System      json.RawMessage   `json:"system"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	Thinking    *anthropicThought `json:"thinking"`
	Output      *struct {
		Effort string           `json:"effort"`
		Format *anthropicFormat `json:"format"`
	} `json:"output_config"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Cache       json.RawMessage `json:"cache_control"` // the published schema knows its form, here and below
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type anthropicThought struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// Read implements Wire.
func (a Anthropic) Read(header http.Header, body []byte) ([]Part, error) {
	var b anthropicBody
	if err := strict(body, &b); err != nil {
		return nil, err
	}
	if err := a.dialect(header, &b, body); err != nil {
		return nil, err
	}
	switch {
	case bytes.Count(body, []byte(`"cache_control":{`)) > 4:
		return nil, errors.New("a maximum of 4 blocks with cache_control may be provided")
	case b.Model == "" || b.MaxTokens < 1 || !b.Stream || len(b.Messages) == 0:
		return nil, errors.New("model, max_tokens, stream and messages are required")
	case b.Messages[0].Role != "user":
		return nil, errors.New("first message must use the user role")
	case b.Thinking != nil && b.Thinking.Type == "enabled" && (b.Thinking.Budget < 1024 || b.Thinking.Budget >= b.MaxTokens || b.Temperature != nil):
		return nil, errors.New("budget_tokens must be at least 1024 and below max_tokens, without a temperature")
	}
	if err := errors.Join(claudeRefuses(b.Model, b.Thinking, b.Temperature), claudeEnds(b.Model, b.Messages[len(b.Messages)-1].Role)); err != nil {
		return nil, err
	}
	tools := declared{}
	for _, t := range b.Tools {
		if err := tools.add(t.Name, t.InputSchema); err != nil {
			return nil, err
		}
	}
	if b.Output != nil && b.Output.Format != nil {
		if err := b.Output.Format.check(); err != nil {
			return nil, err
		}
	}
	reading := anthropicReading{tools: tools, held: b.Output != nil && b.Output.Format != nil}
	for i, m := range b.Messages {
		if err := reading.message(i, m.Role, m.Content); err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return reading.parts, reading.open.none()
}

// dialect checks what differs between Anthropic's own service and Vertex AI.
func (a Anthropic) dialect(header http.Header, b *anthropicBody, body []byte) error {
	if !a.Vertex {
		if header.Get("X-Api-Key") != Key || header.Get("Anthropic-Version") == "" || b.Version != "" {
			return errors.New("headers x-api-key and anthropic-version are required, anthropic_version is not permitted")
		}
		return Published("anthropic", body)
	}
	if header.Get("Authorization") != "Bearer "+Key || header.Get("X-Api-Key") != "" {
		return errors.New("request is missing required authentication credential: expected an OAuth 2 access token")
	}
	if b.Model != "" || b.Version != "vertex-2023-10-16" {
		return fmt.Errorf("model %q, anthropic_version %q: extra inputs are not permitted", b.Model, b.Version)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	delete(members, "anthropic_version")
	b.Model = claudeAt(header)
	members["model"] = json.RawMessage(toJSON(b.Model))
	return Published("anthropic", []byte(toJSON(members)))
}

// anthropicSchema is what output_config.format does not know.
var anthropicSchema = dialectOfSchema{refused: []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems", "not",
	"oneOf", "if", "then", "else", "patternProperties", "prefixItems", "contains", "dependentRequired", "dependentSchemas", "propertyNames",
}}

func (f anthropicFormat) check() error {
	if f.Type != "json_schema" {
		return fmt.Errorf("output_config.format.type: %q", f.Type)
	}
	if err := anthropicSchema.check(f.Schema); err != nil {
		return fmt.Errorf("output_config.format.schema: %w", err)
	}
	return nil
}

// anthropicReading reads the messages in turn.
type anthropicReading struct {
	tools declared
	open  pending
	parts []Part
	held  bool  // the answer is held to a schema
	cited *bool // of the documents before
}

func (r *anthropicReading) message(i int, role string, data json.RawMessage) error {
	var blocks []json.RawMessage
	if err := json.Unmarshal(data, &blocks); err != nil || len(blocks) == 0 {
		return errors.New("content must be a non-empty array")
	}
	if role != "user" && role != "assistant" {
		return fmt.Errorf("role %q", role)
	}
	if role == "assistant" {
		if err := r.open.none(); err != nil {
			return err
		}
	}
	for _, raw := range blocks {
		if err := r.block(i, role, raw); err != nil {
			return err
		}
	}
	if role == "user" {
		return r.open.none()
	}
	return nil
}

func (r *anthropicReading) block(i int, role string, raw json.RawMessage) error {
	kind := typeOf(raw)
	switch {
	case kind == "tool_use" && role == "assistant":
		var use struct {
			Type, ID, Name string
			Input          map[string]json.RawMessage
			Caller         json.RawMessage // in what the service says, and wanted back as it came
		}
		if err := strict(raw, &use); err != nil {
			return err
		}
		if use.Input == nil || !nameForm.MatchString(use.ID) || !nameForm.MatchString(use.Name) {
			return fmt.Errorf("tool_use: id, name and input are required, got %s", raw)
		}
		return r.open.call(i, use.ID, r.tools)
	case kind == "tool_result" && role == "user":
		return r.result(raw)
	}
	if role == "user" {
		if err := r.open.none(); err != nil { // results stand first in their turn
			return err
		}
	}
	part, err := r.part(role, raw)
	if err == nil && role == "user" {
		r.parts = append(r.parts, part)
	}
	return err
}

// result reads a tool_result: a text, or a list of texts, pictures and documents.
func (r *anthropicReading) result(raw json.RawMessage) error {
	var result struct {
		Type      string          `json:"type"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
		Cache     json.RawMessage `json:"cache_control"`
	}
	if err := strict(raw, &result); err != nil {
		return err
	}
	if err := r.open.result(result.ToolUseID); err != nil {
		return err
	}
	var said string
	if json.Unmarshal(result.Content, &said) == nil {
		r.parts = append(r.parts, Part{Text: said, Result: result.ToolUseID})
		return notBlank(said)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(result.Content, &list); err != nil || len(list) == 0 {
		return errors.New("tool_result: content must be a string or a non-empty array")
	}
	for _, inner := range list {
		part, err := r.part("user", inner)
		if err != nil {
			return fmt.Errorf("tool_result: %w", err)
		}
		part.Result = result.ToolUseID
		r.parts = append(r.parts, part)
	}
	return nil
}
