package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

// dime is a request that may cost ten cents.
func dime(run string, step int, caps cost.Caps) cost.Reservation {
	return cost.Reservation{Run: run, Workflow: "w", Step: step, Model: "m", Estimate: cost.Amount{USD: 0.1, Tokens: 100}, Caps: caps}
}

func reserve(t *testing.T, j *journal.Journal, r cost.Reservation, now time.Time) int64 {
	t.Helper()
	held, err := j.Spending.Reserve(t.Context(), r, now)
	if err != nil {
		t.Fatal(err)
	}
	return held.ID
}

// refused is what a refusal says; empty when there is none.
func refused(t *testing.T, j *journal.Journal, r cost.Reservation, now time.Time) string {
	t.Helper()
	held, err := j.Spending.Reserve(t.Context(), r, now)
	if err == nil {
		if err := j.Spending.Charge(t.Context(), cost.Settlement{ID: held.ID}); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if _, ok := errors.AsType[*cost.OverBudget](err); !ok || failure.Of(err).Code != failure.Budget {
		t.Fatal(err)
	}
	return err.Error()
}

func usd(v float64) cost.Amount { return cost.Amount{USD: v} }

func TestReserve_caps(t *testing.T) {
	t.Parallel()
	oslo, tomorrow := "Europe/Oslo", time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC) // midnight in Oslo
	next := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)                          // December there
	for name, tt := range map[string]struct {
		caps   cost.Caps
		passed cost.Reservation // what is refused after two dimes; the caps are filled in
		free   cost.Reservation // what is not
		at     time.Time        // when the latter is asked for
		said   string
	}{
		"step":     {cost.Caps{Step: usd(0.25)}, dime("r1", 0, cost.Caps{}), dime("r1", 1, cost.Caps{}), epoch, "with $0.1 spent and $0.1 reserved before, the step would pass its max_cost_usd of $0.25"},
		"run":      {cost.Caps{Run: usd(0.29)}, dime("r1", 7, cost.Caps{}), dime("r2", 0, cost.Caps{}), epoch, "the run would pass its max_cost_usd of $0.29"},
		"day":      {cost.Caps{Day: usd(0.25), DayZone: oslo}, dime("r2", 0, cost.Caps{}), dime("r2", 0, cost.Caps{}), tomorrow, "the day of the workflow w would pass its max_cost_usd_per_day of $0.25"},
		"month":    {cost.Caps{Month: usd(0.25), MonthZone: oslo}, cost.Reservation{Run: "import", Step: -1, Estimate: usd(0.06)}, dime("r2", 0, cost.Caps{}), next, "the vault's month would pass its max_cost_usd_per_month of $0.25"},
		"tokens":   {cost.Caps{Step: cost.Amount{Tokens: 299}}, dime("r1", 0, cost.Caps{}), dime("r1", 1, cost.Caps{}), epoch, "up to 100 tokens; with 100 tokens spent and 100 tokens reserved before, the step would pass its max_total_tokens of 299 tokens"},
		"no price": {cost.Caps{Step: usd(9)}, cost.Reservation{Run: "r1", NoPrice: true, Model: "m"}, cost.Reservation{Run: "r1", NoPrice: false}, epoch, "max_cost_usd is set, and no price is known for the model m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t, t.TempDir())
			first := reserve(t, j, dime("r1", 0, tt.caps), epoch)
			if err := j.Spending.Charge(t.Context(), cost.Settlement{ID: first, Cost: cost.Amount{USD: 0.1, Tokens: 100}}); err != nil {
				t.Fatal(err)
			}
			reserve(t, j, dime("r1", 0, tt.caps), epoch)
			tt.passed.Caps, tt.free.Caps = tt.caps, tt.caps
			if got := refused(t, j, tt.passed, epoch.Add(time.Hour)); !strings.Contains(got, tt.said) {
				t.Errorf("refused with %q, want %q", got, tt.said)
			}
			if got := refused(t, j, tt.free, tt.at); got != "" {
				t.Errorf("refused: %s", got)
			}
			states, err := j.Spending.CapStates(t.Context(), dime("r1", 0, tt.caps), epoch)
			if err != nil || len(states) != 1 || states[0].Spent == 0 || states[0].Reserved == 0 || states[0].Left() <= 0 && name != "no price" {
				t.Errorf("caps %+v, %v", states, err)
			}
		})
	}
}

// TestReserve_beside: many processes' worth of requests at once pass no cap, and all that fit are granted.
func TestReserve_beside(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	var group sync.WaitGroup
	granted := make([]bool, 40)
	for i := range granted {
		group.Go(func() {
			_, err := j.Spending.Reserve(t.Context(), dime(fmt.Sprintf("r%d", i), 0, cost.Caps{Month: usd(0.7)}), epoch)
			if _, over := errors.AsType[*cost.OverBudget](err); err != nil && !over {
				t.Error(err)
			}
			granted[i] = err == nil
		})
	}
	group.Wait()
	n := 0
	for _, g := range granted {
		if g {
			n++
		}
	}
	if n != 7 { // and not 6: dimes add up exactly
		t.Errorf("%d of 40 requests were granted, want 7", n)
	}
}

// TestReserve_nested: what a run costs that another one asked for counts in that one's step, run and day as well.
func TestReserve_nested(t *testing.T) {
	t.Parallel()
	for name, caps := range map[string]cost.Caps{
		"step": {Step: usd(0.35)}, "run": {Run: usd(0.35)}, "day": {Day: usd(0.35)}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t, t.TempDir())
			create(t, j, entry("r1", "k1", "w"))
			inner := entry("r2", "k2", "inner")
			inner.Run.Trigger = engine.Trigger{Kind: engine.TriggerTool, Parent: "r1", Step: 3}
			create(t, j, inner)
			reserve(t, j, dime("r1", 3, caps), epoch)
			nested := dime("r2", 0, cost.Caps{})
			nested.Workflow = "inner"
			reserve(t, j, nested, epoch)
			reserve(t, j, nested, epoch)
			got := refused(t, j, nested, epoch)
			if (got != "") != (name != "none") || name == "step" && !strings.Contains(got, "the step that waits for it (run r1) would pass its max_cost_usd of $0.35") {
				t.Errorf("refused with %q", got)
			}
			for _, s := range []struct {
				workflow string
				calls    int
			}{{"w", 3}, {"inner", 2}, {"", 3}} {
				sum, err := j.Spending.Since(t.Context(), s.workflow, epoch)
				if name == "none" { // the request that was to be refused was granted, and cost nothing
					s.calls++
				}
				if err != nil || sum.Calls != s.calls {
					t.Errorf("%q: %+v, %v, want %d calls", s.workflow, sum, err, s.calls)
				}
			}
			if sum, err := j.Spending.Of(t.Context(), "r1"); err != nil || sum.Cost.USD != 0.3 {
				t.Errorf("the outer run: %+v, %v", sum, err)
			}
		})
	}
}

// TestReserve_killed: what a process leaves reserved counts at its estimate, and so does what a run leaves that has ended.
func TestReserve_killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	e := entry("r1", "k1", "w")
	create(t, j, e)
	reserve(t, j, dime("r1", 0, cost.Caps{}), epoch)
	reserve(t, j, dime("r2", 0, cost.Caps{}), epoch)
	e.Run.Status, e.Run.Finished = engine.Cancelled, epoch
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	amount := func(n float64) cost.Amount { return cost.Amount{USD: n / 10, Tokens: int64(100 * n)} }
	want := cost.Spending{Calls: 2, Cost: amount(2), Open: amount(1), Presumed: amount(1)}
	check := func(when string) {
		t.Helper()
		got, err := j.Spending.Since(t.Context(), "", epoch)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("after the end of a run")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	want.Open, want.Presumed = cost.Amount{}, amount(2)
	check("after the end of the process")
	if err := j.Spending.Charge(t.Context(), cost.Settlement{ID: 1, Cost: amount(9)}); err != nil {
		t.Fatal(err)
	}
	check("after a settlement that comes too late")
}

// TestAppend_settles: an answer and what it cost are stored together.
func TestAppend_settles(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := entry("r1", "k1", "w")
	create(t, j, e)
	id := reserve(t, j, dime("r1", 0, cost.Caps{}), epoch)
	out, err := json.Marshal(engine.GenerateOut{Stop: engine.StopEnd, Settled: []cost.Settlement{{ID: id, Cost: cost.Amount{USD: 0.0123456789, Tokens: 7}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := engine.Record{Activity: engine.ActivityGenerate, In: json.RawMessage(`{}`), Out: out, Attempts: 1, Started: epoch, Finished: epoch}
	if err := j.Runs.Append(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	want := cost.Spending{Calls: 1, Cost: cost.Amount{USD: 0.012345679, Tokens: 7}}
	if got, err := j.Spending.Of(t.Context(), "r1"); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestFailures_outOfFunds: a workflow is not to blame for a month whose budget is spent, and for a step's own it is.
func TestFailures_outOfFunds(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for i, scope := range []cost.Scope{cost.ScopeStep, cost.ScopeMonth, cost.ScopeDay, cost.ScopeRun} {
		e := entry(fmt.Sprint("r", i), fmt.Sprint("k", i), "w")
		create(t, j, e)
		e.Run.Status, e.Run.Finished = engine.Failed, epoch.Add(time.Duration(i)*time.Hour)
		e.Run.Failure = failure.Of(fmt.Errorf("batch 1: %w", &cost.OverBudget{Cap: cost.CapState{Scope: scope}}))
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	failed, err := j.Runs.Failures(t.Context(), "w", 10)
	if err != nil || len(failed) != 2 || failed[0].ID != "r3" || failed[1].ID != "r0" {
		t.Errorf("%v, %v; want r3 and r0 alone", failed, err)
	}
}

// BenchmarkReserve is one more request in a month of 100,000, against all caps.
func BenchmarkReserve(b *testing.B) {
	j, err := journal.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	if _, err := j.DB().ExecContext(b.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO spending SELECT i, 0, 'r' || (i / 5), 'w' || (i % 50), 0, ? + i, 'm', 1000, 10, 1, '{}' FROM n`, epoch.UnixMicro()); err != nil {
		b.Fatal(err)
	}
	r := cost.Reservation{Run: "x", Workflow: "w1", Estimate: usd(1e-6), Caps: cost.Caps{Step: usd(1), Run: usd(1), Day: usd(5), Month: usd(500)}}
	for b.Loop() {
		if _, err := j.Spending.Reserve(b.Context(), r, epoch.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}
