package step

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
)

// answering is a provider that always gives the same answer, and counts how often.
type answering struct {
	answer llm.Response
	asked  int
}

// Generate implements llm.Provider.
func (a *answering) Generate(context.Context, llm.Request, func(string)) (*llm.Response, error) {
	a.asked++
	answer := a.answer
	return &answer, nil
}

// place is the place of one answer.
type place struct {
	question string
	held     []byte
	full     bool
}

// Received implements Received.
func (p *place) Received(_ engine.StepRef, question string) ([]byte, func([]byte) error, func() error, error) {
	held := p.held
	if question != p.question {
		held = nil
	}
	keep := func(answer []byte) error {
		if p.full {
			return errors.New("no room")
		}
		p.question, p.held = question, answer
		return nil
	}
	return held, keep, func() error { return nil }, nil
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	model := &answering{answer: llm.Response{
		Text: "Milk.", Blocks: []content.Block{content.Text{Value: "Milk."}, content.ToolCall{ID: "1", Name: "list", Input: []byte(`{}`)}},
		Citations: []llm.Citation{{Start: 0, End: 4, Document: "a.pdf", From: 2, To: 2, Text: "milk"}}, Raw: []byte(`{"x":1}`),
		Stop: llm.StopToolUse, Usage: cost.Usage{InputTokens: 20, CostUSD: 0.5}, Model: "m-1", Omitted: []string{"b.png"},
	}}
	kept := &place{}
	ask := func(question string) *llm.Response {
		t.Helper()
		c := call{g: &Generator{received: kept}, model: Model{Alias: "fake"}, in: engine.GenerateIn{Prompt: question}}
		r, err := c.receiverOf(model)
		if err != nil {
			t.Fatal(err)
		}
		defer r.close(t.Context())
		answer, err := r.Generate(t.Context(), llm.Request{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	first, again := ask("q"), ask("q")
	if diff := cmp.Diff(first, again, cmp.AllowUnexported(llm.Response{})); diff != "" || model.asked != 1 {
		t.Errorf("asked %d times, want once; the answer that was kept (-arrived +read):\n%s", model.asked, diff)
	}
	if ask("another"); model.asked != 2 {
		t.Errorf("another question got the answer that was kept for the first one")
	}
	kept.full = true
	if got := ask("a third"); got.Text != "Milk." || model.asked != 3 {
		t.Errorf("an answer that could not be kept: %+v", got)
	}
}
