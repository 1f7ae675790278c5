package anthropic

import (
	"encoding/json"
	"regexp"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Cache       *cacheMark      `json:"cache_control,omitempty"`
}

type toolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   any    `json:"content"`
	IsError   bool   `json:"is_error,omitempty"`

	Cache *cacheMark `json:"cache_control,omitempty"`
}

func tools(list []llm.Tool) []tool {
	var out []tool
	for _, t := range list {
		out = append(out, tool{Name: t.Name, Description: t.Description, InputSchema: t.ParametersOrNone()})
	}
	return out
}

// result returns a tool's result: a string if it is only text, else a list in order, media included.
func result(drawing *wire.Drawing, ids callIDs, r llm.Result) toolResult {
	out := toolResult{Type: "tool_result", ToolUseID: ids.of(r.CallID), IsError: r.Failed}
	if len(r.Media()) == 0 {
		out.Content = r.Text()
		return out
	}
	var parts []any
	for _, b := range r.Parts {
		parts = append(parts, part(drawing, b))
	}
	out.Content = parts
	return out
}

// callIDs maps the ids of other services' calls to those used here.
type callIDs map[string]string

// acceptedID is the API's pattern for the id of a call.
var acceptedID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// foreign registers a call that is not echoed raw.
func (ids callIDs) foreign(id string) string {
	if !acceptedID.MatchString(id) {
		ids[id] = wire.ForeignCallID(id, 24)
	}
	return ids.of(id)
}

func (ids callIDs) of(id string) string {
	if mapped, ok := ids[id]; ok {
		return mapped
	}
	return id
}

// outputRules are the rules of output_config.format. From the provider's page on structured outputs, read in November 2026.
// Its SDKs too move unsupported constraints into descriptions.
var outputRules = wire.SchemaRules{
	Keywords: []string{
		"type", "description", "title", "properties", "required", "additionalProperties", "items", "minItems", "enum", "const",
		"anyOf", "$ref", "$defs", "definitions", "format",
	},
	Constraints: []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems",
		"maxItems", "uniqueItems", "format",
	},
	Formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
	Close:   true, MaxOptional: 24, MaxUnions: 16,
}

// demand requests an answer that fits a schema: through the API if it accepts the schema, else in the system prompt that it
// returns.
func demand(body *messagesBody, system string, schema json.RawMessage) string {
	if len(schema) == 0 {
		return system
	}
	fitted, ok := outputRules.Fit(schema)
	if !ok {
		return wire.InstructSchema(system, schema)
	}
	if body.OutputConfig == nil {
		body.OutputConfig = &output{}
	}
	body.OutputConfig.Format = &format{"json_schema", fitted}
	return system
}
