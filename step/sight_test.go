package step

import (
	"image"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// TestGenerate_unseen: a picture that the reported tokens cannot hold goes once more as its words; both calls are paid.
func TestGenerate_unseen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input int     // tokens that the service reports of the first call
		limit float64 // max_cost_usd; 0: none
		calls int
	}{
		"seen":                     {90_000, 0, 1},
		"unseen":                   {20, 0, 2},
		"unseen, within the costs": {20, 1, 2},
		"unseen, and no money":     {20, 0.105, 1},
		"nothing is reported":      {0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := directives.Input{Target: fileTarget("p.png")}
			w := newWorld(t, map[string]string{"p.png": grey(t, 800, 600)}, workflow.Step{Prompt: "See", Set: directives.Set{Inputs: []directives.Input{image}, Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}}})
			w.Budget.MaxCostUSD = c.limit
			w.priced(&cost.Price{Input: 1, Output: 100}, nil)
			w.Reply = func(r llm.Request) (*llm.Response, error) {
				answer, err := steptest.Says("call " + string(r.Delivery.Places[policy.Image]))(r)
				answer.Usage = cost.Usage{InputTokens: c.input, OutputTokens: 3, CostUSD: 0.01}
				return answer, err
			}
			got, err := w.ask(w.ref())
			if err != nil || len(w.Requests) != c.calls || got.Usage.OutputTokens != 3*c.calls || got.Usage.InputTokens != c.input*c.calls {
				t.Fatalf("%d calls, %+v, %v", len(w.Requests), got.Usage, err)
			}
			if blind := len(got.Unseen) > 0; blind != (c.limit == 0.105) {
				t.Errorf("unseen %v", got.Unseen)
			}
			warnings := strings.Join(got.Warnings, "\n")
			if told := strings.Contains(warnings, "suspected unseen: p.png ("); told != strings.HasPrefix(name, "unseen") {
				t.Errorf("warnings %q", warnings)
			}
			if dear := strings.Contains(warnings, "its words were not sent: "); dear != (c.limit == 0.105) {
				t.Errorf("warnings %q", warnings)
			}
			want := "call after"
			if c.calls == 2 {
				want = "call convert"
			}
			if answer := w.text(got.Answer); answer != want {
				t.Errorf("answer %q, want %q", answer, want)
			}
			if err := w.books.Charge(t.Context(), got.Settled...); err != nil {
				t.Fatal(err)
			}
			if sum := w.books.All(); sum.Calls != c.calls || sum.Open != (cost.Amount{}) || math.Abs(sum.Cost.USD-0.01*float64(c.calls)) > 1e-9 {
				t.Errorf("costs %+v after %d calls", sum, c.calls)
			}
		})
	}
}

// grey is a picture of one colour.
func grey(t *testing.T, w, h int) string {
	t.Helper()
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
