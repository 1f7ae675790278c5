package llmtest

import (
	"encoding/json"
	"strings"
	"testing"
)

// schemas sends schemas of all sorts; the server refuses those that its service would refuse.
func schemas(t *testing.T, s Subject) {
	for _, c := range []struct {
		name   string
		schema string
		native bool // where the service holds answers to a schema at all
	}{
		{"all required", `{"type":"object","properties":{"title":{"type":"string"},"pages":{"type":"array","items":{"type":"integer"}}},"required":["title","pages"],"additionalProperties":false}`, true},
		{"open and with bounds", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"title":{"type":"string","minLength":3},"n":{"type":"integer","minimum":1,"maximum":9},"tags":{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"string"}}},"required":["title"]}`, true},
		{"definitions", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}},"required":["a","b"],"additionalProperties":false,"$defs":{"x":{"type":"object","properties":{"y":{"enum":["u","v"]}},"required":["y"],"additionalProperties":false}}}`, true},
		{"a list", `{"type":"array","items":{"type":"string"}}`, false},
		{"anything", `true`, false},
	} {
		server := NewServer(t, s.Wire, one(Answer{Text: "{}"}))
		request := ask()
		request.Schema = json.RawMessage(c.schema)
		generate(t, s.provider(server), request, nil)
		sent := server.Requests()[0]
		if s.NativeSchema && c.native && sent.Schema() == nil {
			t.Errorf("%s: the schema did not go to the service: %s", c.name, sent.Body)
		}
		if !strings.Contains(string(sent.Body), "be brief") {
			t.Errorf("%s: the system prompt is lost: %s", c.name, sent.Body)
		}
		if sent.Schema() == nil && !strings.Contains(string(sent.Body), `JSON Schema:\n`+strings.ReplaceAll(c.schema, `"`, `\"`)) {
			t.Errorf("%s: neither the service nor the model knows the schema: %s", c.name, sent.Body)
		}
	}
	server := NewServer(t, s.Wire, one(Answer{Text: "{}"}))
	generate(t, s.provider(server), ask(), nil)
	if body := string(server.Requests()[0].Body); strings.Contains(body, "JSON") || server.Requests()[0].Schema() != nil {
		t.Errorf("without a schema something is asked: %s", body)
	}
}
