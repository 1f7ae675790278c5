package openai

import (
	"encoding/json"
	"regexp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// call is a tool call of an assistant's message.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type callingMessage struct {
	message
	ToolCalls []call `json:"tool_calls"`
}

type toolMessage struct {
	Role       string `json:"role"`
	ToolCallID string `json:"tool_call_id"`
	Content    string `json:"content"`
}

func tools(list []llm.Tool) []tool {
	var out []tool
	for _, t := range list {
		out = append(out, tool{"function", function{t.Name, t.Description, t.ParametersOrNone()}})
	}
	return out
}

func newCall(id string, c content.ToolCall) call {
	out := call{ID: id, Type: "function"}
	out.Function.Name, out.Function.Arguments = c.Name, string(wire.CallObject(c.Input))
	return out
}

// Call ids: OpenAI accepts up to 40 letters, Mistral exactly nine letters and digits.
var (
	anyCallID     = regexp.MustCompile(`^[\w.:-]{1,40}$`)
	mistralCallID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// foreignID is the length of ids for calls of other services: what Mistral requires, all accept.
const foreignID = 9

// strictRules are the rules of a strict json_schema. From the provider's page on structured outputs, read in November 2026.
// Recursive definitions are allowed there and not used here.
var strictRules = wire.SchemaRules{
	Keywords: []string{
		"type", "description", "title", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref",
		"$defs", "definitions", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minItems", "maxItems",
	},
	Formats:     []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
	AllRequired: true,
}

type responseFormat struct {
	Type   string      `json:"type"`
	Schema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// demand requests an answer that fits a schema. format is nil, and the system prompt holds the schema, if the service has no
// such member or accepts only objects.
func (d dialect) demand(schema json.RawMessage, system string) (format *responseFormat, instructed string) {
	if len(schema) == 0 {
		return nil, system
	}
	var root struct {
		Type any `json:"type"`
	}
	isObject := json.Unmarshal(schema, &root) == nil && root.Type == "object"
	switch {
	case d.schema == "json_object" && isObject:
		return &responseFormat{Type: "json_object"}, wire.InstructSchema(system, schema)
	case d.schema != "json_schema" || !isObject:
		return nil, wire.InstructSchema(system, schema)
	}
	if d.tellSchema {
		system = wire.InstructSchema(system, schema)
	}
	fitted, strict := strictRules.Fit(schema)
	if !strict {
		fitted = schema
	}
	return &responseFormat{"json_schema", &jsonSchema{"answer", fitted, strict}}, system
}
