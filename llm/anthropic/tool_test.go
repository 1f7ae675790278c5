package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestGenerate_resultOnTheWire(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	server := llmtest.NewServer(t, llmtest.Anthropic{}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
	request := ask("")
	request.Tools, request.Media = []llm.Tool{{Name: "look", Description: "Looks."}}, album
	request.Messages = append(
		request.Messages,
		llm.Message{Role: llm.Assistant, Blocks: []content.Block{
			content.ToolCall{ID: "a", Name: "look", Input: json.RawMessage(`{"n":12345678901234567890}`)}, content.ToolCall{ID: "b", Name: "look"}, content.ToolCall{ID: "c", Name: "look"},
		}},
		llm.Message{Role: llm.User, Blocks: []content.Block{
			content.ToolResult{CallID: "c", Success: true, Blocks: []content.Block{album.AddDocument(t, "p.pdf", 1)}},
			content.ToolResult{CallID: "b", Error: "gone"},
			content.ToolResult{CallID: "a", Success: true, Output: "one", Blocks: []content.Block{content.Text{Value: "two"}}},
		}},
	)
	if _, err := anthropic.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key}).Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	body := string(server.Requests()[0].Body)
	for _, want := range []string{
		`"tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{}}}]`,
		`{"type":"tool_use","id":"a","name":"look","input":{"n":12345678901234567890}},{"type":"tool_use","id":"b","name":"look","input":{}}`,
		`"content":[{"type":"tool_result","tool_use_id":"a","content":"one\ntwo"},{"type":"tool_result","tool_use_id":"b","content":"error: gone","is_error":true},` +
			`{"type":"tool_result","tool_use_id":"c","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the body lacks %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "p.pdf") {
		t.Errorf("the vault's name is in the body: %s", body)
	}
}

func TestGenerate_blankTextBeforeACall(t *testing.T) {
	t.Parallel()
	p, body := serve(t, events(
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\n\n"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
	))
	request := ask("")
	request.Tools = []llm.Tool{{Name: "look"}}
	got, err := p.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Messages = append(
		request.Messages, llm.Message{Role: llm.Assistant, Blocks: got.Blocks, Raw: got.Raw},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "t1", Success: true}}},
	)
	if _, err := p.Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	if want := `{"role":"assistant","content":[{"id":"t1","input":{},"name":"look","type":"tool_use"}]}`; !strings.Contains(*body, want) {
		t.Errorf("the body lacks %s: %s", want, *body)
	}
}

func TestGenerate_callsWithoutAnIDAreNoAnswer(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{"none": `""`, "the same": `"t1"`} {
		p, _ := serve(t, events(
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":`+second+`,"name":"look","input":{}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
		))
		_, err := p.Generate(t.Context(), ask(""), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNetwork {
			t.Errorf("%s: got %v, want a broken answer", name, err)
		}
	}
}

func TestGenerate_schemaBesideEffort(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Anthropic{}, llmtest.Reply{Answer: llmtest.Answer{Text: "{}"}})
	request := ask("low")
	request.Model = "claude-opus-4-7"
	request.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`)
	if _, err := anthropic.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key}).Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	want := `"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"additionalProperties":false,"properties":{"n":{"description":"(minimum: 1)","type":"integer"}},"required":["n"],"type":"object"}}}`
	if body := string(server.Requests()[0].Body); !strings.Contains(body, want) {
		t.Errorf("the body lacks %s: %s", want, body)
	}
}
