package llmtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
)

func answers(t *testing.T, s Subject) {
	deltas := []string{"Zwei ", "Äpfel\n", "\"quoted\""}
	server := NewServer(t, s.Wire, one(Answer{Thinking: "count", Deltas: deltas, Input: 1200, Output: 34, Cached: 200}))
	var got []string
	price := &cost.Price{Input: 3, Output: 15}
	response := generate(t, llm.Priced(s.provider(server), price), ask(), func(d string) { got = append(got, d) })
	if !slices.Equal(got, deltas) {
		t.Errorf("deltas %q, want %q", got, deltas)
	}
	want := &llm.Response{
		Text: "Zwei Äpfel\n\"quoted\"", Stop: llm.StopEnd, Usage: cost.Usage{InputTokens: 1200, OutputTokens: 34, CachedTokens: 200, CostUSD: 0.00411},
	}
	want.Usage.ThinkingTokens = response.Usage.ThinkingTokens
	if s.NoCache {
		want.Usage.CachedTokens = 0
	}
	if response.Model == "" {
		t.Error("the answer does not name its model")
	}
	plain := *response
	plain.Model, plain.Raw, plain.Blocks = "", nil, nil
	if diff := cmp.Diff(want, &plain, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }), cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if got := content.Join(response.Blocks); got != want.Text {
		t.Errorf("blocks say %q, want %q", got, want.Text)
	}
	if thought, ok := response.Blocks[0].(content.Thinking); !s.NoThoughts && (!ok || thought.Value != "count") {
		t.Errorf("first block %#v, want the reasoning", response.Blocks[0])
	}
	if usage := generate(t, s.provider(server), ask(), nil).Usage; usage.CostUSD != 0 || !usage.CostUnknown {
		t.Errorf("without a price: %+v, want an unknown cost", usage)
	}
}

func cutOff(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"half an ans"}, Stop: llm.StopLength, Output: 4}))
	response := generate(t, s.provider(server), ask(), nil)
	if response.Stop != llm.StopLength || response.Text != "half an ans" {
		t.Errorf("got %q, stop %q", response.Text, response.Stop)
	}
}

func cutOffAtOnce(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Stop: llm.StopLength, Input: 900}))
	e := failure(t, s.provider(server), ask(), nil, llm.ClassContextTokens)
	if e.Usage.InputTokens != 900 || e.Retryable() {
		t.Errorf("got usage %+v, retryable %v", e.Usage, e.Retryable())
	}
}

func thoughtOnly(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Thinking: "endless", Stop: llm.StopLength, Output: 4096}))
	e := failure(t, s.provider(server), ask(), nil, llm.ClassParameter)
	if !strings.Contains(e.Message, "4096 tokens") {
		t.Errorf("message %q does not say what was spent", e.Message)
	}
}

func refusal(t *testing.T, s Subject) {
	if s.NoRefusal {
		t.Skip("this format has no refusal")
	}
	server := NewServer(t, s.Wire, one(Answer{Refusal: "I cannot help with that.", Stop: llm.StopRefusal, Output: 7}))
	response := generate(t, s.provider(server), ask(), nil)
	if response.Stop != llm.StopRefusal || response.Text != "" || response.Refusal != "I cannot help with that." {
		t.Errorf("got stop %q, text %q, refusal %q", response.Stop, response.Text, response.Refusal)
	}
}

func empty(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Input: 5}))
	response := generate(t, s.provider(server), ask(), func(d string) { t.Errorf("got a delta %q", d) })
	if response.Text != "" || response.Stop != llm.StopEnd || len(response.Blocks) != 0 || response.Raw != nil {
		t.Errorf("got %+v, want an empty answer", response)
	}
}
