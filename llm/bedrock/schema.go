package bedrock

import (
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// outputRules are the rules of outputConfig.textFormat. From AWS's page on structured outputs, read in November 2026.
var outputRules = wire.SchemaRules{
	Keywords: []string{
		"type", "description", "title", "properties", "required", "additionalProperties", "items", "minItems", "enum", "const", "anyOf",
		"$ref", "$defs", "definitions", "format",
	},
	Constraints: []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems",
		"maxItems", "uniqueItems", "format",
	},
	Formats: []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
	Close:   true, MaxOptional: 24, MaxUnions: 16,
}

// fitted returns the request's schema as the service accepts it; false if it cannot enforce it: it does not support a
// keyword, or documents need citations, which it refuses beside a schema.
func fitted(r llm.Request) (*textFormat, bool) {
	if len(r.Schema) == 0 || cites(r) && hasDocument(r) {
		return nil, false
	}
	schema, ok := outputRules.Fit(r.Schema)
	if !ok {
		return nil, false
	}
	out := &textFormat{Type: "json_schema"}
	out.Structure.JSONSchema.Name, out.Structure.JSONSchema.Schema = "answer", string(schema)
	return out, true
}

// hasDocument reports whether any turn holds a document, in a tool result or beside one.
func hasDocument(r llm.Request) bool {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			inside := []content.Block{b}
			if result, ok := b.(content.ToolResult); ok {
				inside = result.Blocks
			}
			for _, one := range inside {
				if one.Type() == content.TypeDocument {
					return true
				}
			}
		}
	}
	return false
}
