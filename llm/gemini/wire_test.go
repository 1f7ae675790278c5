package gemini_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const older = "gemini-2.5-flash"

func text(s string) content.Text { return content.Text{Value: s} }

func ask(model string, blocks ...content.Block) llm.Request {
	return llm.Request{Model: model, Messages: []llm.Message{{Role: llm.User, Blocks: append([]content.Block{text("hi")}, blocks...)}}}
}

// called is a request with a call of two tools behind it, and results with media.
func called(model string, media *llmtest.Album, blocks ...content.Block) llm.Request {
	r := ask(model)
	r.Media = media
	r.Tools = []llm.Tool{{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}
	r.Messages = append(
		r.Messages,
		llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "a", Name: "look"}, content.ToolCall{ID: "b", Name: "look"}}},
		llm.Message{Role: llm.User, Blocks: []content.Block{
			content.ToolResult{CallID: "a", Success: true, Blocks: blocks}, content.ToolResult{CallID: "b", Success: true, Output: "two"}, text("go on"),
		}},
	)
	return r
}

func generate(t *testing.T, server *llmtest.Server, r llm.Request) *llm.Response {
	t.Helper()
	response, err := gemini.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key}).Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestGenerate_olderModelsGetFilesBehindAllResults(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	picture := album.Add(t, "p.png", "png", 20, 3)
	server := llmtest.NewServer(t, llmtest.Gemini{Old: true}, llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
	generate(t, server, called(older, album, text("see"), picture))
	var got []string
	for _, p := range server.Requests()[0].Parts {
		got = append(got, p.Result+"|"+p.Kind()+"|"+p.Text)
	}
	id := llm.MediaID(picture)
	want := []string{"|text|hi", "look|text|see\nSee file " + id + ".", "look|text|two", "|text|This is file " + id + ":", "|image|", "|text|go on"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestGenerate_aFileOfAResultThatVanished(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Gemini{}, llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
	response := generate(t, server, called("gemini-3-flash", &llmtest.Album{}, content.Image{Name: "gone.png", Fallback: "Total: 12"}))
	parts := server.Requests()[0].Parts
	if len(parts) != 5 || parts[2].Text != "Total: 12" || parts[2].Result != "look" {
		t.Errorf("parts %+v, want the text in the picture's place", parts)
	}
	if diff := cmp.Diff([]string{"gone.png"}, response.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
}

func TestGenerate_schemaBesideTools(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	for model, native := range map[string]bool{older: false, "gemini-3-pro": true} {
		server := llmtest.NewServer(t, llmtest.Gemini{Old: !native}, llmtest.Reply{Answer: llmtest.Answer{Text: "{}"}})
		r := called(model, nil, text("x"))
		r.Schema = schema
		generate(t, server, r)
		if sent := server.Requests()[0]; (sent.Schema() != nil) != native || native == strings.Contains(string(sent.Body), "JSON Schema") {
			t.Errorf("%s: %s", model, sent.Body)
		}
	}
}

func TestGenerate_thinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, level, want string }{
		{older, "off", `{"thinkingBudget":0}`},
		{older, "medium", `{"includeThoughts":true,"thinkingBudget":10240}`},
		{older, "600", `{"includeThoughts":true,"thinkingBudget":600}`},
		{"gemini-2.5-pro", "off", `{"includeThoughts":true,"thinkingBudget":128}`},
		{"gemini-3.1-pro", "off", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3.1-pro", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-flash-latest", "600", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-12-pro", "9000", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-12-pro", "30000", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro", "", ``},
	} {
		server := llmtest.NewServer(t, llmtest.Gemini{Old: strings.Contains(c.model, "-2.5")}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		r := ask(c.model)
		r.Thinking = c.level
		generate(t, server, r)
		var body struct {
			Generation struct {
				Thinking json.RawMessage `json:"thinkingConfig"`
			} `json:"generationConfig"`
		}
		if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil || string(body.Generation.Thinking) != c.want {
			t.Errorf("%s, %q: got %s, want %s (%v)", c.model, c.level, body.Generation.Thinking, c.want, err)
		}
	}
}

// answer is a service with one fixed stream; it keeps the addresses that were asked.
func answer(t *testing.T, status int, lines ...string) (base string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.String())
		_, _ = io.Copy(io.Discard, r.Body) // a broken request fails elsewhere
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		for _, l := range lines {
			if status != http.StatusOK {
				fmt.Fprint(w, l)
				continue
			}
			fmt.Fprintf(w, "data: %s\r\n\r\n", l)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestGenerate_keepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	base, _ := answer(t, http.StatusOK,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}],"modelVersion":"gemini-3.1"}`,
		`{"candidates":[{"content":{"parts":[{"text":"one "},{"text":"two","thoughtSignature":"c2ln"}]}},{"index":1,"content":{"parts":[{"text":"another"}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","n":12345678901234567890}},{"text":" three"}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"f1","name":"look","args":{"a":1},"new":true},"thoughtSignature":"eA=="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"thoughtsTokenCount":3,"cachedContentTokenCount":2,"toolUsePromptTokenCount":1}}`,
	)
	got, err := gemini.New(wire.Config{BaseURL: base}).Generate(t.Context(), ask("gemini-3.1-pro"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{
		Text: "one two three", Stop: llm.StopToolUse, Model: "gemini-3.1",
		Usage: cost.Usage{InputTokens: 10, OutputTokens: 7, CachedTokens: 2, ThinkingTokens: 3, CostUnknown: true},
		Blocks: []content.Block{
			content.Thinking{Value: "hm"},
			text("one "), text("two"), text(" three"),
			content.ToolCall{ID: "f1", Name: "look", Input: json.RawMessage(`{"a":1}`)},
		},
		Raw: got.Raw,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	turn, _ := wire.UnpackRaw(got.Raw, "google", "gemini-3.1-pro")
	for _, part := range []string{`"thoughtSignature":"c2ln"`, `12345678901234567890`, `"new":true`, `"thoughtSignature":"eA=="`, `"thought":true`} {
		if !strings.Contains(string(turn), part) {
			t.Errorf("the turn lacks %s: %s", part, turn)
		}
	}
}

func TestGenerate_declines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`:                                        "PROHIBITED_CONTENT",
		`{"candidates":[{"content":{},"finishReason":"SAFETY","finishMessage":"not that"}]}`:                                                    "SAFETY: not that",
		`{"candidates":[{"content":{"parts":[{"text":"half of a poem"}]},"finishReason":"RECITATION"}],"usageMetadata":{"promptTokenCount":9}}`: "RECITATION",
	} {
		base, _ := answer(t, http.StatusOK, line)
		got, err := gemini.New(wire.Config{BaseURL: base}).Generate(t.Context(), ask("gemini-3.1-pro"), nil)
		if err != nil || got.Stop != llm.StopRefusal || got.Refusal != want {
			t.Errorf("%s: got %+v, %v", want, got, err)
		}
	}
}

func TestGenerate_failures(t *testing.T) {
	t.Parallel()
	limit := `[{"error":{"code":429,"message":"You exceeded the rate limit","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`
	for _, c := range []struct {
		name   string
		status int
		line   string
		want   llm.Class
		after  time.Duration
	}{
		{"rate limit with its delay in the body", 429, limit, llm.ClassRateLimit, 34500 * time.Millisecond},
		{"inside the stream", 200, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, llm.ClassOverloaded, 0},
		{"no finish", 200, `{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`, llm.ClassNetwork, 0},
		{"not JSON", 200, `{`, llm.ClassNetwork, 0},
		{"key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, llm.ClassAuth, 0},
	} {
		base, _ := answer(t, c.status, c.line)
		_, err := gemini.New(wire.Config{BaseURL: base}).Generate(t.Context(), ask("gemini-3.1-pro"), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != c.want || e.RetryAfter != c.after {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestNew_addresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, model, want string }{
		{"", "gemini-3.1-pro", "/v1beta/models/gemini-3.1-pro"},
		{"/", "models/gemini-3.1-pro", "/v1beta/models/gemini-3.1-pro"},
		{"/v1beta", "a/b", "/v1beta/models/a%2Fb"},
		{"/v1/projects/p/locations/l/publishers/google", "gemini-3.1-pro", "/v1/projects/p/locations/l/publishers/google/models/gemini-3.1-pro"},
	} {
		base, asked := answer(t, http.StatusOK, `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`)
		if _, err := gemini.New(wire.Config{BaseURL: base + c.path}).Generate(t.Context(), ask(c.model), nil); err != nil {
			t.Fatal(err)
		}
		if want := c.want + ":streamGenerateContent?alt=sse"; (*asked)[0] != want {
			t.Errorf("asked %s, want %s", (*asked)[0], want)
		}
	}
}
