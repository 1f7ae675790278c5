package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// serve answers every request with a fixed stream and keeps the last body.
func serve(t *testing.T, stream string) (llm.Provider, *string) {
	t.Helper()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // a short body fails the test by what it lacks
		body = string(data)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, stream)
	}))
	t.Cleanup(server.Close)
	return anthropic.New(wire.Config{BaseURL: server.URL + "/v1/", APIKey: "k"}), &body
}

func ask(thinking string) llm.Request {
	return llm.Request{Model: "claude-test", Thinking: thinking, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "hi"}}}}}
}

func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", l)
	}
	return b.String()
}

func TestGenerate_keepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, events(
		`{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","future":{"n":12345678901234567890}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"cited"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"cited_text":"a"}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"cited_text":"b"}}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"hologram","words":"a"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"hologram_delta","words":"b","depth":7}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"name\":"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"a.md\"}"}}`,
		`{"type":"future_event"}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42,"output_tokens_details":{"thinking_tokens":30}}}`,
		`{"type":"message_stop"}`,
	))
	got, err := p.Generate(t.Context(), ask(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	turn, ok := wire.UnpackRaw(got.Raw, "anthropic", "claude-test")
	if !ok {
		t.Fatalf("raw %s", got.Raw)
	}
	want := `[{"data":"b3BhcXVl","type":"redacted_thinking"},` +
		`{"citations":[{"cited_text":"a"},{"cited_text":"b"}],"future":{"n":12345678901234567890},"text":"cited","type":"text"},` +
		`{"depth":7,"type":"hologram","words":"ab"},{"id":"t1","input":{"name":"a.md"},"name":"read","type":"tool_use"}]`
	if diff := cmp.Diff(want, string(turn)); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	blocks := []content.Block{
		content.Thinking{Redacted: "b3BhcXVl"},
		content.Text{Value: "cited"},
		content.ToolCall{ID: "t1", Name: "read", Input: json.RawMessage(`{"name":"a.md"}`)},
	}
	if diff := cmp.Diff(blocks, got.Blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	usage := cost.Usage{InputTokens: 18, OutputTokens: 42, CachedTokens: 3, CacheWriteTokens: 5, ThinkingTokens: 30, CostUnknown: true}
	if diff := cmp.Diff(usage, got.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if got.Stop != llm.StopToolUse {
		t.Errorf("stop %q", got.Stop)
	}
}

func TestGenerate_thinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, level, want string }{
		{"claude-sonnet-4-5", "low", `"thinking":{"type":"enabled","budget_tokens":4096}`},
		{"claude-sonnet-4-5-20250929", "high", `"max_tokens":32768`},
		{"claude-3-7-sonnet-latest", "medium", `"budget_tokens":10240`},
		{"claude-opus-4-20250514", "low", `"budget_tokens":4096`},
		{"claude-opus-4-7", "medium", `"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}`},
		{"claude-sonnet-5", "low", `"thinking":{"type":"adaptive"}`},
		{"claude-sonnet-4-5", "2000", `"budget_tokens":2000`},
		{"claude-sonnet-4-5", "3", `"budget_tokens":1024`},
		{"claude-sonnet-4-5", "off", `"thinking":{"type":"disabled"}`},
	} {
		p, body := serve(t, events(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`))
		r := ask(c.level)
		r.Model = c.model
		if _, err := p.Generate(t.Context(), r, nil); err != nil {
			t.Errorf("%s %s: %v", c.model, c.level, err)
		}
		if !strings.Contains(*body, c.want) {
			t.Errorf("%s %s: body lacks %s: %s", c.model, c.level, c.want, *body)
		}
	}
}

func TestGenerate_failures(t *testing.T) {
	t.Parallel()
	start := `{"type":"message_start","message":{"usage":{"input_tokens":200000}}}`
	for _, c := range []struct {
		name   string
		stream string
		want   llm.Class
	}{
		{"inside the stream", "event: error\n" + events(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), llm.ClassOverloaded},
		{"window full at once", events(start, `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, `{"type":"message_stop"}`), llm.ClassContextTokens},
		{"not JSON", events(`{`), llm.ClassNetwork},
		{"a block out of order", events(`{"type":"content_block_start","index":4,"content_block":{}}`), llm.ClassNetwork},
		{"a delta for nothing", events(`{"type":"content_block_delta","index":-1,"delta":{}}`), llm.ClassNetwork},
		{"no end", events(start), llm.ClassNetwork},
	} {
		p, _ := serve(t, c.stream)
		_, err := p.Generate(t.Context(), ask(""), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}
