package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// Gemini is generateContent of the Developer API, streaming.
type Gemini struct {
	IDs    bool // calls carry ids, and results must name them; else neither may
	Vertex bool // v1 of Vertex AI: a token for a key, no ids
	Old    bool // a model before the third generation: no files in results, no schema beside tools, thinking in tokens
}

// Path implements Wire.
func (g Gemini) Path() string { return g.models() + "test-model:streamGenerateContent" }

func (g Gemini) models() string {
	if g.Vertex {
		return VertexPath + "google/models/"
	}
	return "/v1beta/models/"
}

// Serves takes every model.
func (g Gemini) Serves(r *http.Request) bool {
	model, ok := strings.CutPrefix(r.URL.Path, g.models())
	model, method, _ := strings.Cut(model, ":")
	return ok && model != "" && method == "streamGenerateContent" && r.URL.RawQuery == "alt=sse"
}

type geminiBody struct {
	System     *geminiContent  `json:"systemInstruction"`
	Contents   []geminiContent `json:"contents"`
	Generation struct {
		MaxOutputTokens int      `json:"maxOutputTokens"`
		Temperature     *float64 `json:"temperature"`
		Thinking        *struct {
			Include bool   `json:"includeThoughts"`
			Level   string `json:"thinkingLevel"`
			Budget  *int   `json:"thinkingBudget"`
		} `json:"thinkingConfig"`
		MIMEType string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
	Tools []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string     `json:"text"`
	Inline    *geminiBlob `json:"inlineData"`
	Thought   bool        `json:"thought"`
	Signature string      `json:"thoughtSignature"`
	Call      *struct {
		ID   string                     `json:"id"`
		Name string                     `json:"name"`
		Args map[string]json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
		Parts    []struct {
			Inline *geminiBlob `json:"inlineData"`
		} `json:"parts"`
	} `json:"functionResponse"`
}

type geminiBlob struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// Read implements Wire.
func (g Gemini) Read(header http.Header, body []byte) ([]Part, error) {
	schema := "gemini"
	if g.Vertex {
		schema = "vertex"
	}
	if header.Get("X-Goog-Api-Key") != Key && !g.Vertex || header.Get("Authorization") != "Bearer "+Key && g.Vertex {
		return nil, errors.New("API key not valid. Please pass a valid API key")
	}
	var b geminiBody
	if err := strict(body, &b); err != nil {
		return nil, fmt.Errorf("invalid JSON payload received: %w", err)
	}
	if err := Published(schema, body); err != nil {
		return nil, err
	}
	if len(b.Contents) == 0 || b.Contents[0].Role != "user" {
		return nil, errors.New("contents: a turn of the user comes first")
	}
	if err := g.options(&b); err != nil {
		return nil, err
	}
	reading := geminiReading{wire: g}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			parameters := f.Parameters
			if parameters == nil { // a function may have none
				parameters = json.RawMessage(`{"type":"object"}`)
			}
			if err := reading.tools.add(f.Name, parameters); err != nil {
				return nil, err
			}
		}
	}
	for i, c := range b.Contents {
		if err := reading.content(c); err != nil {
			return nil, fmt.Errorf("contents[%d]: %w", i, err)
		}
	}
	return reading.parts, reading.none()
}

// geminiSchema is what responseJsonSchema would not hold the model to.
var geminiSchema = dialectOfSchema{refused: []string{
	"const", "pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "not", "allOf",
	"if", "patternProperties", "contains", "dependentRequired", "definitions",
}}

func (g Gemini) options(b *geminiBody) error {
	set := b.Generation
	switch {
	case set.MaxOutputTokens < 0:
		return errors.New("generation_config.max_output_tokens must be positive")
	case (set.MIMEType == "") != (set.Schema == nil):
		return errors.New("generation_config.response_json_schema wants response_mime_type application/json")
	case set.Schema != nil && g.Old && len(b.Tools) > 0:
		return errors.New("function calling with a response mime type: 'application/json' is unsupported")
	case b.System != nil && (len(b.System.Parts) != 1 || b.System.Parts[0].Text == nil):
		return errors.New("system_instruction: want one text")
	}
	if t := set.Thinking; t != nil {
		known := t.Level == "LOW" || t.Level == "MEDIUM" || t.Level == "HIGH"
		switch {
		case g.Old && (t.Level != "" || t.Budget == nil):
			return errors.New("thinking level is not supported for this model")
		case !g.Old && (!known || t.Budget != nil):
			return fmt.Errorf("thinking level %q is not supported for this model", t.Level)
		}
	}
	if set.Schema != nil {
		return geminiSchema.check(set.Schema)
	}
	return nil
}

// geminiReading reads the contents in turn.
type geminiReading struct {
	wire  Gemini
	tools declared
	open  [][2]string // id and name of calls without a result
	parts []Part
}

func (r *geminiReading) none() error {
	if len(r.open) > 0 {
		return errors.New("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
	}
	return nil
}

func (r *geminiReading) content(c geminiContent) error {
	if len(c.Parts) == 0 || c.Role != "user" && c.Role != "model" {
		return fmt.Errorf("role %q with %d parts", c.Role, len(c.Parts))
	}
	results := 0
	for _, p := range c.Parts {
		if p.Response != nil {
			results++
		}
	}
	if results > 0 && (results != len(c.Parts) || results != len(r.open)) {
		return fmt.Errorf("%d results among %d parts for %d calls: results stand alone, one for each call", results, len(c.Parts), len(r.open))
	}
	if results == 0 {
		if err := r.none(); err != nil {
			return err
		}
	}
	for i, p := range c.Parts {
		if err := r.part(c.Role, i, p); err != nil {
			return fmt.Errorf("parts[%d]: %w", i, err)
		}
	}
	if results > 0 {
		r.open = nil
	}
	return nil
}

func (r *geminiReading) part(role string, i int, p geminiPart) error {
	switch {
	case p.Call != nil && role == "model" && !r.wire.Old && len(r.open) == 0 && p.Signature == "":
		return fmt.Errorf("function call is missing a thought_signature in functionCall parts: %s, position %d", p.Call.Name, i+1)
	case p.Call != nil && role == "model":
		if len(r.tools.names) == 0 || p.Call.Name == "" || p.Call.ID != "" && !r.wire.IDs {
			return fmt.Errorf("function call %+v, tools %v", *p.Call, r.tools.names)
		}
		r.open = append(r.open, [2]string{p.Call.ID, p.Call.Name})
		return nil
	case p.Response != nil && role == "user":
		return r.result(i, p)
	case role == "model" && p.Text != nil:
		return nil
	case p.Text != nil && !p.Thought:
		r.parts = append(r.parts, Part{Text: *p.Text})
		return notBlank(*p.Text)
	case p.Inline != nil && role == "user" && (strings.HasPrefix(p.Inline.MIMEType, "audio/") || strings.HasPrefix(p.Inline.MIMEType, "video/")):
		part, err := recording(p.Inline.Data, p.Inline.MIMEType)
		r.parts = append(r.parts, part)
		return err
	case p.Inline != nil && role == "user":
		part, err := p.Inline.read("image/png", "image/jpeg", "image/webp", "application/pdf")
		r.parts = append(r.parts, part)
		return err
	}
	return errors.New("required oneof field 'data' must have one initialized field")
}

// result reads a function response: its place says which call it answers.
func (r *geminiReading) result(i int, p geminiPart) error {
	to, said := r.open[i], p.Response
	if said.Name != to[1] || said.ID != to[0] {
		return fmt.Errorf("result of %q (%q) in the place of %q (%q)", said.Name, said.ID, to[1], to[0])
	}
	var text string
	for _, key := range []string{"output", "error"} {
		if raw, ok := said.Response[key]; ok {
			if err := json.Unmarshal(raw, &text); err != nil {
				return err
			}
		}
	}
	if err := notBlank(text); err != nil || len(said.Response) != 1 {
		return fmt.Errorf("the test wants one text as output or error: %v, %w", said.Response, err)
	}
	result := to[1]
	if r.wire.IDs && to[0] != "" {
		result = to[0]
	}
	r.parts = append(r.parts, Part{Text: text, Result: result})
	if len(said.Parts) > 0 && r.wire.Old {
		return errors.New("function response parts are not supported for this model")
	}
	for _, inner := range said.Parts {
		if inner.Inline == nil {
			return errors.New("function response parts hold inline data alone")
		}
		part, err := inner.Inline.read("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain")
		if err != nil {
			return err
		}
		part.Result = result
		if inner.Inline.MIMEType == "text/plain" {
			part = Part{Text: string(part.Data), Result: result}
		}
		r.parts = append(r.parts, part)
	}
	return nil
}

func (b *geminiBlob) read(accepted ...string) (Part, error) {
	if b.MIMEType == "text/plain" {
		accepted = []string{"text/plain; charset=utf-8"}
	}
	part, err := picture(b.Data, accepted...)
	if kind, _, _ := strings.Cut(part.MediaType, ";"); err == nil && kind != b.MIMEType {
		err = fmt.Errorf("%s does not match the provided media type %s", kind, b.MIMEType)
	}
	return part, err
}

// Answer implements Wire.
func (g Gemini) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(finish string, parts ...any) {
		candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		send(w, "data: %s\r\n\r\n", toJSON(map[string]any{
			"candidates": []any{candidate}, "modelVersion": "gemini-test-1", "responseId": "r1",
			"usageMetadata": map[string]any{"promptTokenCount": a.Input, "candidatesTokenCount": a.Output, "cachedContentTokenCount": a.Cached},
		}))
	}
	if a.Thinking != "" {
		event("", map[string]any{"text": a.Thinking, "thought": true})
	}
	for _, d := range a.pieces() {
		event("", map[string]any{"text": d})
		between(a)
	}
	if a.Broken {
		return
	}
	for i, c := range a.ToolCalls { // the service parses arguments itself: what is no object never arrives
		call := map[string]any{"name": c.Name}
		if json.Valid([]byte(c.Input)) {
			call["args"] = json.RawMessage(c.Input)
		}
		if g.IDs {
			call["id"] = c.id(a, i, "fc%d-%d")
		}
		part := map[string]any{"functionCall": call}
		if i == 0 {
			part["thoughtSignature"] = a.signature()
		}
		event("", part)
	}
	finish := map[llm.Stop]string{llm.StopLength: "MAX_TOKENS", llm.StopRefusal: "SAFETY"}[a.stop()]
	if finish == "" {
		finish = "STOP"
	}
	if a.Thinking != "" && len(a.ToolCalls) == 0 { // the signature of an answer in text comes in a part of its own
		event(finish, map[string]any{"text": "", "thoughtSignature": a.signature()})
		return
	}
	event(finish)
}

// Fail implements Wire.
func (Gemini) Fail(w http.ResponseWriter, status int, code, message string) {
	fail(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": code}})
}
