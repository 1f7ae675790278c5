package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestGenerate_callsGoBackWithoutTheStreamsIndex(t *testing.T) {
	t.Parallel()
	p, body := serve(t, "openai_compatible", "text/event-stream", chunks(
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"look","arguments":""}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"type":"function","function":{"name":"look","arguments":{"n":1}}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"id":"x","type":"function","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"look","arguments":"{\"n\":"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"id":"x","function":{"arguments":"2}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]",
	))
	request := ask()
	request.Tools = []llm.Tool{{Name: "look"}}
	got, err := p.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	seen := map[string]bool{}
	results := []content.Block{}
	for _, b := range got.Blocks {
		call := b.(content.ToolCall)
		inputs = append(inputs, string(call.Input))
		seen[call.ID] = true
		results = append(results, content.ToolResult{CallID: call.ID, Success: true, Output: "r" + call.ID})
	}
	if diff := cmp.Diff([]string{`{}`, `{"n":1}`, `{"n":2}`}, inputs); diff != "" || len(seen) != 3 || seen[""] || !seen["x"] {
		t.Errorf("ids %v, inputs (-want +got):\n%s", seen, diff)
	}
	if got.Stop != llm.StopToolUse {
		t.Errorf("stop %q although there are calls", got.Stop)
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: got.Blocks, Raw: got.Raw}, llm.Message{Role: llm.User, Blocks: results})
	if _, err := p.Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	h := make(map[string][]string)
	h["Authorization"] = []string{"Bearer " + llmtest.Key}
	if _, err := (llmtest.OpenAI{Kind: "openai_compatible"}).Read(h, []byte(strings.Replace(*body, `"extra_content":{"google":{"thought_signature":"s"}},`, "", 1))); err != nil {
		t.Errorf("the service would refuse it: %v\n%s", err, *body)
	}
	if strings.Contains(*body, `"index"`) || !strings.Contains(*body, `"thought_signature":"s"`) || !strings.Contains(*body, `"arguments":"{\"n\":2}"`) {
		t.Errorf("want what came, without the index: %s", *body)
	}
}

func TestGenerate_mistralBridges(t *testing.T) {
	t.Parallel()
	p, body := serve(t, "mistral", "text/event-stream", chunks(finished, "[DONE]"))
	request := ask()
	request.Tools = []llm.Tool{{Name: "look"}}
	request.Messages = append(
		request.Messages, llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "toolu_of_another", Name: "look"}}},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "toolu_of_another", Success: true, Output: "seen"}, content.Text{Value: "go on"}}},
	)
	if _, err := p.Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	id := wire.ForeignCallID("toolu_of_another", 9)
	want := `{"role":"tool","tool_call_id":"` + id + `","content":"seen"},{"role":"assistant","content":"OK"},{"role":"user","content":"go on"}]`
	if !strings.Contains(*body, want) || !strings.Contains(*body, `"tool_calls":[{"id":"`+id+`"`) {
		t.Errorf("the body lacks %s: %s", want, *body)
	}
}

func TestGenerate_responseFormat(t *testing.T) {
	t.Parallel()
	const closed = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	const open = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	for _, c := range []struct {
		kind, schema string
		want         string
		told         bool
	}{
		{"openai_chat", closed, `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"additionalProperties":false,"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"},"strict":true}}`, false},
		{"openai_chat", open, `"json_schema":{"name":"answer","schema":` + open + `,"strict":false}`, false},
		{"openai_chat", `{"type":"array"}`, "", true},
		{"llamacpp", closed, `"strict":true`, true},
		{"deepseek", closed, `"response_format":{"type":"json_object"}`, true},
		{"deepseek", `{"type":"array"}`, "", true},
		{"groq", closed, "", true},
	} {
		p, body := serve(t, c.kind, "text/event-stream", chunks(finished, "[DONE]"))
		request := ask()
		request.Schema = json.RawMessage(c.schema)
		if _, err := p.Generate(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(*body, c.want) || c.want == "" && strings.Contains(*body, "response_format") {
			t.Errorf("%s %s: want %q in %s", c.kind, c.schema, c.want, *body)
		}
		if told := strings.Contains(*body, "JSON Schema:"); told != c.told {
			t.Errorf("%s %s: the model is told %v, want %v", c.kind, c.schema, told, c.told)
		}
	}
}

func TestGenerate_documentsOnTheWire(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"openai_chat": `{"type":"file","file":{"filename":"ID.pdf","file_data":"data:application/pdf;base64,JVBERi`,
		"mistral":     `{"type":"document_url","document_name":"ID.pdf","document_url":"data:application/pdf;base64,JVBERi`,
		"lmstudio":    `"content":"[document: secret name.pdf, 2 pages, `,
	} {
		album := &llmtest.Album{}
		document := album.AddDocument(t, "secret name.pdf", 2)
		p, body := serve(t, kind, "text/event-stream", chunks(finished, "[DONE]"))
		request := ask()
		if kind == "lmstudio" { // takes none: its words go
			document.Extracted = document.Text()
		}
		request.Messages[0].Blocks, request.Media = []content.Block{document}, album
		if _, err := p.Generate(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		if want = strings.Replace(want, "ID", llm.MediaID(document), 1); !strings.Contains(*body, want) {
			t.Errorf("%s: want %s in %s", kind, want, *body)
		}
	}
}
