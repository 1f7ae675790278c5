//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// meter is a model that takes money when a request comes in, whatever becomes of the answer, and adds it up by itself.
type meter struct {
	t     *testing.T
	url   string
	month float64 // caps, in dollars
	day   float64 // of each account

	mu       sync.Mutex // guards what follows
	asked    int
	taken    float64
	accounts map[string]float64
	hold     bool          // requests from the 30th on get no answer
	held     chan struct{} // closed when six of them wait
}

var account = regexp.MustCompile(`Account (\w+)\.`)

func newMeter(t *testing.T, month, day float64) *meter {
	t.Helper()
	m := &meter{t: t, month: month, day: day, accounts: map[string]float64{}, hold: true, held: make(chan struct{})}
	server := httptest.NewServer(llmtest.Whole(m.ServeHTTP))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// ServeHTTP answers with 400 to 1000 tokens, the most that was asked for. Each ninth request is refused and costs nothing, each
// 17th is charged and breaks off.
func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, err = wire.Read(r.Header, body)
	}
	whose := account.FindSubmatch(body)
	if err != nil || whose == nil || !strings.Contains(string(body), `"max_tokens":1000`) {
		m.t.Errorf("a request of nobody, or without a bound: %v\n%s", err, body)
		wire.Fail(w, http.StatusBadRequest, "bad", "bad")
		return
	}
	m.mu.Lock()
	m.asked++
	n, hold := m.asked, m.hold && m.asked >= 30
	if n == 35 {
		close(m.held)
	}
	answer := llmtest.Answer{Deltas: []string{"Seen."}, Input: 60, Output: 400 + n*37%601, Broken: n%17 == 0}
	if n%9 != 0 {
		spent := (float64(answer.Input) + 100*float64(answer.Output)) / 1e6
		m.taken += spent
		m.accounts[string(whose[1])] += spent
		if m.taken > m.month || m.accounts[string(whose[1])] > m.day {
			m.t.Errorf("request %d passes a cap: $%.4f of $%g for all, $%.4f of $%g for %s", n, m.taken, m.month, m.accounts[string(whose[1])], m.day, whose[1])
		}
	}
	m.mu.Unlock()
	switch {
	case hold:
		<-r.Context().Done()
	case n%9 == 0:
		wire.Fail(w, http.StatusServiceUnavailable, "overloaded", "come back later")
	default:
		wire.Answer(w, answer)
	}
}

// TestBudgets_parallelRunsAndAKill: twenty runs at once, each with batches beside each other, and a daemon that is killed among
// their requests. The service, which takes its money first, never gets more than a cap allows, and everything is settled.
func TestBudgets_parallelRunsAndAKill(t *testing.T) {
	t.Parallel()
	const runs, month, day = 20, 3.5, 0.25
	m := newMeter(t, month, day)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, max_output_tokens: 1000, price: {input: 1, output: 100}}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY, max_concurrency: 40}}\n"+
		fmt.Sprintf("engine: {max_parallel_runs: %d}\npolicy: {budget: {max_cost_usd_per_month: %g}}\n", runs, month))
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	for i := range 4 {
		s.write(fmt.Sprintf("Items/%d.md", i), fmt.Sprintf("Item %d.\n", i))
	}
	for i := range runs {
		s.write(fmt.Sprintf("Workflows/W%02d.md", i), note(fmt.Sprintf("watch: Go/*.md\nbudget: {max_cost_usd_per_day: %g}", day),
			"@for_each file: Items/*.md (parallel=3, on_error=skip)\n@input file: {item}\n@retry 3 (backoff=1ms)\n@output file: Out/{workflow}-{item-name}", fmt.Sprintf("Account W%02d.", i)))
	}
	d := s.serve()
	s.write("Go/now.md", "Go.\n")
	select {
	case <-m.held:
	case <-time.After(patience):
		t.Fatalf("the model was asked %d times: %+v", m.asked, rows[engine.RunRecord](s, "runs", "-n", "100"))
	}
	d.Kill()
	m.mu.Lock()
	m.hold = false
	m.mu.Unlock()
	if spent := m.books(s); spent.Open.USD == 0 {
		t.Errorf("nothing is reserved while requests are at work: %+v", spent)
	}
	s.serve()
	s.Wait(2*patience, "all runs to end", func() (bool, string) {
		ended := 0
		all := rows[engine.RunRecord](s, "runs", "-n", "100")
		for _, r := range all {
			if r.Status.Finished() {
				ended++
			}
		}
		return ended == runs, fmt.Sprintf("%d of %d", ended, len(all))
	})
	spent := m.books(s)
	if spent.Open != (cost.Amount{}) || spent.Presumed.USD == 0 {
		t.Errorf("settled: %+v; want nothing open, and estimates for what was cut off", spent)
	}
	if spent.Cost.USD < m.taken || spent.Cost.USD > month {
		t.Errorf("the books say $%.4f; the service took $%.4f and might have taken $%g", spent.Cost.USD, m.taken, month)
	}
	if m.taken < month/2 {
		t.Errorf("the service took $%.4f of $%g: the caps refuse too much for this test to say anything", m.taken, month)
	}
	refusals := 0
	for _, r := range rows[engine.RunRecord](s, "runs", "-n", "100") {
		for _, b := range rows[engine.RunRecord](s, "show", r.ID)[0].Steps[0].Batches {
			if b.Failure != nil && b.Failure.Code == failure.Budget {
				refusals++
				break
			}
		}
	}
	if refusals < runs/2 {
		t.Errorf("%d of %d runs were refused something: more was wanted than the caps allow", refusals, runs)
	}
	if out := s.Must("show", rows[engine.RunRecord](s, "runs", "W00")[0].ID); !strings.Contains(out, "counted in budgets: $0.") {
		t.Errorf("show says nothing of costs:\n%s", out)
	}
}

// books is what the journal says was spent.
func (m *meter) books(s *site) cost.Spending {
	m.t.Helper()
	j, err := journal.OpenReader(m.t.Context(), s.State)
	if err != nil {
		m.t.Fatal(err)
	}
	defer j.Close()
	spent, err := j.Spending.Since(m.t.Context(), "", time.Time{})
	if err != nil {
		m.t.Fatal(err)
	}
	return spent
}
