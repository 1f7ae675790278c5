package steptest

import (
	"context"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/cost"
)

// Books is a cost.Ledger in memory, for runs that nobody waits for.
type Books struct {
	mu   sync.Mutex
	rows []booked // by id, from 1; guarded by mu
}

type booked struct {
	cost.Reservation
	at      time.Time
	settled *cost.Settlement
}

// Reserve implements cost.Ledger.
func (b *Books) Reserve(ctx context.Context, r cost.Reservation, now time.Time) (cost.Reserved, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	states, err := b.states(r, now)
	for _, c := range states {
		if over := c.Refuses(r); over != nil {
			return cost.Reserved{}, over
		}
	}
	b.rows = append(b.rows, booked{r, now, nil})
	return cost.Reserved{ID: int64(len(b.rows)), Capped: len(states) > 0}, err
}

// Charge implements cost.Ledger.
func (b *Books) Charge(_ context.Context, list ...cost.Settlement) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range list {
		b.rows[s.ID-1].settled = &s
	}
	return nil
}

// CapStates implements cost.Ledger.
func (b *Books) CapStates(_ context.Context, r cost.Reservation, now time.Time) ([]cost.CapState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.states(r, now)
}

// states is CapStates. The caller holds mu.
func (b *Books) states(r cost.Reservation, now time.Time) ([]cost.CapState, error) {
	states, err := r.Caps.States(now)
	for i := range states {
		c := &states[i]
		c.Count(b.sum(func(e booked) bool {
			switch c.Scope {
			case cost.ScopeStep:
				return e.Run == r.Run && e.Step == r.Step
			case cost.ScopeRun:
				return e.Run == r.Run
			case cost.ScopeDay:
				return e.Workflow == r.Workflow && !e.at.Before(c.Since)
			}
			return !e.at.Before(c.Since)
		}))
	}
	return states, err
}

// sum adds up rows. The caller holds mu.
func (b *Books) sum(counts func(booked) bool) cost.Spending {
	var s cost.Spending
	add := func(a *cost.Amount, by cost.Amount) { a.USD, a.Tokens = a.USD+by.USD, a.Tokens+by.Tokens }
	for _, e := range b.rows {
		if !counts(e) {
			continue
		}
		s.Calls++
		if e.settled == nil {
			add(&s.Open, e.Estimate)
			add(&s.Cost, e.Estimate)
			continue
		}
		add(&s.Cost, e.settled.Cost)
		if e.settled.Presumed {
			add(&s.Presumed, e.settled.Cost)
		}
	}
	return s
}

// All is what everything has cost.
func (b *Books) All() cost.Spending {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sum(func(booked) bool { return true })
}

// Estimate is what the first request was estimated to cost.
func (b *Books) Estimate() cost.Amount {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows[0].Estimate
}

// Spent adds a request that has cost an amount at noon.
func (b *Books) Spent(run string, step int, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, booked{
		cost.Reservation{Run: run, Workflow: "Flow", Step: step}, Noon, &cost.Settlement{Cost: cost.Amount{USD: usd}},
	})
}
