package offline_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/offline"
)

// instance returns the answer for a schema without white space, after package conform has accepted it.
func instance(t *testing.T, schema string) string {
	t.Helper()
	r := request(content.Text{Value: "Find the chapters."})
	r.Schema = json.RawMessage(schema)
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	compiled, err := conform.Compile([]byte(schema), true)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	var value any
	dec := json.NewDecoder(strings.NewReader(got.Text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil || dec.More() {
		t.Fatalf("%s: the answer is not one JSON value: %v\n%s", schema, err, got.Text)
	}
	if err := compiled.Validate(t.Context(), value, len(got.Text)); err != nil {
		t.Errorf("%s: the answer does not fit: %v\n%s", schema, err, got.Text)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(got.Text)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFill_smallestInstance(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`true`: `null`, `{}`: `null`, `{"type":"null"}`: `null`, `{"type":"boolean"}`: `false`, `{"type":"string"}`: `""`, `{"type":"object"}`: `{}`, `{"type":"array"}`: `[]`,
		`{"const":{"a":[1]}}`: `{"a":[1]}`, `{"enum":["x",null]}`: `"x"`, `{"type":["null","integer"]}`: `null`,
		// Objects.
		`{"required":["b","a"],"properties":{"a":{"type":"integer"},"c":{"type":"string"}}}`:                                                            `{"a":0,"b":null}`,
		`{"type":"object","minProperties":2,"properties":{"z":{"type":"integer"}},"additionalProperties":{"type":"boolean"}}`:                           `{"member1":false,"z":0}`,
		`{"type":"object","required":["first_page","headings"],"properties":{"first_page":{"type":"integer","minimum":1},"headings":{"type":"array"}}}`: `{"first_page":1,"headings":[]}`,
		// Lists.
		`{"minItems":2,"items":{"type":"number","exclusiveMaximum":-2.5}}`:                                                             `[-3,-3]`,
		`{"type":"array","minItems":3,"prefixItems":[{"type":"string"},{"const":7}],"items":{"type":"boolean"}}`:                       `["",7,false]`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string"}}`:                                                   `["","-","--"]`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string","pattern":"^p[0-9]+$"}}`:                             `["p0","p00","p000"]`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"integer","minimum":1,"maximum":3}}`:                          `[1,2,3]`,
		`{"type":"array","minItems":2,"uniqueItems":true,"items":{"enum":["a","a","b"]}}`:                                              `["a","b"]`,
		`{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"boolean"}}`:                                                  `[false,true]`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"object","required":["n"],"properties":{"n":{"minimum":4}}}}`: `[{"n":4},{"n":5},{"n":6}]`,
		`{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"object","properties":{"n":{"type":"integer"}}}}`:             `[{},{"n":1}]`,
		// Numbers.
		`{"type":"integer","minimum":10,"maximum":12}`: `10`, `{"type":"number","minimum":0.5,"maximum":0.7}`: `0.5`, `{"type":"number","exclusiveMinimum":0.5,"maximum":0.7}`: `0.6`,
		`{"type":"integer","exclusiveMinimum":3,"multipleOf":4}`: `4`, `{"type":"number","minimum":0.25,"multipleOf":0.1}`: `0.3`, `{"type":"integer","maximum":-1,"multipleOf":1.5}`: `-3`,
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.02}`: `0.001`,
		// Texts.
		`{"minLength":3}`: `"---"`, `{"format":"date"}`: `"1970-01-01"`, `{"pattern":"^page_[0-9]{4}$"}`: `"page_0000"`, `{"pattern":"^(?:a|b)+\\.?[^\\s]x{2,}$","minLength":9}`: `"aaa.!xxxx"`,
		`{"pattern":"^\\w+-\\d{2}$","minLength":6}`: `"000-00"`,
		// References and alternatives.
		`{"anyOf":[{"type":"null"},{"type":"object"}]}`: `null`, `{"allOf":[{"required":["a"]},{"properties":{"a":{"minimum":1}}},{"properties":{"a":{"minimum":2}}}]}`: `{"a":2}`,
		`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"const":1}}}`: `1`, `{"$ref":"#/definitions/x","definitions":{"x":{"type":"boolean"}}}`: `false`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}}`: `{"next":null}`,
		`{"required":["children"],"properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`:                                                       `{"children":[]}`,
		`{"oneOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}],"required":["a"]}`:                                              `{"a":null}`,
		`{"oneOf":[{"type":"integer"},{"type":"number"},{"const":"text"}]}`:                                                                               `0`,
		`{"required":["kind"],"properties":{"kind":{"enum":["a","b"]}},"if":{"properties":{"kind":{"const":"a"}}},"then":false}`:                          `{"kind":"b"}`,
		`{"type":"integer","not":{"const":0}}`: `1`, `{"enum":[1,2,3],"not":{"enum":[1,2]}}`: `3`,
	} {
		if want == `0` && strings.Contains(schema, "oneOf") { // 0 is both an integer and a number: the third alternative remains
			want = `"text"`
		}
		if got := instance(t, schema); got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

func TestFill_formats(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "uuid", "regex", "json-pointer"} {
		instance(t, `{"type":"string","format":"`+format+`"}`)
	}
}

func TestFill_refusesWhatItCannotFill(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":7}`, `{"type":`, `false`, `{"$ref":"https://example.invalid/schema"}`, `{"$ref":"#"}`, `{"$ref":"#/$defs/n","$defs":{"n":{"required":["n"],"properties":{"n":{"$ref":"#/$defs/n"}},"type":"object"}}}`,
		`{"type":"string","minLength":3,"maxLength":2}`, `{"type":"integer","minimum":0.2,"maximum":0.8}`, `{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"boolean"}}`,
		`{"allOf":[{"type":"string"},{"type":"integer"}]}`, `{"type":"array","minItems":1000000000}`, `{"type":"object","minProperties":1000000000}`, `{"pattern":"^(a+){9}$","minLength":100000}`,
	} {
		r := request(content.Text{Value: "x"})
		r.Schema = json.RawMessage(schema)
		_, err := offline.New().Generate(t.Context(), r, nil)
		if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassParameter {
			t.Errorf("%s: got %v, want a parameter error", schema, err)
		}
	}
}

// randomSchema makes a schema that has an instance.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	kind := r.IntN(10)
	if depth > 3 {
		kind = r.IntN(6)
	}
	switch kind {
	case 0:
		return map[string]any{"type": "string", "minLength": r.IntN(9), "maxLength": 9 + r.IntN(30)}
	case 1:
		return map[string]any{"type": "integer", "minimum": r.IntN(9) - 4, "maximum": 5 + r.IntN(9)}
	case 2:
		return map[string]any{"type": "number", "exclusiveMinimum": r.Float64() - 2, "exclusiveMaximum": 1 + r.Float64()}
	case 3:
		return map[string]any{"type": []any{"boolean", "null"}}
	case 4:
		return map[string]any{"enum": []any{"plants", 3, nil, "roots"}}
	case 5:
		return map[string]any{"type": "string", "pattern": []string{"^[a-z]+$", "x|y", "^\\d{3}-\\w*$", "^(?:un)?[A-F]{2,4}"}[r.IntN(4)]}
	case 6:
		least := r.IntN(4)
		return map[string]any{"type": "array", "minItems": least, "maxItems": least + r.IntN(4), "items": randomSchema(r, depth+1)}
	case 7:
		return map[string]any{"anyOf": []any{randomSchema(r, depth+1), randomSchema(r, depth+1)}}
	}
	properties, required := map[string]any{}, []any{}
	for range 1 + r.IntN(5) {
		name := []string{"title", "page", "tags", "chapters", "summary", "x"}[r.IntN(6)]
		if properties[name] == nil && r.IntN(2) == 0 {
			required = append(required, name)
		}
		properties[name] = randomSchema(r, depth+1)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": r.IntN(2) == 0}
}

func TestFill_randomSchemas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		schema, err := json.Marshal(randomSchema(rand.New(rand.NewPCG(seed, 1)), 0))
		if err != nil {
			t.Fatal(err)
		}
		if first, second := instance(t, string(schema)), instance(t, string(schema)); first != second {
			t.Fatalf("%s: two answers differ:\n%s\n%s", schema, first, second)
		}
	}
}

// FuzzFill checks that any schema leads to JSON that fits or to an error, and to an end.
func FuzzFill(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`)
	f.Add(`{"type":"array","minItems":9,"uniqueItems":true,"items":{"anyOf":[{"type":"boolean"},{"multipleOf":0.1}]}}`)
	f.Add(`{"pattern":"((a*b+)*|[^c]{3,9}$)","minLength":40,"maximum":1e300}`)
	f.Fuzz(func(t *testing.T, schema string) {
		r := request()
		r.Schema = json.RawMessage(schema)
		if _, err := offline.New().Generate(t.Context(), r, nil); err == nil && schema != "" {
			instance(t, schema)
		}
	})
}

func TestGenerate_jsonWithoutASchema(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "Sum up."})
	r.System = "Facts.\n\nAnswer with JSON only (no words around it, no code fence)."
	if got, err := offline.New().Generate(t.Context(), r, nil); err != nil || got.Text != "{}" {
		t.Errorf("got %v, %v", got, err)
	}
}
