package openai_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func newXAI(c wire.Config) llm.Provider {
	c.Kind = "xai"
	return openai.NewResponses(c)
}

func TestResponses_contractOfXAI(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New: newXAI, Path: "/v1", Wire: llmtest.Responses{XAI: true}, NativeSchema: true, TurnsAreItems: true, Signed: true,
	})
}

func TestResponses_whatXAIIsAskedOfReasoning(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][2]bool{ // an effort, encrypted reasoning
		"grok-3-mini": {true, true}, "grok-4-1-fast-reasoning": {false, true}, "grok-4-1-fast-non-reasoning": {}, "grok-3": {},
	} {
		server := llmtest.NewServer(t, llmtest.Responses{XAI: true}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		r := ask()
		r.Model, r.Thinking = model, "high"
		if _, err := newXAI(wire.Config{BaseURL: server.URL + "/v1", APIKey: llmtest.Key}).Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		body := string(server.Requests()[0].Body)
		if got := [2]bool{strings.Contains(body, `"effort":"high"`), strings.Contains(body, "reasoning.encrypted_content")}; got != want {
			t.Errorf("%s: effort and reasoning %v, want %v: %s", model, got, want, body)
		}
	}
}
