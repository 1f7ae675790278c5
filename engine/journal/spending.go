package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// Spending keeps what requests to models cost: reserved before they are sent, settled when they have ended.
type Spending struct{ db *database }

// A request to a model has a row for the run that makes it (level 0), and one for each run that waits for that one, so that
// it counts in all of them. Dollars are kept as billionths: sums are exact.

// States of a request's money.
const (
	spendingOpen     = 0 // reserved: usd and tokens are estimates
	spendingSettled  = 1
	spendingPresumed = 2 // usd and tokens are the estimates, since nobody said what it cost
)

const nano = 1e9

func nanos(usd float64) int64 { return int64(math.Round(usd * nano)) }

// spender is a run that a request is paid for: the one that makes it, or one that waits for that.
type spender struct {
	run, workflow string
	step          int
	caps          cost.Caps
}

// Reserve asks for the money of a request, in one transaction against all caps of its run and of the runs that wait for
// it. Settle what it returns; if this process dies before that, the next one counts the estimate. A cap that might
// be passed is an *cost.OverBudget.
func (sp *Spending) Reserve(ctx context.Context, r cost.Reservation, now time.Time) (cost.Reserved, error) {
	var out cost.Reserved
	err := inTx(ctx, sp.db.write, func(tx *sql.Tx) error {
		chain, err := spenders(ctx, tx, r)
		if err != nil {
			return err
		}
		states, err := capStates(ctx, tx, chain, now)
		if err != nil {
			return err
		}
		for _, c := range states {
			if over := c.Refuses(r); over != nil {
				return over
			}
		}
		out.Capped = len(states) > 0
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(call), 0) + 1 FROM spending`).Scan(&out.ID); err != nil {
			return err
		}
		return insertSpending(ctx, tx, out.ID, chain, r, now)
	})
	if over, ok := errors.AsType[*cost.OverBudget](err); ok {
		return cost.Reserved{}, over
	}
	if err != nil {
		return cost.Reserved{}, fmt.Errorf("reserve the costs of a call of run %s: %w", r.Run, err)
	}
	return out, nil
}

func insertSpending(ctx context.Context, tx *sql.Tx, call int64, chain []spender, r cost.Reservation, now time.Time) error {
	for level, s := range chain {
		caps, err := []byte(nil), error(nil)
		if level == 0 { // those above check their own
			if caps, err = json.Marshal(s.caps); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO spending (call, level, run, workflow, step, time, model, usd, tokens, state, caps)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, call, level, s.run, s.workflow, s.step, micros(now), r.Model,
			nanos(r.Estimate.USD), r.Estimate.Tokens, spendingOpen, string(caps)); err != nil {
			return err
		}
	}
	return nil
}

// maxWaiting bounds how many runs are looked at that wait for each other.
const maxWaiting = 16

// spenders returns the run of a request and those that wait for it, each with the caps that its own last request had.
func spenders(ctx context.Context, q handle, r cost.Reservation) ([]spender, error) {
	chain := []spender{{run: r.Run, workflow: r.Workflow, step: r.Step, caps: r.Caps}}
	for len(chain) < maxWaiting {
		var view []byte
		err := found(q.QueryRowContext(ctx, `SELECT view FROM runs WHERE id = ?`, chain[len(chain)-1].run).Scan(&view))
		if errors.Is(err, engine.ErrNotFound) {
			return chain, nil // retention has removed it, or it is a preview
		}
		var run struct{ Trigger engine.Trigger }
		if err == nil {
			err = json.Unmarshal(view, &run)
		}
		if err != nil {
			return nil, err
		}
		if run.Trigger.Parent == "" {
			return chain, nil
		}
		parent := spender{run: run.Trigger.Parent, step: run.Trigger.Step}
		var caps []byte
		err = found(q.QueryRowContext(ctx, `SELECT workflow, caps FROM spending WHERE run = ? AND step = ? AND level = 0 ORDER BY call DESC LIMIT 1`,
			parent.run, parent.step).Scan(&parent.workflow, &caps))
		if err == nil {
			err = json.Unmarshal(caps, &parent.caps)
		}
		if err != nil && !errors.Is(err, engine.ErrNotFound) {
			return nil, err
		}
		parent.caps.Month = cost.Amount{} // it is the same vault's
		chain = append(chain, parent)
	}
	return chain, nil
}

// CapStates returns the caps of a request with what counts against them now, those of runs that wait for its run included.
// It reserves nothing.
func (sp *Spending) CapStates(ctx context.Context, r cost.Reservation, now time.Time) ([]cost.CapState, error) {
	chain, err := spenders(ctx, sp.db.read, r)
	if err != nil {
		return nil, fmt.Errorf("read what run %s may spend: %w", r.Run, err)
	}
	states, err := capStates(ctx, sp.db.read, chain, now)
	if err != nil {
		return nil, fmt.Errorf("read what run %s may spend: %w", r.Run, err)
	}
	return states, nil
}

// capStates are the caps of a request's runs, its own first, with what counts against them.
func capStates(ctx context.Context, q handle, chain []spender, now time.Time) (all []cost.CapState, err error) {
	for level, s := range chain {
		states, err := s.caps.States(now)
		if err != nil {
			return nil, err
		}
		for _, c := range states {
			c.Above = level > 0
			if err := s.count(ctx, q, &c); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// count returns what counts against a cap.
func (s spender) count(ctx context.Context, q handle, c *cost.CapState) error {
	sum, err := cost.Spending{}, error(nil)
	switch c.Scope {
	case cost.ScopeStep:
		c.Of = s.run
		sum, err = sumOf(ctx, q, `run = ? AND step = ?`, s.run, s.step)
	case cost.ScopeRun:
		c.Of = s.run
		sum, err = sumOf(ctx, q, `run = ?`, s.run)
	case cost.ScopeDay:
		c.Of = s.workflow
		sum, err = sumOf(ctx, q, `workflow = ? AND time >= ?`, s.workflow, micros(c.Since))
	case cost.ScopeMonth:
		sum, err = sumOf(ctx, q, `level = 0 AND time >= ?`, micros(c.Since))
	}
	c.Count(sum)
	return err
}

// sumOf sums up rows of one level.
func sumOf(ctx context.Context, q handle, where string, args ...any) (cost.Spending, error) {
	var s cost.Spending
	var all, open, presumed int64
	err := q.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(usd), 0), coalesce(sum(tokens), 0),
		coalesce(sum(iif(state = 0, usd, 0)), 0), coalesce(sum(iif(state = 0, tokens, 0)), 0),
		coalesce(sum(iif(state = 2, usd, 0)), 0), coalesce(sum(iif(state = 2, tokens, 0)), 0)
		FROM spending WHERE `+where, args...).Scan(&s.Calls, &all, &s.Cost.Tokens, &open, &s.Open.Tokens, &presumed, &s.Presumed.Tokens)
	s.Cost.USD, s.Open.USD, s.Presumed.USD = float64(all)/nano, float64(open)/nano, float64(presumed)/nano
	return s, err
}

// Charge replaces what was reserved by what requests have cost. Those that are settled already stay as they are.
func (sp *Spending) Charge(ctx context.Context, list ...cost.Settlement) error {
	if err := inTx(ctx, sp.db.write, func(tx *sql.Tx) error { return settle(ctx, tx, list) }); err != nil {
		return fmt.Errorf("settle the costs of a call: %w", err)
	}
	return nil
}

// settleAnswer settles what an answer has cost, together with its record. It stays when the run is retried: it was paid for.
func settleAnswer(ctx context.Context, tx *sql.Tx, r engine.Record) error {
	if r.Activity != engine.ActivityGenerate || r.Failure != nil {
		return nil
	}
	var out engine.GenerateOut
	if err := json.Unmarshal(r.Out, &out); err != nil {
		return fmt.Errorf("read the outcome of a model call: %w", err)
	}
	return settle(ctx, tx, out.Settled)
}

func settle(ctx context.Context, tx *sql.Tx, list []cost.Settlement) error {
	for _, s := range list {
		state := spendingSettled
		if s.Presumed {
			state = spendingPresumed
		}
		if _, err := tx.ExecContext(ctx, `UPDATE spending SET usd = ?, tokens = ?, state = ? WHERE call = ? AND state = ?`,
			nanos(s.Cost.USD), s.Cost.Tokens, state, s.ID, spendingOpen); err != nil {
			return err
		}
	}
	return nil
}

// presumeOf settles what a run that has ended holds reserved, at the estimates.
func presumeOf(ctx context.Context, tx *sql.Tx, run string) error {
	_, err := tx.ExecContext(ctx, `UPDATE spending SET state = ? WHERE state = ? AND call IN (SELECT call FROM spending WHERE run = ? AND level = 0 AND state = ?)`,
		spendingPresumed, spendingOpen, run, spendingOpen)
	return err
}

// presumeDead settles what processes before this one have left reserved, at the estimates: the money may be gone.
func presumeDead(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `UPDATE spending SET state = ? WHERE state = ?`, spendingPresumed, spendingOpen); err != nil {
		return fmt.Errorf("settle the costs of calls that were interrupted: %w", err)
	}
	return nil
}

// Since sums up what was spent since a time: by a workflow with the runs that its runs started, or by the whole vault
// with its imports when the name is empty.
func (sp *Spending) Since(ctx context.Context, workflow string, since time.Time) (cost.Spending, error) {
	where, args := `workflow = ? AND time >= ?`, []any{workflow, micros(since)}
	if workflow == "" {
		where, args = `level = 0 AND time >= ?`, args[1:]
	}
	s, err := sumOf(ctx, sp.db.read, where, args...)
	if err != nil {
		return s, fmt.Errorf("sum up what was spent: %w", err)
	}
	return s, nil
}

// Of sums up what a run has spent, with the runs that it started and with attempts that failed.
func (sp *Spending) Of(ctx context.Context, run string) (cost.Spending, error) {
	s, err := sumOf(ctx, sp.db.read, `run = ?`, run)
	if err != nil {
		return s, fmt.Errorf("sum up what run %s has spent: %w", run, err)
	}
	return s, nil
}
