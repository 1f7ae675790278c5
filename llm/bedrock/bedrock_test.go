package bedrock_test

import (
	"context"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/bedrock"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// families are a model of each.
var families = map[string]string{
	"claude":  "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
	"nova":    "amazon.nova-lite-v1:0",
	"llama":   "us.meta.llama4-maverick-17b-instruct-v1:0",
	"mistral": "mistral.pixtral-large-2502-v1:0",
}

// named asks a family's models where the suite asks its own.
type named struct {
	llm.Provider
	model string
}

func (n named) Generate(ctx context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	switch r.Model {
	case "test-model":
		r.Model = n.model
	case "other-model":
		r.Model = n.model + "-other"
	}
	return n.Provider.Generate(ctx, r, progress)
}

func of(family string) func(wire.Config) llm.Provider {
	return func(c wire.Config) llm.Provider {
		return named{bedrock.New(bedrock.Config{Config: c, Region: "us-east-1"}), families[family]}
	}
}

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	for family := range families {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			mark := ""
			if family == "claude" || family == "nova" {
				mark = `"cachePoint":{"type":"default"}`
			}
			llmtest.Exercise(t, llmtest.Subject{
				New: of(family), Wire: llmtest.Bedrock{Family: family},
				DocumentBeside: family == "claude" || family == "nova", MediaInResults: family == "llama", PictureBehind: family == "mistral",
				Documents: true, TextBeside: true, Signed: true, Redacts: true, CacheMark: mark, NativeSchema: true,
			})
		})
	}
}
