package replay_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/replay"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// provider speaks through a transport.
func provider(url string, transport http.RoundTripper) llm.Provider {
	return anthropic.New(wire.Config{BaseURL: url, APIKey: llmtest.Key, Client: &http.Client{Transport: transport}})
}

func ask(album *llmtest.Album, text string, image content.Image) llm.Request {
	return llm.Request{Model: "m", Media: album, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: text}, image}}}}
}

func TestReplay_playsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	image := album.Add(t, "a.png", "png", 64, 9)
	server := llmtest.NewServer(t, llmtest.Anthropic{},
		llmtest.Reply{Status: 429, Message: "slow down " + llmtest.Key, Header: map[string]string{"Retry-After": "3", "X-Trace": "private"}},
		llmtest.Reply{Answer: llmtest.Answer{Thinking: "hm", Deltas: []string{"an ", "answer"}, Input: 7, Output: 2}})
	recorder := replay.NewRecorder(nil, llmtest.Key)
	recording := provider(server.URL, recorder)
	request := ask(album, "my key is "+llmtest.Key, image)
	_, wantErr := recording.Generate(t.Context(), request, nil)
	want, err := recording.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cassette.json")
	if err := recorder.Save(path); err != nil {
		t.Fatal(err)
	}

	player, err := replay.NewPlayer(path, llmtest.Key)
	if err != nil {
		t.Fatal(err)
	}
	playing := provider("http://nowhere.invalid", player)
	_, gotErr := playing.Generate(t.Context(), request, nil)
	if diff := cmp.Diff(wantErr, gotErr, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("failure (-recorded +played):\n%s", diff)
	}
	if player.Done() == nil {
		t.Error("Done says that all was played after the first of two")
	}
	got, err := playing.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answer (-recorded +played):\n%s", diff)
	}
	if err := player.Done(); err != nil {
		t.Error(err)
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{llmtest.Key, "iVBOR", "private", "127.0.0.1", "X-Api-Key"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("the cassette holds %q", secret)
		}
	}
	if !strings.Contains(string(data), "sha256:") {
		t.Error("the cassette does not name the picture's digest")
	}
}

func TestPlayer_refusesAnotherRequest(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	image := album.Add(t, "a.png", "png", 64, 9)
	server := llmtest.NewServer(t, llmtest.Anthropic{}, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"ok"}}})
	recorder := replay.NewRecorder(nil)
	if _, err := provider(server.URL, recorder).Generate(t.Context(), ask(album, "one", image), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cassette.json")
	if err := recorder.Save(path); err != nil {
		t.Fatal(err)
	}
	other := album.Add(t, "b.png", "png", 64, 10)
	for name, request := range map[string]llm.Request{"text": ask(album, "two", image), "picture": ask(album, "one", other)} {
		player, err := replay.NewPlayer(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := provider("http://nowhere.invalid", player).Generate(t.Context(), request, nil); err == nil {
			t.Errorf("another %s was answered", name)
		}
	}
}

func TestReplay_toolsAndDocuments(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	document := album.AddDocument(t, "a.pdf", 2)
	server := llmtest.NewServer(
		t, llmtest.Anthropic{}, llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "look", Input: `{"at":"a"}`}}}},
		llmtest.Reply{Answer: llmtest.Answer{Text: `{"n":1}`}},
	)
	talk := func(p llm.Provider) []*llm.Response {
		t.Helper()
		request := llm.Request{
			Model: "m", Media: album, Tools: []llm.Tool{{Name: "look"}}, Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
			Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "read"}, document}}},
		}
		first, err := p.Generate(t.Context(), request, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Messages = append(
			request.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw},
			llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: first.Blocks[0].(content.ToolCall).ID, Success: true, Blocks: []content.Block{document}}}},
		)
		second, err := p.Generate(t.Context(), request, nil)
		if err != nil {
			t.Fatal(err)
		}
		return []*llm.Response{first, second}
	}
	recorder := replay.NewRecorder(nil, llmtest.Key)
	want := talk(provider(server.URL, recorder))
	path := filepath.Join(t.TempDir(), "cassette.json")
	if err := recorder.Save(path); err != nil {
		t.Fatal(err)
	}
	player, err := replay.NewPlayer(path, llmtest.Key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, talk(provider("http://nowhere.invalid", player)), cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answers (-recorded +played):\n%s", diff)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "JVBERi") || strings.Count(string(data), document.SHA256) != 3 { // once in the first request, twice in the second
		t.Errorf("want the document's digest three times and none of its bytes: %s", data)
	}
}
