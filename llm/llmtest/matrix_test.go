package llmtest_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/bedrock"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// chat is a dialect of Chat Completions.
func chat(kind string) llmtest.Subject {
	return llmtest.Subject{
		New:  func(c wire.Config) llm.Provider { c.Kind = kind; return openai.New(c) },
		Path: "/v1", Wire: llmtest.OpenAI{Kind: kind},
	}
}

// onVertex is an adapter for Vertex AI.
func onVertex(build func(wire.Config) llm.Provider) func(wire.Config) llm.Provider {
	return func(c wire.Config) llm.Provider {
		c.Kind = "vertex"
		return build(c)
	}
}

// bedrockOf is a family of models on Bedrock.
func bedrockOf(family string) llmtest.Subject {
	return llmtest.Subject{
		New:  func(c wire.Config) llm.Provider { return bedrock.New(bedrock.Config{Config: c, Region: "us-east-1"}) },
		Wire: llmtest.Bedrock{Family: family},
	}
}

func newGemini(c wire.Config) llm.Provider { return gemini.New(c) }

// TestMatrix sends each kind of medium to each service, in the results of parallel calls and in a prompt. A service is a row:
// where an image, a document, audio and video go.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, s := range []llmtest.Service{
		{
			Name: "anthropic", Model: "claude-sonnet-4-5", Places: [4]string{"in", "in"},
			Subject: llmtest.Subject{New: func(c wire.Config) llm.Provider { return anthropic.New(c) }, Wire: llmtest.Anthropic{}},
		},
		{
			Name: "gemini 3", Model: "gemini-3-pro", Places: [4]string{"apart", "apart", "behind", "behind"},
			Subject: llmtest.Subject{New: newGemini, Wire: llmtest.Gemini{IDs: true}},
		},
		{
			Name: "gemini 2.5", Model: "gemini-2.5-pro", Places: [4]string{"behind", "behind", "behind", "behind"},
			Subject: llmtest.Subject{New: newGemini, Wire: llmtest.Gemini{Old: true}, ByToolName: true},
		},
		{
			Name: "openai responses", Model: "gpt-5", Places: [4]string{"in", "in"},
			Subject: llmtest.Subject{New: func(c wire.Config) llm.Provider { return openai.NewResponses(c) }, Path: "/v1", Wire: llmtest.Responses{}},
		},
		{Name: "openai chat", Model: "gpt-4o", Places: [4]string{"behind", "behind", "behind"}, Subject: chat("openai_chat")},
		{Name: "compatible", Model: "some-model", Places: [4]string{"behind", "behind", "behind"}, Subject: chat("openai_compatible")},
		{Name: "openrouter", Model: "some/model", Places: [4]string{"behind", "behind", "behind", "behind"}, Subject: chat("openrouter")},
		{Name: "xai", Model: "grok-4", Places: [4]string{"behind", "pages"}, Subject: llmtest.Subject{
			New: func(c wire.Config) llm.Provider { c.Kind = "xai"; return openai.NewResponses(c) }, Path: "/v1", Wire: llmtest.Responses{XAI: true},
		}},
		{Name: "groq", Model: "llama-4-scout", Places: [4]string{"behind"}, Subject: chat("groq")},
		{Name: "mistral", Model: "mistral-medium-latest", Places: [4]string{"behind", "behind"}, Subject: chat("mistral")},
		{
			Name: "ollama", Model: "llava", Places: [4]string{"behind", "pages"},
			Subject: llmtest.Subject{New: func(c wire.Config) llm.Provider { return ollama.New(c) }, Wire: llmtest.Ollama{}, ByToolName: true},
		},
		{
			Name: "vertex gemini 3", Model: "gemini-3-pro", Places: [4]string{"apart", "apart", "behind", "behind"},
			Subject: llmtest.Subject{New: onVertex(newGemini), Path: llmtest.VertexPath + "google", Wire: llmtest.Gemini{Vertex: true}, ByToolName: true},
		},
		{
			Name: "vertex claude", Model: "claude-sonnet-4-5@20250929", Places: [4]string{"in", "in"},
			Subject: llmtest.Subject{
				New:  onVertex(func(c wire.Config) llm.Provider { return anthropic.New(c) }),
				Path: llmtest.VertexPath + "anthropic", Wire: llmtest.Anthropic{Vertex: true},
			},
		},
		{Name: "bedrock claude", Model: "anthropic.claude-opus-4-6-v1", Places: [4]string{"in", "behind"}, Subject: bedrockOf("claude")},
		{Name: "bedrock nova", Model: "us.amazon.nova-2-lite-v1:0", Places: [4]string{"in", "behind", "", "behind"}, Subject: bedrockOf("nova")},
		{Name: "bedrock llama", Model: "meta.llama4-scout-17b-instruct-v1:0", Places: [4]string{"in", "in"}, Subject: bedrockOf("llama")},
		{Name: "bedrock mistral", Model: "mistral.pixtral-large-2502-v1:0", Places: [4]string{"behind", "apart"}, Subject: bedrockOf("mistral")},
	} {
		llmtest.Deliver(t, s)
	}
}
