package activity

import (
	"strconv"
	"sync"

	"github.com/vaultflow/vaultflow/engine"
)

// maxLedger is how many steps a ledger remembers; those without a call at work are forgotten first.
const maxLedger = 256

// ledger knows what the calls of steps whose batches are at work beside each other cost, so that they do not pass a bound
// together that each of them keeps. What was spent before is in [engine.GenerateIn.SpentUSD]; the ledger adds the batches
// that are not in it. It knows this process alone: after a crash at most as many batches as were at work are missing. The
// zero value is ready; it is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	steps map[string]map[int]*account // by run and step, then by batch; guarded by mu
}

// account is what one batch has spent in this process, and what its call at work may spend, in US dollars.
type account struct{ spent, reserved float64 }

// reserve asks whether a call that may cost `call` fits, given what the other batches spend; then it is counted until
// settle. parallel is how many batches are at work at once.
func (l *ledger) reserve(ref engine.StepRef, parallel int, call float64, fits func(others float64) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	accounts := l.accounts(ref)
	others := 0.0
	for batch, a := range accounts {
		if batch != ref.Batch && batch > ref.Batch-parallel {
			others += a.spent + a.reserved
		}
	}
	if err := fits(others); err != nil {
		return err
	}
	a := accounts[ref.Batch]
	if a == nil {
		a = &account{}
		accounts[ref.Batch] = a
	}
	a.reserved += call
	return nil
}

// settle replaces what was reserved by what the call has cost.
func (l *ledger) settle(ref engine.StepRef, call, cost float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.accounts(ref)[ref.Batch]; a != nil {
		a.reserved, a.spent = max(a.reserved-call, 0), a.spent+cost
	}
}

// accounts are those of a step. The caller holds mu.
func (l *ledger) accounts(ref engine.StepRef) map[int]*account {
	key := ref.Run + "/" + strconv.Itoa(ref.Index)
	if all, ok := l.steps[key]; ok {
		return all
	}
	if l.steps == nil {
		l.steps = map[string]map[int]*account{}
	}
	for old, all := range l.steps {
		if len(l.steps) < maxLedger {
			break
		}
		if idle(all) {
			delete(l.steps, old)
		}
	}
	l.steps[key] = map[int]*account{}
	return l.steps[key]
}

func idle(accounts map[int]*account) bool {
	for _, a := range accounts {
		if a.reserved > 0 {
			return false
		}
	}
	return true
}
