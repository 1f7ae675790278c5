package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
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

func (o OpenAI) parts(m openaiMessage) ([]Part, error) {
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
		part, err := o.part(m, raw)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (o OpenAI) part(m openaiMessage, raw json.RawMessage) (Part, error) {
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
		return dataURI(i.ImageURL.URL, "image/png", "image/jpeg", "image/gif", "image/webp")
	case kind == "file" && m.Role == "user" && slices.Contains([]string{"", "openai_chat", "openrouter", "openai_compatible"}, o.Kind):
		var f struct {
			Type string `json:"type"`
			File struct {
				Filename string `json:"filename"`
				FileData string `json:"file_data"`
			} `json:"file"`
		}
		if err := strict(raw, &f); err != nil {
			return Part{}, err
		}
		if f.File.Filename == "" {
			return Part{}, errors.New("missing required parameter: 'file.filename'")
		}
		return dataURI(f.File.FileData, "application/pdf")
	case (kind == "input_audio" || kind == "video_url") && m.Role == "user" && slices.Contains([]string{"", "openai_chat", "openrouter", "openai_compatible"}, o.Kind):
		return o.recordingPart(raw)
	case kind == "document_url" && m.Role == "user" && o.Kind == "mistral":
		var d struct {
			Type string `json:"type"`
			URL  string `json:"document_url"`
			Name string `json:"document_name"`
		}
		if err := strict(raw, &d); err != nil {
			return Part{}, err
		}
		return dataURI(d.URL, "application/pdf")
	default:
		return Part{}, fmt.Errorf("content blocks are expected to be either text or image_url type, got %q from %s", kind, m.Role)
	}
}

// dataURI decodes a data URI whose bytes must be of the type that it names, one of those accepted.
func dataURI(uri string, accepted ...string) (Part, error) {
	head, encoded, ok := strings.Cut(uri, ";base64,")
	if !ok {
		return Part{}, errors.New("not a data URI")
	}
	part, err := picture(encoded, accepted...)
	if err == nil && head != "data:"+part.MediaType {
		err = fmt.Errorf("%s holds %s", head, part.MediaType)
	}
	return part, err
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
	for _, d := range a.pieces() {
		chunk(map[string]any{"content": d}, nil)
		between(a)
	}
	if a.Broken {
		return
	}
	form := "call_%d_%d"
	if o.Kind == "mistral" {
		form = "call%d%04d" // nine letters and digits
	}
	for i, c := range a.ToolCalls {
		pieces := c.pieces()
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.id(a, i, form), "type": "function", "function": map[string]any{"name": c.Name, "arguments": pieces[0]},
		}}}, nil)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": pieces[1]}}}}, nil)
	}
	finish := map[llm.Stop]string{llm.StopLength: "length", llm.StopRefusal: "content_filter", llm.StopToolUse: "tool_calls"}[a.stop()]
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
