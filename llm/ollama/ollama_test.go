package ollama_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New:       func(c wire.Config) llm.Provider { return ollama.New(c) },
		Wire:      llmtest.Ollama{},
		NoRefusal: true,
		NoCache:   true,

		NativeSchema: true, ByToolName: true, ParsesInput: true,
	})
}

func FuzzProvider_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.Ollama{}, "application/x-ndjson", func(c wire.Config) llm.Provider {
		return ollama.New(c)
	})
}
