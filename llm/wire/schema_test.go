package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var closing = SchemaRules{
	Keywords:    []string{"type", "description", "properties", "required", "additionalProperties", "items", "minItems", "enum", "const", "anyOf", "$ref", "$defs", "format"},
	Constraints: []string{"minimum", "maxLength", "pattern", "minItems", "format"},
	Formats:     []string{"date"},
	Close:       true, MaxOptional: 3, MaxUnions: 2,
}

var demanding = SchemaRules{
	Keywords: []string{"type", "properties", "required", "additionalProperties", "items", "minimum", "format", "$ref", "$defs"}, Formats: []string{"date"}, AllRequired: true,
}

func TestSchemaRules_fit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rules SchemaRules
		in    string
		want  string // "" is no fit
	}{
		{"closes objects, tells constraints", closing, `{"$schema":"x","type":"object","properties":{"a":{"type":"integer","minimum":12345678901234567890,"description":"How many."},"b":{"type":"string","maxLength":3,"pattern":"<a>"}},"required":["a"]}`, `{"additionalProperties":false,"properties":{"a":{"description":"How many. (minimum: 12345678901234567890)","type":"integer"},"b":{"description":"(maxLength: 3, pattern: \"<a>\")","type":"string"}},"required":["a"],"type":"object"}`},
		{"keeps what is known", closing, `{"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"type":"string","format":"date"}}},"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"items":{"format":"date","type":"string"},"minItems":1,"type":"array"}},"type":"object"}`},
		{"tells larger counts and other formats", closing, `{"type":"object","properties":{"a":{"type":"array","minItems":2,"items":{"type":"string","format":"iri"}}},"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"description":"(minItems: 2)","items":{"description":"(format: \"iri\")","type":"string"},"type":"array"}},"type":"object"}`},
		{"a property may be called like a keyword", closing, `{"type":"object","properties":{"minimum":{"type":"integer"},"default":{"type":"string"}}}`, `{"additionalProperties":false,"properties":{"default":{"type":"string"},"minimum":{"type":"integer"}},"type":"object"}`},
		{"free members", closing, `{"type":"object"}`, ""},
		{"members of a kind", closing, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`, ""},
		{"open on purpose", closing, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`, ""},
		{"a list", closing, `{"type":"array","items":{"type":"string"}}`, ""},
		{"a word that is not known", closing, `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}}}`, ""},
		{"values that are lists", closing, `{"type":"object","properties":{"a":{"enum":[[1]]}}}`, ""},
		{"requires what is not there", closing, `{"type":"object","properties":{"a":{}},"required":["b"]}`, ""},
		{"too many optional", closing, `{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{}}}`, ""},
		{"too many unions", closing, `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"null"}]},"c":{"type":["null","string"]}}}`, ""},
		{"a circle", closing, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","properties":{"y":{"type":"array","items":{"$ref":"#/$defs/x"}}}}}}`, ""},
		{"twice the same, and no circle", demanding, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"required":["a","b"],"additionalProperties":false,"$defs":{"x":{"type":"string"}}}`, `{"$defs":{"x":{"type":"string"}},"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"required":["a","b"],"type":"object"}`},
		{"itself", closing, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, ""},
		{"elsewhere", closing, `{"type":"object","properties":{"a":{"$ref":"https://example.org/x"}}}`, ""},
		{"not closed", demanding, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, ""},
		{"not all required", demanding, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, ""},
		{"a format that is not known and cannot be told", demanding, `{"type":"object","properties":{"a":{"type":"string","format":"iri"}},"required":["a"],"additionalProperties":false}`, ""},
		{"all there", demanding, `{"type":"object","properties":{"a":{"type":"integer","minimum":2}},"required":["a"],"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"minimum":2,"type":"integer"}},"required":["a"],"type":"object"}`},
		{"anything", closing, `true`, ""},
		{"no JSON", closing, `{`, ""},
	} {
		got, ok := c.rules.Fit(json.RawMessage(c.in))
		if ok != (c.want != "") {
			t.Errorf("%s: fits %v: %s", c.name, ok, got)
		}
		if diff := cmp.Diff(c.want, string(got)); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
