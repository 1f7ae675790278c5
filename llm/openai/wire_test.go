package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// serve answers every request with a fixed answer and keeps the last body.
func serve(t *testing.T, kind, mediaType, answer string) (llm.Provider, *string) {
	t.Helper()
	base, body := serveWith(t, mediaType, answer)
	return openai.New(wire.Config{Kind: kind, BaseURL: base}), body
}

// serveWith is serve without a provider.
func serveWith(t *testing.T, mediaType, answer string) (base string, lastBody *string) {
	t.Helper()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // a short body fails the test by what it lacks
		body = string(data)
		w.Header().Set("Content-Type", mediaType)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, &body
}

func ask() llm.Request {
	return llm.Request{Model: "m", Thinking: "low", MaxOutputTokens: 5, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "hi"}}}}}
}

func chunks(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", l)
	}
	return b.String()
}

const finished = `{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`

func TestDialects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		has   []string
		lacks []string
	}{
		{"openai_chat", []string{`"max_completion_tokens":5`, `"stream_options"`, `"reasoning_effort":"low"`}, []string{`"max_tokens"`}},
		{"mistral", []string{`"max_tokens":5`}, []string{"stream_options", "reasoning"}},
		{"groq", []string{`"max_completion_tokens":5`, "stream_options", "reasoning_effort"}, nil},
		{"openrouter", []string{`"max_tokens":5`, `"reasoning":{"effort":"low"}`}, []string{`"usage":`}},
		{"unheard of", []string{`"max_tokens":5`, "stream_options"}, []string{"reasoning"}},
	} {
		p, body := serve(t, c.kind, "text/event-stream", chunks(finished, "[DONE]"))
		if _, err := p.Generate(t.Context(), ask(), nil); err != nil {
			t.Errorf("%s: %v", c.kind, err)
		}
		for _, want := range c.has {
			if !strings.Contains(*body, want) {
				t.Errorf("%s: body lacks %s: %s", c.kind, want, *body)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(*body, not) {
				t.Errorf("%s: body holds %s: %s", c.kind, not, *body)
			}
		}
	}
}

func TestGenerate_keepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "openrouter", "text/event-stream", chunks(
		`{"model":"up/stream","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_details":[{"index":0,"type":"text","text":"th","id":"r1"}],"extra_content":{"sig":"a"}}}]}`,
		`{"choices":[{"index":0,"delta":{"reasoning":"think","reasoning_details":[{"index":0,"type":"text","text":"ink","n":12345678901234567890}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"call"}},{"index":1,"delta":{"content":"other answer"}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"list","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"cost":0.25,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":3}}}`,
		"[DONE]",
	))
	got, err := p.Generate(t.Context(), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{
		Text: "call", Stop: llm.StopToolUse, Model: "up/stream",
		Usage: cost.Usage{InputTokens: 9, OutputTokens: 4, CachedTokens: 2, ThinkingTokens: 3, CostUSD: 0.25},
		Blocks: []content.Block{
			content.Thinking{Value: "think"},
			content.Text{Value: "call"},
			content.ToolCall{ID: "c1", Name: "read", Input: json.RawMessage(`{"a":1}`)},
			content.ToolCall{ID: "c2", Name: "list", Input: json.RawMessage(`{}`)},
		},
		Raw: got.Raw,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	turn, _ := wire.UnpackRaw(got.Raw, "openrouter", "m")
	for _, part := range []string{`"text":"think"`, `"id":"r1"`, `"n":12345678901234567890`, `"extra_content":{"sig":"a"}`, `"arguments":"{\"a\":1}"`, `"role":"assistant"`, `"content":"call"`} {
		if !strings.Contains(string(turn), part) {
			t.Errorf("the turn lacks %s: %s", part, turn)
		}
	}
	if strings.Contains(string(turn), "other answer") {
		t.Errorf("the turn holds another choice: %s", turn)
	}
}

func TestGenerate_mistralThinksInParts(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "mistral", "text/event-stream", chunks(
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
		`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"an "}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"answer"},"finish_reason":"stop"}]}`, "[DONE]",
	))
	var pieces []string
	got, err := p.Generate(t.Context(), ask(), func(d string) { pieces = append(pieces, d) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]content.Block{content.Thinking{Value: "hm"}, content.Text{Value: "an answer"}}, got.Blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"an ", "answer"}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

func TestGenerate_serverThatDoesNotStream(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "lmstudio", "application/json; charset=utf-8", "{\n \"model\": \"x\",\n\n \"choices\": [{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"whole\"},\"finish_reason\":\"stop\"}],\n \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 1}\n}")
	got, err := p.Generate(t.Context(), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "whole" || got.Usage.InputTokens != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestGenerate_failures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		stream string
		want   llm.Class
	}{
		{"inside the stream", chunks(`{"error":{"code":429,"message":"Rate limit exceeded"}}`), llm.ClassRateLimit},
		{"wrapped by a gateway", chunks(`{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 3 tokens > 2 maximum\"}}"}}}`), llm.ClassContextTokens},
		{"finished by an error", chunks(`{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, "[DONE]"), llm.ClassOverloaded},
		{"done without a finish", chunks(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`, "[DONE]"), llm.ClassNetwork},
		{"not JSON", chunks(`{`), llm.ClassNetwork},
	} {
		p, _ := serve(t, "openrouter", "text/event-stream", c.stream)
		_, err := p.Generate(t.Context(), ask(), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestKinds_eachHasAnAddress(t *testing.T) {
	t.Parallel()
	if len(openai.Kinds()) < 8 {
		t.Errorf("kinds %v", openai.Kinds())
	}
}

// Only OpenRouter's models of Anthropic want to be asked to keep a prompt's beginning.
func TestDialects_openRouterCache(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{"anthropic/claude-sonnet-4.5": true, "openai/gpt-5": false} {
		server := llmtest.NewServer(t, llmtest.OpenAI{Kind: "openrouter"}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		r := ask()
		r.Model, r.Cache = model, true
		p := openai.New(wire.Config{Kind: "openrouter", BaseURL: server.URL + "/v1", APIKey: llmtest.Key})
		if _, err := p.Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if body := string(server.Requests()[0].Body); strings.Contains(body, `"cache_control":{"type":"ephemeral"}`) != want {
			t.Errorf("%s: want it asked for: %v, got %s", model, want, body)
		}
	}
}
