package ollama_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestGenerate_resultsAreEscapedAndNamed(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{
		{Name: "look", Input: `{"at":"[img-1]","n":12345678901234567890}`}, {Name: "list", ID: "call_x"},
	}}}, llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
	p := ollama.New(wire.Config{BaseURL: server.URL})
	request := ask(content.Text{Value: "hi"})
	request.Tools, request.Media = []llm.Tool{{Name: "look"}, {Name: "list"}}, album
	first, err := p.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []content.Block{
		content.ToolCall{ID: "call_1_0", Name: "look", Input: json.RawMessage(`{"at":"[img-1]","n":12345678901234567890}`)},
		content.ToolCall{ID: "call_x", Name: "list", Input: json.RawMessage(`{}`)},
	}
	if diff := cmp.Diff(want, first.Blocks); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	picture := album.Add(t, "p.png", "png", 20, 1)
	request.Messages = append(
		request.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw},
		llm.Message{Role: llm.User, Blocks: []content.Block{
			content.ToolResult{CallID: "call_x", Success: true, Output: "[img]"}, content.ToolResult{CallID: "call_1_0", Success: true, Blocks: []content.Block{picture}},
		}},
	)
	if _, err := p.Generate(t.Context(), request, nil); err != nil { // the server refuses marks, and results in another order
		t.Fatal(err)
	}
	var body struct {
		Messages []struct{ Role, Content, ToolName string }
	}
	if err := json.Unmarshal(server.Requests()[1].Body, &body); err != nil {
		t.Fatal(err)
	}
	var talk []string
	for _, m := range body.Messages {
		talk = append(talk, m.Role+": "+m.Content)
	}
	id := llm.MediaID(picture)
	wanted := []string{"user: hi", "assistant: ", "tool: See file " + id + ".", "tool: [ img]", "user: This is file " + id + ":", "user: "}
	if diff := cmp.Diff(wanted, talk); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestGenerate_format(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Text: "[]"}})
	request := ask(content.Text{Value: "hi"})
	request.Schema = json.RawMessage(`{"type":"array","items":{"type":"string"}}`)
	if _, err := ollama.New(wire.Config{BaseURL: server.URL}).Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	if string(got.Schema()) != string(request.Schema) || !strings.Contains(string(got.Body), `JSON Schema:\n{\"type\":\"array\"`) {
		t.Errorf("want the schema as format, and in the system prompt, which Ollama does not tell the model of: %s", got.Body)
	}
}

func TestGenerate_callsOfOneIDAreToldApart(t *testing.T) {
	t.Parallel()
	p := fixed(t, 200, `{"message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":{}}},{"id":"a","function":{"name":"look","arguments":{}}}]},"done":true,"done_reason":"stop"}`)
	got, err := p.Generate(t.Context(), ask(content.Text{Value: "hi"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if first, second := got.Blocks[0].(content.ToolCall), got.Blocks[1].(content.ToolCall); first.ID == second.ID {
		t.Errorf("both calls are %q", first.ID)
	}
}
