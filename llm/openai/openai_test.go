package openai_test

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai_chat", "mistral", "openrouter", "openai_compatible", "groq", "deepseek", "llamacpp"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			llmtest.Exercise(t, llmtest.Subject{
				New: func(c wire.Config) llm.Provider {
					c.Kind = kind
					return openai.New(c)
				},
				Path: "/v1",
				Wire: llmtest.OpenAI{Kind: kind},

				Documents:    slices.Contains([]string{"openai_chat", "mistral", "openrouter", "openai_compatible"}, kind),
				CacheMark:    map[string]string{"openai_chat": `"prompt_cache_key":"`, "mistral": `"prompt_cache_key":"`}[kind],
				NoThoughts:   kind == "openai_chat",
				Signed:       kind == "openrouter",
				NativeSchema: kind != "groq" && kind != "deepseek",
			})
		})
	}
}

func FuzzProvider_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.OpenAI{}, "text/event-stream", func(c wire.Config) llm.Provider {
		c.Kind = "openai_chat"
		return openai.New(c)
	})
}
