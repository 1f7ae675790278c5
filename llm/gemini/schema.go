package gemini

import (
	"github.com/vaultflow/vaultflow/llm/wire"
)
import "github.com/vaultflow/vaultflow/llm"

// outputRules are the rules of responseJsonSchema. From the provider's page on structured output, read in November 2026: the
// service ignores what the page does not name, so other constraints go into descriptions.
var outputRules = wire.SchemaRules{
	Keywords: []string{
		"type", "title", "description", "enum", "format", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
		"minimum", "maximum", "anyOf", "$ref", "$defs",
	},
	Constraints: []string{"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "uniqueItems", "format"},
	Formats:     []string{"date-time", "date", "time"},
	Close:       true,
}

// demand requests an answer that fits the request's schema, and returns the system prompt, which holds the schema if the
// service cannot enforce it. Models before the third generation refuse a schema beside tools.
func (g *generating) demand(r llm.Request) (system string) {
	if len(r.Schema) == 0 {
		return r.System
	}
	fitted, ok := outputRules.Fit(r.Schema)
	if !ok || len(r.Tools) > 0 && generation(r.Model) < 3 {
		return wire.InstructSchema(r.System, r.Schema)
	}
	g.ResponseMIMEType, g.ResponseJSONSchema = "application/json", fitted
	return r.System
}
