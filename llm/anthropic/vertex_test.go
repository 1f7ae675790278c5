package anthropic_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// claudes asks models of Claude where the suite asks its own: where files go on Vertex depends on the model.
type claudes struct{ llm.Provider }

func (c claudes) Generate(ctx context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	r.Model = "claude-sonnet-4-5@" + strings.TrimSuffix(r.Model, "-model")
	return c.Provider.Generate(ctx, r, progress)
}

func newVertex(c wire.Config) llm.Provider {
	c.Kind = "vertex"
	return claudes{anthropic.New(c)}
}

func TestProvider_contractOnVertex(t *testing.T) {
	t.Parallel()
	llmtest.Exercise(t, llmtest.Subject{
		New: newVertex, Path: llmtest.VertexPath + "anthropic", Wire: llmtest.Anthropic{Vertex: true},
		MediaInResults: true, Documents: true, NativeSchema: true, Signed: true,
	})
}
