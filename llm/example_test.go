package llm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
)

// busy fails once, then answers.
type busy struct{ calls int }

func (b *busy) Generate(_ context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	if b.calls++; b.calls == 1 {
		return nil, &llm.Error{Class: llm.ClassRateLimit, Status: 429, Provider: "busy", Message: "slow down", RetryAfter: 3 * time.Second}
	}
	progress("hello ")
	progress("there")
	return &llm.Response{Text: "hello there", Stop: llm.StopEnd, Usage: cost.Usage{InputTokens: 1000, OutputTokens: 2000, CostUnknown: true}}, nil
}

// A provider is wrapped from the inside out: its price, the number of calls at once, the one retry layer.
func Example() {
	provider := llm.Priced(&busy{}, &cost.Price{Input: 3, Output: 15})
	provider = llm.NewGate(llm.Limits{Calls: 2}).Wrap(provider)
	provider = llm.Retry(provider, llm.RetryPolicy{
		Jitter: func() float64 { return 0 },
		Sleep:  func(context.Context, time.Duration) error { return nil },
		Notify: func(e llm.RetryEvent) { fmt.Printf("%v; again in %v\n", e.Err, e.Wait) },
	})
	response, err := provider.Generate(context.Background(), llm.Request{
		Model:    "some-model",
		Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "hi"}}}},
	}, func(delta string) { fmt.Printf("%q\n", delta) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s (%.3f USD)\n", response.Text, response.Usage.CostUSD)
	// Output:
	// busy: rate_limit (429): slow down; again in 3s
	// "hello "
	// "there"
	// hello there (0.033 USD)
}
