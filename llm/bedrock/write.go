package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
	"github.com/vaultflow/vaultflow/policy"
)

type converseBody struct {
	Messages   []message      `json:"messages"`
	System     []any          `json:"system,omitempty"`
	Inference  *inference     `json:"inferenceConfig,omitempty"`
	Tools      *toolConfig    `json:"toolConfig,omitempty"`
	Output     *output        `json:"outputConfig,omitempty"`
	Additional map[string]any `json:"additionalModelRequestFields,omitempty"` // in the model's own words
}

type inference struct {
	MaxTokens   int      `json:"maxTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type toolConfig struct {
	Tools []any `json:"tools"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

type output struct {
	TextFormat *textFormat `json:"textFormat,omitempty"`
	Effort     string      `json:"effort,omitempty"`
}

type textFormat struct {
	Type      string `json:"type"`
	Structure struct {
		JSONSchema struct {
			Name   string `json:"name"`
			Schema string `json:"schema"` // JSON as a text
		} `json:"jsonSchema"`
	} `json:"structure"`
}

func (b *converseBody) inference() *inference {
	if b.Inference == nil {
		b.Inference = &inference{}
	}
	return b.Inference
}

func (b *converseBody) output() *output {
	if b.Output == nil {
		b.Output = &output{}
	}
	return b.Output
}

// form is how the API takes media: formats are tokens, and citations are enabled where the model reads the pages of a
// document by them alone.
func form(cited bool) wire.Form {
	citations := ""
	if cited {
		citations = `,"citations":{"enabled":true}`
	}
	return wire.Form{
		Frame: func(mediaType string) (string, string) {
			return frameMedium("image", strings.TrimPrefix(mediaType, "image/"))
		},
		Text: func(fallback string) any { return textBlock{fallback} },
		FrameDocument: func(mediaType, id string) (string, string) {
			format := strings.TrimPrefix(mediaType, "application/")
			return `{"document":{"format":"` + format + `","name":"` + id + `"` + citations + `,"source":{"bytes":"`, `"}}}`
		},
		FrameRecording: func(mediaType, format string) (string, string) {
			if format == "3gp" {
				format = "three_gp"
			}
			kind, _, _ := strings.Cut(mediaType, "/")
			return frameMedium(kind, format)
		},
	}
}

func frameMedium(kind, format string) (before, after string) {
	return `{"` + kind + `":{"format":"` + format + `","source":{"bytes":"`, `"}}}`
}

// write builds the request body.
func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	schema, held := fitted(r)
	turns, drawing, err := p.endpoint.Draw(r, form(!held && cites(r)))
	if err != nil {
		return nil, err
	}
	talk := talk{model: r.Model, family: familyOf(r.Model), json: delivery(r).JSON, drawing: drawing, ids: map[string]string{}}
	body := converseBody{Messages: talk.messages(turns), Tools: declare(r.Tools)}
	if len(body.Messages) == 0 {
		return nil, p.endpoint.Empty()
	}
	body.Inference = &inference{max(r.MaxOutputTokens, 0), r.Temperature}
	if talk.family == claude {
		body.Inference.Temperature = llm.ClaudeTemperature(r.Model, r.Temperature)
	}
	body.think(r)
	system := r.System
	switch {
	case held:
		body.output().TextFormat = schema
	case len(r.Schema) > 0:
		system = wire.InstructSchema(system, r.Schema)
	}
	if strings.TrimSpace(system) != "" {
		body.System = []any{textBlock{system}}
	}
	body.keep(r)
	if body.Inference != nil && *body.Inference == (inference{}) {
		body.Inference = nil
	}
	return drawing.Body(body)
}

func delivery(r llm.Request) policy.Delivery {
	if r.Delivery != nil {
		return *r.Delivery
	}
	return policy.DeliveryOf(wireName, r.Model)
}

func declare(list []llm.Tool) *toolConfig {
	if len(list) == 0 {
		return nil
	}
	out := &toolConfig{}
	for _, t := range list {
		spec := toolSpec{Name: t.Name, Description: t.Description}
		spec.InputSchema.JSON = t.ParametersOrNone()
		out.Tools = append(out.Tools, tool{spec})
	}
	return out
}
