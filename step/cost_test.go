package step

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// priced gives the world's model a price per million tokens, nil for none.
func (w *world) priced(price, dearest *cost.Price) {
	m := w.models["seer"]
	m.Price, m.Dearest = price, dearest
	w.models["seer"] = m
}

func TestMaxCost(t *testing.T) {
	t.Parallel()
	price := &cost.Price{Input: 1, Output: 100} // a call of 1000 output tokens: $0.10 and a little
	tests := []struct {
		name           string
		settings, run  float64 // max_cost_usd
		step           map[string]float64
		price, dearest *cost.Price
		spent, before  float64 // by the step, and by the run's other steps
		refused        string  // part of the message; empty: the call is made
	}{
		{"no bound", 0, 0, nil, nil, nil, 0, 0, ""},
		{"within", 0, 0, map[string]float64{"max_cost_usd": 0.11}, price, nil, 0, 0, ""},
		{"above", 0, 0, map[string]float64{"max_cost_usd": 0.09}, price, nil, 0, 0, "the step would pass its max_cost_usd of $0.09"},
		{"with what was spent", 0, 0, map[string]float64{"max_cost_usd": 0.15}, price, nil, 0.06, 0, "with $0.06 spent before, the step"},
		{"of the settings", 0.05, 0, nil, price, nil, 0, 0, "the step would pass"},
		{"the step's own goes before the settings'", 0.05, 0, map[string]float64{"max_cost_usd": 0.5}, price, nil, 0, 0, ""},
		{"of the run", 0, 0.2, nil, price, nil, 0, 0.15, "with $0.15 spent before, the run would pass"},
		{"of the run, within", 0, 0.3, nil, price, nil, 0.01, 0.15, ""},
		{"the run's is no bound of the step's", 0, 0.3, map[string]float64{"max_cost_usd": 0.09}, price, nil, 0, 0, "the step would pass"},
		{"no price", 0, 0, map[string]float64{"max_cost_usd": 5}, nil, nil, 0, 0, "no price is known for the model seer"},
		{"the dearest known price", 0, 0, map[string]float64{"max_cost_usd": 0.15}, nil, price, 0, 0, ""},
		{"the dearest known price, above", 0, 0, map[string]float64{"max_cost_usd": 0.05}, nil, price, 0, 0, "the step would pass"},
		{"free", 0, 0, map[string]float64{"max_cost_usd": 0.001}, &cost.Price{}, nil, 0, 0, ""},
		{"tokens", 0, 0, map[string]float64{"max_total_tokens": 1000}, nil, nil, 0, 0, "the step would pass its max_total_tokens of 1000 tokens"},
		{"tokens, within", 0, 0, map[string]float64{"max_total_tokens": 2000}, nil, nil, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			step := workflow.Step{Prompt: "x", Set: directives.Set{Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}}}
			if tt.step != nil {
				step.Budget = &directives.Budget{Limits: tt.step}
			}
			w := newWorld(t, nil, step)
			w.Budget.MaxCostUSD = tt.settings
			if tt.run > 0 {
				w.plan.Meta.Budget.Limits = map[string]float64{"max_cost_usd": tt.run}
			}
			w.priced(tt.price, tt.dearest)
			w.Reply = steptest.Says("Good")
			ref := w.ref()
			out := w.assembled(ref)
			w.books.Spent(ref.Run, ref.Index, tt.spent)
			w.books.Spent(ref.Run, ref.Index+1, tt.before)
			_, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model})
			if (err == nil) != (tt.refused == "") || err != nil && (code(err) != failure.Budget || !strings.Contains(err.Error(), tt.refused)) {
				t.Fatalf("got %v, want a refusal with %q", err, tt.refused)
			}
			if calls := len(w.Requests); (calls == 1) != (tt.refused == "") {
				t.Errorf("%d calls were made", calls)
			}
			if tt.spent+tt.before > 0 { // of this run
				return
			}
			previewed, err := w.steps().Previewer.Preview(t.Context(), w.plan, 0, noon, 1, nil)
			if err != nil || !strings.Contains(previewed.Refused, tt.refused) || (previewed.Refused == "") != (tt.refused == "") {
				t.Errorf("the preview says %q, %v, want %q", previewed.Refused, err, tt.refused)
			}
		})
	}
}

// TestMaxCost_boundsTheAnswer: under a bound no answer may be longer than what was counted.
func TestMaxCost_boundsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, bound := range []float64{0, 5} {
		w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Budget: &directives.Budget{Limits: map[string]float64{"max_cost_usd": bound}}}})
		w.priced(&cost.Price{Input: 1, Output: 1}, nil)
		w.Reply = steptest.Says("Good")
		if _, err := w.ask(w.ref()); err != nil {
			t.Fatal(err)
		}
		want := map[float64]int{0: 0, 5: 8192}[bound]
		if got := w.Requests[0].MaxOutputTokens; got != want {
			t.Errorf("bound %g: max output %d, want %d", bound, got, want)
		}
	}
}

// TestMaxCost_parallelBatches: batches at work beside each other do not pass a bound together.
func TestMaxCost_parallelBatches(t *testing.T) {
	t.Parallel()
	const batches, bound, call = 12, 0.55, 0.1
	step := workflow.Step{Prompt: "x", Set: directives.Set{Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}, ForEach: &directives.ForEach{Target: variableTarget("list"), Parallel: batches}, Budget: &directives.Budget{Limits: map[string]float64{"max_cost_usd": bound}}}}
	w := newWorld(t, nil, step)
	w.priced(&cost.Price{Output: 100}, nil)
	w.Reply = func(r llm.Request) (*llm.Response, error) {
		answer, err := steptest.Says("Good")(r)
		answer.Usage.CostUSD, answer.Usage.OutputTokens = call, 1000
		return answer, err
	}
	ref := w.ref()
	out := w.assembled(ref)
	var wg sync.WaitGroup
	errs := make([]error, batches)
	for i := range batches {
		wg.Go(func() {
			own := ref
			own.Batch, own.Items = i+1, []engine.Item{{Name: fmt.Sprint(i)}}
			_, errs[i] = w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: own, Prompt: out.Prompt, Model: out.Model})
		})
	}
	wg.Wait()
	refused := 0
	for _, err := range errs {
		if code(err) == failure.Budget {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if most := int(math.Floor(bound / call)); len(w.Requests) != most || refused != batches-most {
		t.Errorf("%d calls and %d refusals, want %d calls", len(w.Requests), refused, most)
	}
}

// TestMetered: what counts in budgets after a request, however it ended.
func TestMetered(t *testing.T) {
	t.Parallel()
	price, dearest := &cost.Price{Input: 1, Output: 100}, &cost.Price{Input: 10, Output: 1000}
	used := cost.Usage{InputTokens: 200, OutputTokens: 50}
	tests := []struct {
		name    string
		price   *cost.Price
		usage   cost.Usage // of an answer
		failure *llm.Error // in place of it
		usd     float64    // 0: nothing; -1: the estimate
		tokens  int64      // likewise
	}{
		{"answered", price, used, nil, 0.0052, 250},
		{"answered, at a price that the service says", nil, cost.Usage{InputTokens: 200, OutputTokens: 50, CostUSD: 0.7}, nil, 0.7, 250},
		{"answered, without a price", nil, cost.Usage{InputTokens: 200, OutputTokens: 50, CostUnknown: true}, nil, 0.052, 250},
		{"answered, and nothing is counted", price, cost.Usage{CostUnknown: true}, nil, -1, -1},
		{"refused", price, used, &llm.Error{Class: llm.ClassAuth, Status: 401}, 0, 0},
		{"overloaded", price, used, &llm.Error{Class: llm.ClassOverloaded, Status: 503}, 0, 0},
		{"refused, and charged", price, used, &llm.Error{Class: llm.ClassContextTokens, Status: 400, Usage: cost.Usage{InputTokens: 300}}, 0.0003, 300},
		{"nobody was reached", price, used, &llm.Error{Class: llm.ClassNetwork, Unsent: true}, 0, 0},
		{"nobody waited for the answer", price, used, &llm.Error{Class: llm.ClassOverloaded, Status: 504}, -1, -1},
		{"the connection broke", price, used, &llm.Error{Class: llm.ClassNetwork}, -1, -1},
		{"broke off in the answer", price, used, &llm.Error{Class: llm.ClassOverloaded, Status: 529, Partial: true}, -1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}, Retry: &directives.Retry{Count: 0}}})
			w.priced(tt.price, dearest)
			m := w.models["seer"]
			m.Client = llm.Priced(w, tt.price)
			w.models["seer"] = m
			w.Reply = func(r llm.Request) (*llm.Response, error) {
				if tt.failure != nil {
					return nil, tt.failure
				}
				answer, err := steptest.Says("Good")(r)
				answer.Usage = tt.usage
				return answer, err
			}
			got, err := w.ask(w.ref())
			if (err == nil) != (tt.failure == nil) {
				t.Fatal(err)
			}
			if err := w.books.Charge(t.Context(), got.Settled...); err != nil {
				t.Fatal(err)
			}
			sum, estimate := w.books.All(), w.books.Estimate()
			want := cost.Spending{Calls: 1, Cost: cost.Amount{USD: tt.usd, Tokens: tt.tokens}}
			if tt.usd < 0 {
				want.Cost, want.Presumed = estimate, estimate
			}
			if diff := cmp.Diff(want, sum, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("booked (-want +got):\n%s", diff)
			}
			if out := (cost.Amount{USD: 0.1, Tokens: 1000}); tt.price != nil && (estimate.USD <= out.USD || estimate.Tokens <= out.Tokens || estimate.USD > 0.11) {
				t.Errorf("estimated %+v", estimate)
			}
		})
	}
}

// TestMetered_repetitions: each repetition is reserved for itself, and a cap ends them.
func TestMetered_repetitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}, Retry: &directives.Retry{Count: 5, Backoff: time.Nanosecond}, Budget: &directives.Budget{Limits: map[string]float64{"max_cost_usd": 0.35}}}})
	w.priced(&cost.Price{Output: 100}, nil)
	w.Reply = func(llm.Request) (*llm.Response, error) { return nil, &llm.Error{Class: llm.ClassNetwork} }
	_, err := w.ask(w.ref())
	if code(err) != failure.Budget || len(w.Requests) != 3 || !strings.Contains(err.Error(), "with $0.3 spent before, the step would pass") {
		t.Errorf("%v after %d requests, want a refusal after 3", err, len(w.Requests))
	}
}

// TestCaps_ofWorkflowAndSettings: a workflow's caps go before the settings', and its zone says when a day begins.
func TestCaps_ofWorkflowAndSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Budget: &directives.Budget{Limits: map[string]float64{"max_total_tokens": 70}}}})
	w.Zone = "Europe/Oslo"
	w.plan.Meta.Timezone = "America/New_York"
	w.plan.Meta.Budget.Limits = map[string]float64{"max_cost_usd": 3, "max_total_tokens_per_day": 500}
	w.Budget.MaxCostUSD, w.Budget.PerRun, w.Budget.PerDay, w.Budget.PerMonth = 1, cost.Amount{USD: 9, Tokens: 90}, cost.Amount{USD: 4, Tokens: 9}, cost.Amount{USD: 20}
	got, err := w.deps().Budgets.whose(Context{Plan: w.plan, Step: w.plan.Steps[0]}, w.ref(), Model{})
	want := cost.Caps{
		Step: cost.Amount{USD: 1, Tokens: 70}, Run: cost.Amount{USD: 3, Tokens: 90}, Day: cost.Amount{USD: 4, Tokens: 500}, Month: cost.Amount{USD: 20},
		DayZone: "America/New_York", MonthZone: "Europe/Oslo",
	}
	if diff := cmp.Diff(want, got.Caps); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
