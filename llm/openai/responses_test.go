package openai_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func newResponses(c wire.Config) llm.Provider { return openai.NewResponses(c) }

func TestResponses_contract(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New: newResponses, Path: "/v1", Wire: llmtest.Responses{}, MediaInResults: true, Documents: true, NativeSchema: true, TurnsAreItems: true, CacheMark: `"prompt_cache_key":"`, Signed: true,
	})
}

func FuzzResponses_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.Responses{}, "text/event-stream", newResponses)
}

// Reasoning, unknown items and unknown members go back byte for byte, before the call that they led to.
func TestResponses_threeTurnsWithReasoning(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Responses{},
		llmtest.Reply{Answer: llmtest.Answer{Thinking: "first", ToolCalls: []llmtest.ToolCall{{Name: "look"}}}},
		llmtest.Reply{Answer: llmtest.Answer{Thinking: "second", ToolCalls: []llmtest.ToolCall{{Name: "look", Input: `{"n":2}`}}}},
		llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
	p := newResponses(wire.Config{BaseURL: server.URL + "/v1", APIKey: llmtest.Key})
	r := ask()
	r.Tools = []llm.Tool{{Name: "look"}}
	for range 3 {
		response, err := p.Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		results := llm.Message{Role: llm.User}
		for _, b := range response.Blocks {
			if c, ok := b.(content.ToolCall); ok {
				results.Blocks = append(results.Blocks, content.ToolResult{CallID: c.ID, Success: true, Output: "seen"})
			}
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Blocks: response.Blocks, Raw: response.Raw}, results)
	}
	last := string(server.Requests()[2].Body)
	at := 0
	for _, want := range []string{`"text":"first"`, `"type":"function_call"`, `"function_call_output"`, `"text":"second"`, `{\"n\":2}`, `"function_call_output"`} {
		next := strings.Index(last[at:], want)
		if next < 0 {
			t.Fatalf("%s is not in its place: %s", want, last)
		}
		at += next
	}
	if !strings.Contains(last, llmtest.Signature(1)) || !strings.Contains(last, llmtest.Signature(2)) {
		t.Errorf("the reasoning did not go back: %s", last)
	}
}

// A service that stores nothing finds neither reasoning that it gave in the open nor items by id.
func TestResponses_reasoningInTheOpenStaysHere(t *testing.T) {
	t.Parallel()
	base, body := serveWith(t, "text/event-stream", chunks(
		`{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{}","new":1}}`,
		`{"type":"response.completed","response":{"status":"completed","model":"m"}}`))
	p := newResponses(wire.Config{BaseURL: base})
	r := ask()
	r.Tools = []llm.Tool{{Name: "look"}}
	response, err := p.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Blocks: response.Blocks, Raw: response.Raw},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "c1", Success: true, Output: "seen"}}})
	if _, err := p.Generate(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(*body, "rs_1") || strings.Contains(*body, "fc_1") || !strings.Contains(*body, `"new":1`) {
		t.Errorf("sent %s", *body)
	}
}

func TestResponses_ends(t *testing.T) {
	t.Parallel()
	said := `{"type":"response.output_text.delta","delta":"half"}`
	item := `{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"half"}]}}`
	for _, c := range []struct {
		name  string
		lines []string
		stop  llm.Stop
		class llm.Class
	}{
		{"filtered", []string{said, item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, llm.StopRefusal, ""},
		{"cut off", []string{said, item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}, llm.StopLength, ""},
		{"for a reason to come", []string{said, item, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"new"}}}`}, llm.StopOther, ""},
		{"failed", []string{said, `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-5"}}}`}, "", llm.ClassRateLimit},
		{"an error", []string{`{"type":"error","code":"server_error","message":"The server had an error","param":null}`}, "", llm.ClassOverloaded},
		{"no end", []string{said, item}, "", llm.ClassNetwork},
		{"not JSON", []string{`{`}, "", llm.ClassNetwork},
	} {
		base := serveEvents(t, c.lines...)
		got, err := newResponses(wire.Config{BaseURL: base}).Generate(t.Context(), ask(), nil)
		if e, ok := llm.AsError(err); c.class != "" && (!ok || e.Class != c.class) || c.class == "" && (err != nil || got.Stop != c.stop) {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

// serveEvents answers every request with fixed events.
func serveEvents(t *testing.T, lines ...string) string {
	t.Helper()
	p, _ := serveWith(t, "text/event-stream", chunks(lines...))
	return p
}

func TestResponses_thinking(t *testing.T) {
	t.Parallel()
	const include = `"include":["reasoning.encrypted_content"]`
	for _, c := range []struct{ model, level, want string }{
		{"gpt-4.1", "", ``},
		{"gpt-5.2", "", include},
		{"o3", "2048", include},
		{"gpt-5-chat-latest", "", ``},
		{"gpt-4.1", "low", include + `,"max_output_tokens":5,"reasoning":{"effort":"low","summary":"auto"}`},
		{"gpt-5.2", "off", `"reasoning":{"effort":"none"}`},
	} {
		server := llmtest.NewServer(t, llmtest.Responses{}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		r := ask()
		r.Model, r.Thinking = c.model, c.level
		if _, err := newResponses(wire.Config{BaseURL: server.URL + "/v1", APIKey: llmtest.Key}).Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		body := string(server.Requests()[0].Body)
		if !strings.Contains(body, c.want) || c.want == "" && strings.Contains(body, "reasoning") {
			t.Errorf("%s, %q: no %s in %s", c.model, c.level, c.want, body)
		}
	}
}
