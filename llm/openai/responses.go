package openai

import (
	"context"
	"encoding/json"
	"regexp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// responsesWire is the kind of OpenAI's newer format, and the name of its turns.
const responsesWire = "openai_responses"

// Responses answers through OpenAI's Responses. Nothing is stored at the service: every request holds the whole
// conversation, reasoning in its encrypted form. It is safe for concurrent use.
type Responses struct{ endpoint *wire.Endpoint }

// NewResponses returns a provider for Kind "xai", else for OpenAI itself. BaseURL is with "/v1".
func NewResponses(c Config) *Responses {
	kind, baseURL := responsesWire, dialects["openai_chat"].baseURL
	if c.Kind == xai {
		kind, baseURL = xai, xaiBaseURL
	}
	return &Responses{c.Endpoint(kind, baseURL, "")}
}

// Generate implements llm.Provider.
func (p *Responses) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, "/responses", body, func(answer *wire.Answer) (*llm.Response, error) {
		return readItems(answer, request, progress)
	})
}

type itemsBody struct {
	Model        string      `json:"model"`
	Instructions string      `json:"instructions,omitempty"`
	Input        []any       `json:"input"`
	Stream       bool        `json:"stream"`
	Store        bool        `json:"store"`
	Include      []string    `json:"include,omitempty"`
	MaxTokens    int         `json:"max_output_tokens,omitempty"`
	Temperature  *float64    `json:"temperature,omitempty"`
	Reasoning    *reasoning  `json:"reasoning,omitempty"`
	Text         *textFormat `json:"text,omitempty"`
	Tools        []itemTool  `json:"tools,omitempty"`
	CacheKey     string      `json:"prompt_cache_key,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

type textFormat struct {
	Format itemFormat `json:"format"`
}

type itemFormat struct {
	Type string `json:"type"`
	jsonSchema
}

// itemTool is a function, as an item of the list itself. Strict is false: strict parameters would have to use the narrower
// JSON Schema of structured output.
type itemTool struct {
	Type string `json:"type"`
	function
	Strict *bool `json:"strict,omitempty"`
}

// write builds the request body.
func (p *Responses) write(r llm.Request) (*wire.Body, error) {
	turns, drawing, err := p.endpoint.Draw(r, itemMedia)
	if err != nil {
		return nil, err
	}
	talk := itemTalk{model: r.Model, drawing: drawing, ids: map[string]string{}}
	body := itemsBody{Model: r.Model, Stream: true, MaxTokens: max(r.MaxOutputTokens, 0), Temperature: r.Temperature, CacheKey: r.CacheKey()}
	for _, t := range turns {
		body.Input = append(body.Input, talk.turn(t)...)
	}
	if len(body.Input) == 0 {
		return nil, p.endpoint.Empty()
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, itemTool{"function", function{t.Name, t.Description, t.ParametersOrNone()}, new(bool)})
	}
	format, system := dialects["openai_chat"].demand(r.Schema, r.System)
	body.Instructions = system
	if format != nil {
		body.Text = &textFormat{itemFormat{format.Type, *format.Schema}}
	}
	if p.endpoint.Kind() == xai {
		body.forXAI(r)
		return talk.drawing.Body(body)
	}
	switch effort := r.Thinking; {
	case effort == "low" || effort == "medium" || effort == "high":
		body.Reasoning = &reasoning{effort, "auto"}
	case effort == "off":
		body.Reasoning = &reasoning{Effort: "none"}
	}
	if body.Reasoning != nil && r.Thinking != "off" || body.Reasoning == nil && reasons.MatchString(r.Model) {
		body.Include = []string{"reasoning.encrypted_content"}
	}
	return talk.drawing.Body(body)
}

// reasons matches the models that reason by default. The others refuse requests for encrypted reasoning.
var reasons = regexp.MustCompile(`^(?:o\d|gpt-(?:[5-9]|\d\d)(?:$|[^-]|-[^c]))`)

type itemText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type itemMessage struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type itemCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type itemOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// itemMedia is the form of pictures and documents, in messages and in outputs of functions.
var itemMedia = wire.Form{
	Frame: func(mediaType string) (string, string) {
		return `{"type":"input_image","detail":"auto","image_url":"data:` + mediaType + `;base64,`, `"}`
	},
	Text: func(fallback string) any { return itemText{"input_text", fallback} },
	FrameDocument: func(mediaType, id string) (string, string) {
		return `{"type":"input_file","filename":"` + id + `.pdf","file_data":"data:` + mediaType + `;base64,`, `"}`
	},
}

// itemTalk writes the turns of one request.
type itemTalk struct {
	model   string
	drawing *wire.Drawing
	ids     map[string]string // maps ids of other services' calls to those used here
}

// turn returns the items of one turn, none if it is empty. Outputs of functions come first.
func (t *itemTalk) turn(turn llm.Turn) []any {
	if raw, ok := wire.UnpackRaw(turn.Raw, responsesWire, t.model); ok {
		var items []any
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, item := range list {
				items = append(items, item)
			}
		}
		return items
	}
	var items []any
	for _, r := range turn.Results {
		items = append(items, itemOutput{"function_call_output", t.id(r.CallID), t.output(r)})
	}
	var said []content.Block
	for _, b := range turn.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			items = append(items, itemCall{"function_call", t.foreign(call.ID), call.Name, string(wire.CallObject(call.Input))})
			continue
		}
		said = append(said, b)
	}
	switch {
	case len(said) == 0:
	case turn.Role == llm.Assistant:
		message := itemMessage{"message", string(llm.Assistant), content.Join(said)} // output_text is the service's own, with an id
		items = append([]any{message}, items...)
	default:
		items = append(items, itemMessage{"message", string(llm.User), t.parts(said)})
	}
	return items
}

// output returns a function's result: a string if it is only text, else a list in order, media included.
func (t *itemTalk) output(r llm.Result) any {
	if len(r.Media()) > 0 {
		return t.parts(r.Parts)
	}
	return r.Text()
}

func (t *itemTalk) parts(blocks []content.Block) []any {
	var parts []any
	for _, b := range blocks {
		if medium, ok := t.drawing.Media(b); ok {
			parts = append(parts, medium)
			continue
		}
		parts = append(parts, itemText{"input_text", b.Text()})
	}
	return parts
}

// foreign registers a call that is not echoed raw. The service accepts ids of up to 64 letters.
func (t *itemTalk) foreign(id string) string {
	if !anyCallID.MatchString(id) {
		t.ids[id] = wire.ForeignCallID(id, 24)
	}
	return t.id(id)
}

func (t *itemTalk) id(id string) string {
	if mapped, ok := t.ids[id]; ok {
		return mapped
	}
	return id
}
