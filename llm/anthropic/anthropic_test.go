package anthropic_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New:  func(c wire.Config) llm.Provider { return anthropic.New(c) },
		Wire: llmtest.Anthropic{},

		MediaInResults: true, Documents: true, NativeSchema: true, Signed: true, CacheMark: `"text":"be brief","cache_control":{"type":"ephemeral"}`, Redacts: true,
	})
}

func FuzzProvider_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.Anthropic{}, "text/event-stream", func(c wire.Config) llm.Provider {
		return anthropic.New(c)
	})
}
