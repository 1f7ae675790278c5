package llmtest_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// aPNG is the beginning of a PNG, enough to be sniffed.
const aPNG = "iVBORw0KGgo="

func headers() http.Header {
	h := make(http.Header)
	h.Set("X-Api-Key", llmtest.Key)
	h.Set("Anthropic-Version", "2023-06-01")
	h.Set("Authorization", "Bearer "+llmtest.Key)
	return h
}

func TestWires_readInOrder(t *testing.T) {
	t.Parallel()
	picture := llmtest.Part{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	for name, c := range map[string]struct {
		wire llmtest.Wire
		body string
		want []llmtest.Part
	}{
		"anthropic": {llmtest.Anthropic{}, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + aPNG + `"}}]}]}`, []llmtest.Part{{Text: "a"}, picture}},
		"openai":    {llmtest.OpenAI{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + aPNG + `"}},{"type":"text","text":"a"}]}]}`, []llmtest.Part{picture, {Text: "a"}}},
		// The trap itself: a message's pictures come before its text.
		"ollama": {llmtest.Ollama{}, `{"model":"m","truncate":false,"shift":false,"messages":[{"role":"user","content":"a","images":["` + aPNG + `"]}]}`, []llmtest.Part{picture, {Text: "a"}}},
	} {
		got, err := c.wire.Read(headers(), []byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWires_refuse(t *testing.T) {
	t.Parallel()
	const a, o, l = `{"model":"m","max_tokens":9,"stream":true,"messages":[`, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[`, `{"model":"m","truncate":false,"shift":false,"messages":[`
	for _, c := range []struct {
		name string
		wire llmtest.Wire
		body string
	}{
		{"unknown member", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}],"seed":1}`},
		{"blank text", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":" \n"}]}]}`},
		{"wrong media type", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + aPNG + `"}}]}]}`},
		{"no picture", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`},
		{"empty content", llmtest.Anthropic{}, a + `{"role":"user","content":[]}]}`},
		{"assistant first", llmtest.Anthropic{}, a + `{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`},
		{"picture of an assistant", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"image"}]}]}`},
		{"no bound", llmtest.Anthropic{}, `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`},
		{"budget above the bound", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}],"thinking":{"type":"enabled","budget_tokens":2048}}`},
		{"two requests", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}]}{}`},
		{"unknown part", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"image","image":"x"}]}]}`},
		{"bare base64", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + aPNG + `"}}]}]}`},
		{"picture of the system", llmtest.OpenAI{}, o + `{"role":"system","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + aPNG + `"}}]}]}`},
		{"old bound", llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"max_tokens":4}`},
		{"mistral and stream options", llmtest.OpenAI{Kind: "mistral"}, o + `{"role":"user","content":"a"}]}`},
		{"data URI", llmtest.Ollama{}, l + `{"role":"user","content":"","images":["data:image/png;base64,` + aPNG + `"]}]}`},
		{"picture mark", llmtest.Ollama{}, l + `{"role":"user","content":"see [img-3]"}]}`},
		{"silent truncation", llmtest.Ollama{}, `{"model":"m","shift":false,"messages":[{"role":"user","content":"a"}]}`},
	} {
		if parts, err := c.wire.Read(headers(), []byte(c.body)); err == nil {
			t.Errorf("%s was accepted: %+v", c.name, parts)
		}
	}
	if _, err := (llmtest.Anthropic{}).Read(make(http.Header), []byte(a+`{"role":"user","content":[{"type":"text","text":"a"}]}]}`)); err == nil {
		t.Error("a request without a key was accepted")
	}
}
