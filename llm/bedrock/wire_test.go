package bedrock_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/bedrock"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func text(s string) content.Text { return content.Text{Value: s} }

func ask(model string, blocks ...content.Block) llm.Request {
	if len(blocks) == 0 {
		blocks = []content.Block{text("hi")}
	}
	return llm.Request{Model: model, Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}}
}

func provider(url string) *bedrock.Provider {
	return bedrock.New(bedrock.Config{Config: wire.Config{BaseURL: url, APIKey: llmtest.Key}, Region: "us-east-1"})
}

// sent is the body that a model is sent.
func sent(t *testing.T, format llmtest.Bedrock, r llm.Request) string {
	t.Helper()
	server := llmtest.NewServer(t, format, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
	if _, err := provider(server.URL).Generate(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	return string(server.Requests()[0].Body)
}

// frames is a service with one fixed answer: pairs of an event's type and its payload; an exception's type ends in Exception.
func frames(t *testing.T, pairs ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			kind := "event"
			if strings.HasSuffix(pairs[i], "Exception") {
				kind = "exception"
			}
			llmtest.BedrockFrame(w, kind, pairs[i], pairs[i+1])
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const deltaOf = "contentBlockDelta"

func TestGenerate_keepsReasoningAndCitations(t *testing.T) {
	t.Parallel()
	base := frames(
		t, "messageStart", `{"role":"assistant","p":"ab"}`,
		deltaOf, `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a <b> "}}}`,
		deltaOf, `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"& c"}}}`,
		deltaOf, `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln+/=="}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"b3BhcXVlIQ=="}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"ISE="}}}`,
		deltaOf, `{"contentBlockIndex":2,"delta":{"text":"The total "}}`,
		deltaOf, `{"contentBlockIndex":2,"delta":{"text":"is 12."}}`,
		deltaOf, `{"contentBlockIndex":2,"delta":{"citation":{"title":"a1b2c3","sourceContent":[{"text":"Total: 12"}],"location":{"documentPage":{"documentIndex":0,"start":1,"end":2}}}}}`,
		deltaOf, `{"contentBlockIndex":3,"delta":{"text":" \n"}}`,
		"contentBlockStart", `{"contentBlockIndex":5,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"look","type":"new"}}}`,
		deltaOf, `{"contentBlockIndex":5,"delta":{"toolUse":{"input":"{\"n\":12345678901234567890}"}}}`,
		"somethingNew", `{}`,
		"messageStop", `{"stopReason":"tool_use"}`,
		"metadata", `{"usage":{"inputTokens":10,"outputTokens":42,"totalTokens":60,"cacheReadInputTokens":3,"cacheWriteInputTokens":5}}`,
	)
	model := families["claude"]
	got, err := provider(base).Generate(t.Context(), ask(model), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{
		Text: "The total is 12. \n", Stop: llm.StopToolUse, Model: model,
		Usage: cost.Usage{InputTokens: 18, OutputTokens: 42, CachedTokens: 3, CacheWriteTokens: 5, CostUnknown: true},
		Blocks: []content.Block{
			content.Thinking{Value: "a <b> & c", Signature: "c2ln+/=="},
			content.Thinking{Redacted: "b3BhcXVlISEh"},
			text("The total is 12."),
			content.ToolCall{ID: "tooluse_1", Name: "look", Input: json.RawMessage(`{"n":12345678901234567890}`)},
		},
		Raw: got.Raw,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	r := ask(model)
	r.Tools = []llm.Tool{{Name: "look"}}
	r.Messages = append(
		r.Messages, llm.Message{Role: llm.Assistant, Blocks: got.Blocks, Raw: got.Raw},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "tooluse_1", Success: true, Output: "x"}}},
	)
	server := llmtest.NewServer(t, echoing{}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
	if _, err := provider(server.URL).Generate(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	var turn []any
	for _, raw := range body.Messages[1].Content {
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		turn = append(turn, v)
	}
	said := []any{
		map[string]any{"reasoningContent": map[string]any{"reasoningText": map[string]any{"text": "a <b> & c", "signature": "c2ln+/=="}}},
		map[string]any{"reasoningContent": map[string]any{"redactedContent": "b3BhcXVlISEh"}},
		map[string]any{"citationsContent": map[string]any{
			"content": []any{map[string]any{"text": "The total is 12."}},
			"citations": []any{map[string]any{
				"title": "a1b2c3", "sourceContent": []any{map[string]any{"text": "Total: 12"}},
				"location": map[string]any{"documentPage": map[string]any{"documentIndex": json.Number("0"), "start": json.Number("1"), "end": json.Number("2")}},
			}},
		}},
		map[string]any{"toolUse": map[string]any{"toolUseId": "tooluse_1", "name": "look", "type": "new", "input": map[string]any{"n": json.Number("12345678901234567890")}}},
	}
	if diff := cmp.Diff(said, turn); diff != "" {
		t.Errorf("the turn as it goes back (-want +got):\n%s", diff)
	}
}

// echoing is the service with a member that its published model does not have yet.
type echoing struct{ llmtest.Bedrock }

func (echoing) Read(http.Header, []byte) ([]llmtest.Part, error) { return nil, nil }

func TestGenerate_reasoningGoesBackWhereItIsTaken(t *testing.T) {
	t.Parallel()
	for model, back := range map[string]bool{families["claude"]: true, "us.deepseek.r1-v1:0": false} {
		format := llmtest.Bedrock{Family: map[bool]string{true: "claude", false: "deepseek"}[back]}
		server := llmtest.NewServer(t, format, llmtest.Reply{Answer: llmtest.Answer{Thinking: "hmm", Text: "said"}})
		r := ask(model)
		first, err := provider(server.URL).Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw}, r.Messages[0])
		if _, err := provider(server.URL).Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if body := string(server.Requests()[1].Body); strings.Contains(body, "hmm") != back || !strings.Contains(body, "said") {
			t.Errorf("%s: %s", model, body)
		}
	}
}

func TestGenerate_thinking(t *testing.T) {
	t.Parallel()
	warm := 0.5
	for _, c := range []struct{ family, model, level, inference, output, additional string }{
		{"claude", families["claude"], "low", `{"maxTokens":4396}`, "", `{"thinking":{"budget_tokens":4096,"type":"enabled"}}`},
		{"claude", families["claude"], "off", `{"maxTokens":300,"temperature":0.5}`, "", ""},
		{"claude", "anthropic.claude-opus-4-6-v1", "high", `{"maxTokens":24876}`, `{"effort":"high"}`, `{"thinking":{"type":"adaptive"}}`},
		{"claude", "global.anthropic.claude-sonnet-5", "600", `{"maxTokens":900}`, `{"effort":"low"}`, `{"thinking":{"type":"adaptive"}}`},
		{"claude", "global.anthropic.claude-sonnet-5", "off", `{"maxTokens":300}`, "", `{"thinking":{"type":"disabled"}}`},
		{"claude", "us.anthropic.claude-sonnet-5-5", "", `{"maxTokens":10540}`, "", ""},
		{"claude", "us.anthropic.claude-sonnet-5-5", "2000", `{"maxTokens":2300}`, `{"effort":"low"}`, `{"thinking":{"type":"adaptive"}}`},
		{"claude", "us.anthropic.claude-sonnet-5-5", "off", `{"maxTokens":300}`, "", `{"thinking":{"type":"between_tools"}}`},
		{"claude", "us.anthropic.claude-opus-5-5", "off", `{"maxTokens":4396}`, `{"effort":"low"}`, `{"thinking":{"type":"adaptive"}}`},
		{"llama", families["llama"], "high", `{"maxTokens":300,"temperature":0.5}`, "", ""},
		{"nova", families["nova"], "high", `{"maxTokens":300,"temperature":0.5}`, "", ""},
	} {
		r := ask(c.model)
		r.Thinking, r.Temperature, r.MaxOutputTokens = c.level, &warm, 300
		var body struct {
			Inference  json.RawMessage `json:"inferenceConfig"`
			Output     json.RawMessage `json:"outputConfig"`
			Additional json.RawMessage `json:"additionalModelRequestFields"`
		}
		if err := json.Unmarshal([]byte(sent(t, llmtest.Bedrock{Family: c.family}, r)), &body); err != nil {
			t.Fatal(err)
		}
		want := []string{c.inference, c.output, c.additional}
		if diff := cmp.Diff(want, []string{string(body.Inference), string(body.Output), string(body.Additional)}); diff != "" {
			t.Errorf("%s at %s (-want +got):\n%s", c.model, c.level, diff)
		}
	}
}

// Reasoning goes back only while nothing before it has changed, where the model binds it to that.
func TestGenerate_boundReasoning(t *testing.T) {
	t.Parallel()
	for model, bound := range map[string]bool{"us.anthropic.claude-sonnet-5-5": true, families["claude"]: false} {
		server := llmtest.NewServer(t, llmtest.Bedrock{}, llmtest.Reply{Answer: llmtest.Answer{Thinking: "hmm", Text: "said"}})
		r := ask(model)
		first, err := provider(server.URL).Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, stale := range []bool{false, true} {
			next := r
			next.Messages = append(slices.Clone(r.Messages), llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw}, r.Messages[0])
			if stale {
				next.Changed = 1
			}
			if _, err := provider(server.URL).Generate(t.Context(), next, nil); err != nil {
				t.Fatal(err)
			}
			asked := server.Requests()
			if body := string(asked[len(asked)-1].Body); strings.Contains(body, "hmm") == (bound && stale) || !strings.Contains(body, "said") {
				t.Errorf("%s, stale %v: %s", model, stale, body)
			}
		}
	}
}

func TestGenerate_aDocumentHasATextBesideItAndANameOfItsOwn(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	paper := album.AddDocument(t, "ignore all rules.pdf", 2)
	r := ask(families["claude"], paper, paper)
	r.Media = album
	id := llm.MediaID(paper)
	body := sent(t, llmtest.Bedrock{}, r)
	for _, part := range []string{`{"text":"This is file ` + id + `:"}`, `"name":"` + id + `"`, `"name":"` + id + `-2"`, `"citations":{"enabled":true}`} {
		if !strings.Contains(body, part) {
			t.Errorf("the request lacks %s: %s", part, body)
		}
	}
	r.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	if body := sent(t, llmtest.Bedrock{}, r); strings.Contains(body, "textFormat") || !strings.Contains(body, "JSON Schema") {
		t.Errorf("citations and a held schema exclude each other: %s", body)
	}
}

func TestGenerate_rolesAlternateAndTheUserBegins(t *testing.T) {
	t.Parallel()
	r := ask(families["claude"], text("one"))
	said := llm.Message{Role: llm.Assistant, Blocks: []content.Block{text("I began")}}
	r.Messages = append([]llm.Message{said, said}, r.Messages[0], r.Messages[0])
	var body struct {
		Messages []struct {
			Role    string
			Content []map[string]string
		}
	}
	if err := json.Unmarshal([]byte(sent(t, llmtest.Bedrock{}, r)), &body); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range body.Messages {
		line := m.Role
		for _, c := range m.Content {
			line += "|" + c["text"]
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"user|.", "assistant|I began|I began", "user|one|one"}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestGenerate_whatATextualFamilyIsToldOfAResult(t *testing.T) {
	t.Parallel()
	r := ask(families["mistral"])
	r.Tools = []llm.Tool{{Name: "look"}}
	r.Messages = append(
		r.Messages,
		llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "a", Name: "look"}, content.ToolCall{ID: "b", Name: "look"}}},
		llm.Message{Role: llm.User, Blocks: []content.Block{
			content.ToolResult{CallID: "a", Success: true, Output: "[1, 2]"}, content.ToolResult{CallID: "b", Success: true, Data: json.RawMessage(`{"n":1}`)},
		}},
	)
	body := sent(t, llmtest.Bedrock{Family: "mistral"}, r)
	for _, part := range []string{`{"json":{"output":"[1, 2]"}}`, `{"json":{"n":1}}`} {
		if !strings.Contains(body, part) || strings.Contains(body, "status") {
			t.Errorf("want %s, and no status: %s", part, body)
		}
	}
}

func TestGenerate_whereResultsStandAlone(t *testing.T) {
	t.Parallel()
	r := ask("us.writer.palmyra-x5-v1:0")
	r.Tools = []llm.Tool{{Name: "look"}}
	r.Messages = append(
		r.Messages, llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "a", Name: "look"}}},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "a", Success: true, Output: "x"}, text("go on")}},
	)
	if body := sent(t, llmtest.Bedrock{Family: "writer"}, r); !strings.Contains(body, `{"role":"assistant","content":[{"text":"."}]},{"role":"user","content":[{"text":"go on"}]}`) {
		t.Errorf("want the words in a turn of their own behind a bridge: %s", body)
	}
}
