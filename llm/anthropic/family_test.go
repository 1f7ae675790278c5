package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const sonnet = "claude-sonnet-5-5"

// family starts the strict server of Anthropic's own service or of Vertex AI, and its client.
func family(t *testing.T, vertex bool, replies ...llmtest.Reply) (llm.Provider, *llmtest.Server) {
	t.Helper()
	server := llmtest.NewServer(t, llmtest.Anthropic{Vertex: vertex}, replies...)
	if vertex {
		return anthropic.New(wire.Config{Kind: "vertex", BaseURL: server.URL + llmtest.VertexPath + "anthropic", APIKey: llmtest.Key}), server
	}
	return anthropic.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key}), server
}

// Sonnet 5.5 takes no temperature, no budget and no "disabled", reasons unasked, and holds an answer to a schema by itself.
func TestGenerate_optionsOfSonnet55(t *testing.T) {
	t.Parallel()
	warm := 0.5
	for _, vertex := range []bool{false, true} {
		for level, want := range map[string]string{
			"":     `"max_tokens":10340,`,
			"off":  `"max_tokens":100,|"thinking":{"type":"between_tools"}`,
			"low":  `"max_tokens":4196,|"thinking":{"type":"adaptive"},"output_config":{"effort":"low",`,
			"2000": `"max_tokens":2100,|"thinking":{"type":"adaptive"},"output_config":{"effort":"low",`,
		} {
			p, server := family(t, vertex, llmtest.Reply{Answer: llmtest.Answer{Text: "{}"}})
			r := ask(level)
			r.Model, r.Temperature, r.MaxOutputTokens, r.Schema = sonnet, &warm, 100, json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			if _, err := p.Generate(t.Context(), r, nil); err != nil {
				t.Fatalf("at %q: %v", level, err)
			}
			captured := server.Requests()[0]
			for _, part := range strings.Split(want, "|") {
				if !strings.Contains(string(captured.Body), part) {
					t.Errorf("at %q, on Vertex %v: no %s in %s", level, vertex, part, captured.Body)
				}
			}
			if captured.Schema() == nil || strings.Contains(string(captured.Body), "temperature") || strings.Contains(string(captured.Body), "tool_choice") {
				t.Errorf("at %q, on Vertex %v: %s", level, vertex, captured.Body)
			}
		}
	}
}

// What the model writes between calls comes as reasoning without words. It goes back to the same model as it came, and to no other.
func TestGenerate_notesBetweenCalls(t *testing.T) {
	t.Parallel()
	const note = `{"signature":"c2lnbmVk","thinking":"","type":"thinking"}`
	p, body := serve(t, events(
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
	))
	r := ask("")
	r.Model, r.Tools = sonnet, []llm.Tool{{Name: "look"}}
	first, err := p.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(
		r.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "t1", Success: true}}},
	)
	for model, back := range map[string]bool{sonnet: true, "claude-sonnet-5": false, "claude-sonnet-4-5": false} {
		r.Model = model
		if _, err := p.Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(*body, note) != back || !strings.Contains(*body, `"id":"t1"`) {
			t.Errorf("%s: %s", model, *body)
		}
	}
}

// A conversation whose beginning is changed goes on: the reasoning after the change stays behind, before the service refuses it (a
// window that is full), or once it has (a change that nobody told of).
func TestGenerate_reasoningAfterAChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(llm.Request) llm.Request
		requests int
		thoughts int // that go back in the end
	}{
		"none":     {func(r llm.Request) llm.Request { return r }, 1, 4},
		"a window": {func(r llm.Request) llm.Request { r, _ = rewrite.Within(r, 800, llm.Meter{}); return r }, 1, 1},
		"untold": {func(r llm.Request) llm.Request {
			r.System = "be long"
			return r
		}, 2, 0},
	} {
		for _, vertex := range []bool{false, true} {
			var replies []llmtest.Reply
			for i := range 4 {
				replies = append(replies, llmtest.Reply{Answer: llmtest.Answer{Thinking: fmt.Sprintf("why %d", i), ToolCalls: []llmtest.ToolCall{{Name: "look", Input: "{}"}}}})
			}
			replies = append(replies, llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
			inner, server := family(t, vertex, replies...)
			p := rewrite.Overflow(inner, rewrite.OverflowPolicy{})
			r := ask("")
			r.Model, r.System, r.Tools = sonnet, "be brief", []llm.Tool{{Name: "look"}}
			for range 4 {
				answer, err := p.Generate(t.Context(), r, nil)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var results []content.Block
				for _, b := range answer.Blocks {
					if call, ok := b.(content.ToolCall); ok {
						results = append(results, content.ToolResult{CallID: call.ID, Success: true, Output: strings.Repeat("words ", 200)})
					}
				}
				r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Blocks: answer.Blocks, Raw: answer.Raw}, llm.Message{Role: llm.User, Blocks: results})
			}
			before := len(server.Requests())
			if answer, err := p.Generate(t.Context(), c.change(r), nil); err != nil || answer.Text != "done" {
				t.Fatalf("%s: %+v, %v", name, answer, err)
			}
			asked := server.Requests()
			if n := len(asked) - before; n != c.requests {
				t.Errorf("%s: %d requests, want %d", name, n, c.requests)
			}
			if n := strings.Count(string(asked[len(asked)-1].Body), `"type":"thinking"`); n != c.thoughts {
				t.Errorf("%s: %d thoughts go back, want %d", name, n, c.thoughts)
			}
		}
	}
}
