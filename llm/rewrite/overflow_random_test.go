package rewrite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/policy"
)

// TestOverflow_anyRequest: whatever the request and the limit, a second request is sent only when it differs and is taken.
func TestOverflow_anyRequest(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if os.Getenv("VAULTFLOW_LONG") != "" {
		seeds = 40
	}
	limits := map[string]func(r *rand.Rand) llmtest.Limits{
		"images": func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{Images: 1 + r.IntN(5)} },
		"side":   func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{Side: 20 + r.IntN(150)} },
		"bytes":  func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{ImageBytes: 1000 + r.Int64N(20_000)} },
		"body":   func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{Body: 8000 + r.Int64N(200_000)} },
		"tokens": func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{Tokens: 800 + r.IntN(8000)} },
		"pages":  func(r *rand.Rand) llmtest.Limits { return llmtest.Limits{Pages: 1 + r.IntN(20)} },
		"kinds": func(r *rand.Rand) llmtest.Limits {
			return llmtest.Limits{Without: []string{[]string{"image", "document"}[r.IntN(2)]}}
		},
	}
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rewritten := 0
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, uint64(len(name))))
				request := randomRequest(r)
				bounds := limit(r)
				server := llmtest.NewLimited(t, llmtest.Anthropic{}, bounds, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
				p := wrapped(server, false, rewrite.OverflowPolicy{Vision: true, Meter: llm.Meter{Formula: policy.FormulaAnthropic}})
				_, err := p.Generate(t.Context(), request, nil)
				sent := server.Requests()
				if err != nil && len(sent) != 1 || len(sent) > 2 {
					t.Errorf("seed %d, %+v: %d requests, %v", seed, bounds, len(sent), err)
				}
				if len(sent) == 2 {
					rewritten++
					if bytes.Equal(sent[0].Body, sent[1].Body) {
						t.Errorf("seed %d: the same request twice", seed)
					}
				}
			}
			if rewritten < 1 {
				t.Errorf("%d requests were rewritten: the test proves little", rewritten)
			}
		})
	}
}

func randomRequest(r *rand.Rand) llm.Request {
	request := talk(r.IntN(4), func(n int) content.ToolResult {
		result := content.ToolResult{Output: strings.Repeat("words ", r.IntN(300))}
		for i := range r.IntN(3) {
			result.Blocks = append(result.Blocks, picture(n*10+i, 16+r.IntN(250), 16+r.IntN(250)))
		}
		return result
	})
	for i := range r.IntN(5) {
		request.Messages[0].Blocks = append(request.Messages[0].Blocks, picture(100+i, 16+r.IntN(250), 16+r.IntN(250)), words("and \"so\" on"))
	}
	for i := range r.IntN(3) {
		d := content.Document{Name: fmt.Sprintf("d%d.pdf", i), MediaType: "application/pdf", Pages: 1 + r.IntN(15), SHA256: strings.Repeat(fmt.Sprint(i), 64)}
		if r.IntN(2) == 0 {
			d.Extracted = strings.Repeat("text ", r.IntN(200))
		}
		request.Messages[0].Blocks = append(request.Messages[0].Blocks, d)
	}
	request.Media = llmtest.Studio{NoPages: r.IntN(4) == 0}
	return request
}
