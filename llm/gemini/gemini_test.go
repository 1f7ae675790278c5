package gemini_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func newProvider(c wire.Config) llm.Provider { return gemini.New(c) }

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	for name, ids := range map[string]bool{"with ids": true, "without ids": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llmtest.Exercise(t, llmtest.Subject{
				New: newProvider, Wire: llmtest.Gemini{IDs: ids},
				NoRefusal: true, Signed: true, MediaBeside: true, Documents: true, NativeSchema: true, ByToolName: !ids, ParsesInput: true,
			})
		})
	}
}

func FuzzProvider_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.Gemini{}, "text/event-stream", newProvider)
}

func TestProvider_contractOnVertex(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New: func(c wire.Config) llm.Provider {
			c.Kind = "vertex"
			return gemini.New(c)
		},
		Path: llmtest.VertexPath + "google", Wire: llmtest.Gemini{Vertex: true},
		NoRefusal: true, Signed: true, MediaBeside: true, Documents: true, NativeSchema: true, ByToolName: true, ParsesInput: true,
	})
}
