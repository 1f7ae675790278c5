package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func ask(blocks ...content.Block) llm.Request {
	return llm.Request{Model: "llava", Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}}
}

func TestGenerate_escapesPictureMarks(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"see [img-0]"}}})
	p := ollama.New(wire.Config{BaseURL: server.URL})
	request := ask(content.Text{Value: "[img] and [img-0] and [[img-12]], not [imgur] nor [img x]"}, content.Image{Name: "gone.png", Fallback: "[img-7]"})
	request.System = "system [img]"
	first, err := p.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []llmtest.Part{{Text: "[ img] and [ img-0] and [[ img-12]], not [imgur] nor [img x]"}, {Text: "[ img-7]"}}
	if diff := cmp.Diff(want, server.Requests()[0].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Raw: first.Raw}, ask(content.Text{Value: "go on"}).Messages[0])
	if _, err := p.Generate(t.Context(), request, nil); err != nil { // the server refuses a mark anywhere
		t.Fatal(err)
	}
}

func TestGenerate_onePartPerMessage(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"ok"}}})
	request := ask(content.Text{Value: "a"}, album.Add(t, "p.png", "png", 20, 1), content.Text{Value: "b"})
	request.Media = album
	if _, err := ollama.New(wire.Config{BaseURL: server.URL}).Generate(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct {
			Content string
			Images  []string
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	for i, m := range body.Messages {
		if (m.Content != "") == (len(m.Images) > 0) || len(m.Images) > 1 || strings.HasPrefix(strings.Join(m.Images, ""), "data:") {
			t.Errorf("message %d holds text %q and %d pictures, want one bare part", i, m.Content, len(m.Images))
		}
	}
	if len(body.Messages) != 3 {
		t.Errorf("%d messages, want 3", len(body.Messages))
	}
}

func TestGenerate_smallAndForeignPicturesAreText(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"ok"}}})
	request := ask(album.Add(t, "tiny.png", "png", 14, 1), album.Add(t, "moving.gif", "gif", 40, 1), album.Add(t, "just.png", "png", 15, 1))
	request.Media = album
	got, err := ollama.New(wire.Config{BaseURL: server.URL}).Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tiny.png", "moving.gif"}, got.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
	if kind := server.Requests()[0].Parts[2].Kind(); kind != "image" {
		t.Errorf("15 pixels became %s", kind)
	}
}

func TestGenerate_options(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, level, want string }{
		{"gpt-oss:20b", "high", `"think":"high"`},
		{"qwen3:8b", "high", `"think":true`},
		{"qwen3:8b", "4000", `"think":true`},
		{"qwen3:8b", "off", `"think":false`},
		{"llava", "", `"options":{"num_ctx":8192,"num_predict":64}`},
	} {
		server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"ok"}}})
		request := ask(content.Text{Value: "hi"})
		request.Model, request.Thinking, request.ContextWindow, request.MaxOutputTokens = c.model, c.level, 8192, 64
		if _, err := ollama.New(wire.Config{BaseURL: server.URL}).Generate(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		if body := string(server.Requests()[0].Body); !strings.Contains(body, c.want) || c.level == "" && strings.Contains(body, "think") {
			t.Errorf("%s %q: want %s in %s", c.model, c.level, c.want, body)
		}
	}
}

func TestGenerate_aFullWindowIsAnOverflow(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Ollama{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"invented"}, Input: 4096}})
	request := ask(content.Text{Value: "hi"})
	request.ContextWindow = 4096
	_, err := ollama.New(wire.Config{BaseURL: server.URL}).Generate(t.Context(), request, nil)
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassContextTokens || e.Limit != 4096 {
		t.Errorf("got %v, want context_tokens", err)
	}
}

// fixed serves one text.
func fixed(t *testing.T, status int, text string) *ollama.Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // a client that went away fails by itself
	}))
	t.Cleanup(server.Close)
	return ollama.New(wire.Config{BaseURL: server.URL})
}

func TestShow(t *testing.T) {
	t.Parallel()
	m, err := fixed(t, 200, `{"license":"long","capabilities":["completion","vision"],"model_info":{"general.architecture":"qwen2","qwen2.context_length":32768,"qwen2.rope":[1]}}`).Show(t.Context(), "llava")
	if err != nil {
		t.Fatal(err)
	}
	if !m.Has("vision") || m.Has("tools") || m.ContextLength != 32768 {
		t.Errorf("got %+v", m)
	}
	_, err = fixed(t, 404, `{"error":"model 'x' not found"}`).Show(t.Context(), "x")
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNotFound {
		t.Errorf("got %v, want not_found", err)
	}
	_, err = fixed(t, 200, `<html>`).Show(t.Context(), "x")
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNetwork {
		t.Errorf("got %v, want network", err)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	names, err := fixed(t, 200, `{"models":[{"name":"llava:7b"},{"name":"qwen3:8b"}]}`).Tags(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"llava:7b", "qwen3:8b"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestGenerate_failureInsideTheStream(t *testing.T) {
	t.Parallel()
	p := fixed(t, 200, `{"message":{"content":"half"},"done":false}`+"\n"+`{"error":"llama runner process has terminated: exceeded max context length by 12 tokens"}`)
	_, err := p.Generate(t.Context(), ask(content.Text{Value: "hi"}), func(string) {})
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassContextTokens || !e.Partial {
		t.Errorf("got %v, want a partial context_tokens", err)
	}
}
