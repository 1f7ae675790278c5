package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Bedrock is ConverseStream of Amazon Bedrock. What it refuses is refused by the published service model (botocore,
// bedrock-runtime 2023-09-30), by its documentation of the members, or by recorded exchanges.
type Bedrock struct {
	Family string // claude (also ""), nova, llama, mistral, deepseek, writer: what the model behind it takes
}

// Path implements Wire.
func (Bedrock) Path() string { return "/model/test-model/converse-stream" }

// Serves takes every model.
func (Bedrock) Serves(r *http.Request) bool {
	model, ok := strings.CutPrefix(r.URL.Path, "/model/")
	model, found := strings.CutSuffix(model, "/converse-stream")
	return ok && found && model != "" && r.URL.RawQuery == ""
}

func (b Bedrock) family() string {
	if b.Family == "" {
		return "claude"
	}
	return b.Family
}

type bedrockBody struct {
	Messages []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
	System    []json.RawMessage `json:"system"`
	Inference *struct {
		MaxTokens   *int     `json:"maxTokens"`
		Temperature *float64 `json:"temperature"`
	} `json:"inferenceConfig"`
	Tools *struct {
		Tools []json.RawMessage `json:"tools"`
	} `json:"toolConfig"`
	Output *struct {
		Effort string `json:"effort"`
		Text   *struct {
			Type      string `json:"type"`
			Structure struct {
				JSONSchema struct {
					Name   string `json:"name"`
					Schema string `json:"schema"`
				} `json:"jsonSchema"`
			} `json:"structure"`
		} `json:"textFormat"`
	} `json:"outputConfig"`
	Additional map[string]json.RawMessage `json:"additionalModelRequestFields"`
}

// Read implements Wire.
func (w Bedrock) Read(header http.Header, body []byte) ([]Part, error) {
	if header.Get("Authorization") != "Bearer "+Key {
		return nil, errors.New("AccessDeniedException: Authentication failed")
	}
	var b bedrockBody
	if err := strict(body, &b); err != nil {
		return nil, fmt.Errorf("unexpected field type: %w", err)
	}
	if err := Published("bedrock", body); err != nil {
		return nil, err
	}
	if len(b.Messages) == 0 || b.Messages[0].Role != "user" {
		return nil, errors.New("a conversation must start with a user message")
	}
	if err := w.options(claudeAt(header), &b); err != nil {
		return nil, err
	}
	reading := bedrockReading{wire: w, names: map[string]bool{}, held: b.Output != nil && b.Output.Text != nil}
	if err := reading.head(&b); err != nil {
		return nil, err
	}
	if err := claudeEnds(header.Get(AddressHeader), b.Messages[len(b.Messages)-1].Role); err != nil {
		return nil, err
	}
	for i, m := range b.Messages {
		if i > 0 && m.Role == b.Messages[i-1].Role {
			return nil, fmt.Errorf("messages.%d: a conversation must alternate between user and assistant roles", i)
		}
		if err := reading.message(i, m.Role, m.Content); err != nil {
			return nil, fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return reading.parts, reading.open.none()
}

func (w Bedrock) options(model string, b *bedrockBody) error {
	most := 0
	if set := b.Inference; set != nil {
		switch {
		case set.MaxTokens != nil && *set.MaxTokens < 1:
			return errors.New("inferenceConfig.maxTokens: at least 1")
		case set.Temperature != nil && (*set.Temperature < 0 || *set.Temperature > 1):
			return errors.New("inferenceConfig.temperature: from 0 to 1")
		case set.MaxTokens != nil:
			most = *set.MaxTokens
		}
	}
	warm := b.Inference != nil && b.Inference.Temperature != nil
	if w.family() == "claude" && warm {
		if err := claudeRefuses(model, nil, b.Inference.Temperature); err != nil {
			return err
		}
	}
	for name, value := range b.Additional {
		if w.family() != "claude" || name != "thinking" {
			return fmt.Errorf("malformed input request: extraneous key [%s] is not permitted", name)
		}
		var thought anthropicThought
		if err := strict(value, &thought); err != nil {
			return err
		}
		if err := claudeRefuses(model, &thought, nil); err != nil {
			return err
		}
		if thought.Type == "enabled" && (thought.Budget < 1024 || thought.Budget >= most) || thought.Type != "enabled" && thought.Budget > 0 || warm {
			return fmt.Errorf("thinking %s with maxTokens %d, temperature %v", value, most, warm)
		}
	}
	if b.Output == nil || b.Output.Text == nil {
		return nil
	}
	if w.family() == "claude" && claudeNoSchema.MatchString(model) {
		return errors.New("output_config.format: structured outputs are not supported for this model")
	}
	format := b.Output.Text
	if format.Type != "json_schema" {
		return fmt.Errorf("outputConfig.textFormat.type: %q", format.Type)
	}
	return anthropicSchema.check(json.RawMessage(format.Structure.JSONSchema.Schema))
}

// bedrockReading reads the messages in turn.
type bedrockReading struct {
	wire      Bedrock
	tools     declared
	open      pending
	names     map[string]bool // of documents
	held      bool            // the answer is held to a schema
	points    int             // of a cache
	citations *bool           // of the documents before
	parts     []Part
}

// head reads the system prompt and the tools.
func (r *bedrockReading) head(b *bedrockBody) error {
	for _, raw := range b.System {
		kind, value, err := member(raw)
		switch {
		case err != nil:
			return err
		case kind == "cachePoint":
			err = r.point(value)
		case kind == "text":
			var said string
			if err = strict(value, &said); err == nil {
				err = notBlank(said)
			}
		default:
			err = errors.New(kind)
		}
		if err != nil {
			return fmt.Errorf("system: %w", err)
		}
	}
	if b.Tools != nil && len(b.Tools.Tools) == 0 {
		return errors.New("toolConfig.tools: at least 1")
	}
	for i := 0; b.Tools != nil && i < len(b.Tools.Tools); i++ {
		if err := r.tool(b.Tools.Tools[i]); err != nil {
			return fmt.Errorf("toolConfig: %w", err)
		}
	}
	return nil
}

func (r *bedrockReading) tool(raw json.RawMessage) error {
	kind, value, err := member(raw)
	if err != nil {
		return err
	}
	if kind == "cachePoint" && r.wire.family() == "claude" && len(r.tools.names) > 0 {
		return r.point(value)
	}
	var spec struct {
		Name        string
		Description *string
		InputSchema struct{ JSON json.RawMessage }
	}
	if err := strict(value, &spec); err != nil || kind != "toolSpec" {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if d := spec.Description; d != nil && *d == "" {
		return errors.New("toolSpec.description: valid min length: 1")
	}
	return r.tools.add(spec.Name, spec.InputSchema.JSON)
}

// point reads a cachePoint: four at most, for models that keep something.
func (r *bedrockReading) point(value json.RawMessage) error {
	var p struct{ Type string }
	if err := strict(value, &p); err != nil || p.Type != "default" {
		return fmt.Errorf("cachePoint.type: %q, %w", p.Type, err)
	}
	r.points++
	if family := r.wire.family(); r.points > 4 || family != "claude" && family != "nova" {
		return fmt.Errorf("%d cache points for %s", r.points, family)
	}
	return nil
}

func (r *bedrockReading) message(i int, role string, blocks []json.RawMessage) error {
	if len(blocks) == 0 || role != "user" && role != "assistant" {
		return fmt.Errorf("role %q with %d blocks", role, len(blocks))
	}
	kinds := map[string]int{}
	for _, raw := range blocks {
		kind, value, err := member(raw)
		if err != nil {
			return err
		}
		kinds[kind]++
		if err := r.block(i, role, kind, value); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	switch {
	case kinds["document"] > 0 && kinds["text"] == 0:
		return errors.New("a text block is required beside a document")
	case r.wire.family() != "claude" && r.wire.family() != "nova" && kinds["toolResult"] > 0 && kinds["toolResult"] < len(blocks):
		return errors.New("conversation blocks and tool result blocks cannot be provided in the same turn")
	case kinds["reasoningContent"] == len(blocks):
		return errors.New("this model does not support assistant message prefill")
	case role == "user":
		return r.open.none()
	}
	return nil
}

// member is the one member of a union.
func member(raw json.RawMessage) (name string, value json.RawMessage, err error) {
	var union map[string]json.RawMessage
	if err := json.Unmarshal(raw, &union); err != nil || len(union) != 1 {
		return "", nil, fmt.Errorf("one member of a union must be set, got %d", len(union))
	}
	for name, value = range union {
	}
	return name, value, nil
}
