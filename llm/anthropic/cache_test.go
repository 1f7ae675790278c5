package anthropic_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// The marks stand behind what the next request begins with: the system prompt, or the tools where there is none, and the last
// text or result of the last turn, never on a medium.
func TestGenerate_cacheMarks(t *testing.T) {
	t.Parallel()
	const mark = `"cache_control":{"type":"ephemeral"}`
	album := &llmtest.Album{}
	for name, c := range map[string]struct {
		system string
		blocks []content.Block
		want   []string
	}{
		"system and text": {"be brief", []content.Block{content.Text{Value: "hi"}}, []string{`"text":"be brief",` + mark, `"text":"hi",` + mark}},
		"tools alone":     {"", []content.Block{content.Text{Value: "hi"}}, []string{`"input_schema":{"type":"object","properties":{}},` + mark, `"text":"hi",` + mark}},
		"a medium last":   {"be brief", []content.Block{content.Text{Value: "hi"}, album.Add(t, "a.png", "png", 20, 1)}, []string{`"text":"be brief",` + mark, `"text":"hi",` + mark}},
		"a medium alone":  {"be brief", []content.Block{album.Add(t, "a.png", "png", 20, 1)}, []string{`"text":"be brief",` + mark}},
	} {
		server := llmtest.NewServer(t, llmtest.Anthropic{}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		_, err := anthropic.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key}).Generate(t.Context(), llm.Request{
			Model: "m", System: c.system, Cache: true, Media: album, Tools: []llm.Tool{{Name: "list"}},
			Messages: []llm.Message{{Role: llm.User, Blocks: c.blocks}},
		}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body := string(server.Requests()[0].Body)
		if n := strings.Count(body, mark); n != len(c.want) {
			t.Errorf("%s: %d marks, want %d: %s", name, n, len(c.want), body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %s is not there: %s", name, want, body)
			}
		}
	}
}
