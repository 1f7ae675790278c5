package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
	CacheKey      string          `json:"prompt_cache_key"`
	Cache         json.RawMessage `json:"cache_control"` // OpenRouter's, for Claude; the published schema knows who has which
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Format   *openaiFormat   `json:"response_format"`
	Messages []openaiMessage `json:"messages"`
}

type openaiFormat struct {
	Type   string `json:"type"`
	Schema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	} `json:"json_schema"`
}

type openaiMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Refusal    json.RawMessage `json:"refusal"`
	Reasoning  json.RawMessage `json:"reasoning_content"`
	Thought    json.RawMessage `json:"reasoning"` // OpenRouter and Groq
	Details    json.RawMessage `json:"reasoning_details"`
	Extra      json.RawMessage `json:"extra_content"` // compatible services send such members and want them back
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
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
	if err := Published(o.schema(), body); err != nil {
		return nil, err
	}
	tools := declared{}
	for _, t := range b.Tools {
		if t.Type != "function" {
			return nil, fmt.Errorf("tools: type %q", t.Type)
		}
		if err := tools.add(t.Function.Name, t.Function.Parameters); err != nil {
			return nil, err
		}
	}
	if err := o.format(b.Format); err != nil {
		return nil, err
	}
	reading := openaiReading{wire: o, tools: tools}
	for i, m := range b.Messages {
		if err := reading.message(i, m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return reading.parts, reading.open.none()
}

// schema is the published schema that fits the dialect best: its own, or OpenAI's with what compatible servers add.
func (o OpenAI) schema() string {
	switch o.Kind {
	case "", "openai_chat":
		return "openai_chat"
	case "mistral", "groq", "openrouter":
		return o.Kind
	}
	return "openai_compatible"
}

// openaiReading reads the messages in turn.
type openaiReading struct {
	wire   OpenAI
	tools  declared
	open   pending
	before string // the role of the message before
	parts  []Part
}

func (r *openaiReading) message(i int, m openaiMessage) error {
	if m.Role != "tool" {
		if err := r.open.none(); err != nil {
			return err
		}
	}
	defer func() { r.before = m.Role }()
	switch m.Role {
	case "tool":
		return r.result(m)
	case "assistant":
		if err := r.calls(i, m); err != nil || len(m.ToolCalls) > 0 && string(m.Content) == "null" {
			return err
		}
	case "user":
		if r.wire.Kind == "mistral" && r.before == "tool" {
			return errors.New("unexpected role 'user' after role 'tool'")
		}
	case "system", "developer":
	default:
		return fmt.Errorf("role %q", m.Role)
	}
	if m.ToolCallID != "" || m.Role != "assistant" && m.ToolCalls != nil {
		return fmt.Errorf("extra members for role %s", m.Role)
	}
	parts, err := r.wire.parts(m)
	if m.Role == "user" {
		r.parts = append(r.parts, parts...)
	}
	return err
}

func (r *openaiReading) calls(i int, m openaiMessage) error {
	for _, c := range m.ToolCalls {
		if c.Type != "function" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
			return fmt.Errorf("tool_calls: %+v", c)
		}
		if r.wire.Kind == "mistral" && !mistralID.MatchString(c.ID) {
			return fmt.Errorf("tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9", c.ID)
		}
		if len(c.ID) > 40 {
			return errors.New("tool_calls.id: string too long, maximum 40")
		}
		if err := r.open.call(i, c.ID, r.tools); err != nil {
			return err
		}
	}
	return nil
}

var mistralID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// result reads a tool's message: text alone.
func (r *openaiReading) result(m openaiMessage) error {
	if err := r.open.result(m.ToolCallID); err != nil {
		return err
	}
	parts, err := r.wire.parts(m)
	for _, p := range parts {
		p.Result = m.ToolCallID
		r.parts = append(r.parts, p)
	}
	return err
}

// openaiStrict is what a strict json_schema does not know.
var openaiStrict = dialectOfSchema{allRequired: true, refused: []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "unevaluatedProperties",
	"propertyNames", "minProperties", "maxProperties", "unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems",
	"minLength", "maxLength", "prefixItems", "default",
}}

func (o OpenAI) format(f *openaiFormat) error {
	switch {
	case f == nil:
		return nil
	case o.Kind == "groq":
		return errors.New("response_format: streaming is not supported with structured outputs")
	case f.Type == "json_object" && f.Schema == nil:
		return nil
	case f.Type != "json_schema" || f.Schema == nil || o.Kind == "deepseek":
		return errors.New("response_format: this type is unavailable now")
	case !nameForm.MatchString(f.Schema.Name):
		return errors.New("missing required parameter: 'response_format.json_schema.name'")
	}
	var root struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(f.Schema.Schema, &root) != nil || root.Type != "object" {
		return errors.New("response_format: schema must be a JSON Schema of 'type: \"object\"'")
	}
	if f.Schema.Strict {
		return openaiStrict.check(f.Schema.Schema)
	}
	_, err := schemaOf(f.Schema.Schema)
	return err
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
