package llmtest_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// The strict servers refuse what the models of each generation refuse, and nothing else.
func TestClaude_generations(t *testing.T) {
	t.Parallel()
	const hi = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	const said = `,{"role":"assistant","content":[{"type":"text","text":"{"}]}`
	for _, c := range []struct {
		more     string // members of the request
		messages string
		refusing []string // models
		taking   []string
	}{
		{"", hi, nil, []string{"claude-sonnet-4-5", "claude-sonnet-5-5"}},
		{`,"temperature":0.5`, hi, []string{"claude-sonnet-5-5", "claude-sonnet-5", "claude-opus-4-7"}, []string{"claude-sonnet-4-5", "claude-sonnet-4-6"}},
		{`,"temperature":1`, hi, nil, []string{"claude-sonnet-5-5"}},
		{`,"top_p":0.5`, hi, []string{"claude-sonnet-5-5"}, nil},
		{`,"top_k":5`, hi, []string{"claude-sonnet-5-5"}, nil},
		{`,"thinking":{"type":"enabled","budget_tokens":1024}`, hi, []string{"claude-sonnet-5-5", "claude-sonnet-5"}, []string{"claude-sonnet-4-5", "claude-sonnet-4-6"}},
		{`,"thinking":{"type":"disabled"}`, hi, []string{"claude-sonnet-5-5", "claude-opus-5-5"}, []string{"claude-sonnet-5", "claude-sonnet-4-5"}},
		{`,"thinking":{"type":"between_tools"}`, hi, []string{"claude-sonnet-5", "claude-sonnet-4-5"}, []string{"claude-sonnet-5-5"}},
		{`,"thinking":{"type":"between_tools","display":"omitted"}`, hi, []string{"claude-sonnet-5-5"}, nil},
		{`,"thinking":{"type":"adaptive"}`, hi, []string{"claude-sonnet-4-5"}, []string{"claude-sonnet-5-5", "claude-sonnet-4-6"}},
		{`,"tool_choice":{"type":"any"},"tools":[{"name":"a","input_schema":{"type":"object"}}]`, hi, []string{"claude-sonnet-5-5"}, nil},
		{"", hi + said, []string{"claude-sonnet-5-5", "claude-sonnet-4-6"}, []string{"claude-sonnet-4-5"}},
	} {
		for refused, models := range map[bool][]string{true: c.refusing, false: c.taking} {
			for _, model := range models {
				rest := `"max_tokens":2000,"stream":true` + c.more + `,"messages":[` + c.messages + `]}`
				_, err := llmtest.Anthropic{}.Read(headers(), []byte(`{"model":"`+model+`",`+rest))
				if (err != nil) != refused {
					t.Errorf("%s with %s%s: %v, want it refused: %v", model, c.more, c.messages[len(hi):], err, refused)
				}
				head := headers()
				head.Del("X-Api-Key")
				head.Set(llmtest.AddressHeader, llmtest.VertexPath+"anthropic/models/"+model+":streamRawPredict")
				if _, err := (llmtest.Anthropic{Vertex: true}).Read(head, []byte(`{"anthropic_version":"vertex-2023-10-16",`+rest)); (err != nil) != refused {
					t.Errorf("%s on Vertex with %s%s: %v, want it refused: %v", model, c.more, c.messages[len(hi):], err, refused)
				}
			}
		}
	}
}

func TestClaude_generationsOnBedrock(t *testing.T) {
	t.Parallel()
	const schema = `,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"a","schema":"{\"type\":\"object\",\"additionalProperties\":false}"}}}}`
	for _, c := range []struct {
		more             string
		refusing, taking string // models
	}{
		{`,"inferenceConfig":{"temperature":0.5}`, "us.anthropic.claude-sonnet-5-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{`,"inferenceConfig":{"maxTokens":2000},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}}`, "us.anthropic.claude-sonnet-5-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{`,"additionalModelRequestFields":{"thinking":{"type":"disabled"}}`, "us.anthropic.claude-sonnet-5-5", "us.anthropic.claude-sonnet-5"},
		{`,"additionalModelRequestFields":{"thinking":{"type":"between_tools"}}`, "us.anthropic.claude-sonnet-5", "us.anthropic.claude-sonnet-5-5"},
		{schema, "us.anthropic.claude-sonnet-5-5", "global.anthropic.claude-opus-4-8"},
	} {
		for refused, model := range map[bool]string{true: c.refusing, false: c.taking} {
			head := headers()
			head.Set(llmtest.AddressHeader, "/model/"+model+"/converse-stream")
			_, err := llmtest.Bedrock{}.Read(head, []byte(`{"messages":[{"role":"user","content":[{"text":"a"}]}]`+c.more+`}`))
			if (err != nil) != refused || err != nil && strings.Contains(err.Error(), "published schema") {
				t.Errorf("%s with %s: %v, want it refused: %v", model, c.more, err, refused)
			}
		}
	}
}
