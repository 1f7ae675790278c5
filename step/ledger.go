package step

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
)

// Ledger keeps what calls of models cost, for all runs; journal.Spending is one.
type Ledger interface {
	// Reserve asks for the money of a request before it is sent. A cap that it might pass is an *cost.OverBudget.
	Reserve(ctx context.Context, r cost.Reservation, now time.Time) (cost.Reserved, error)
	// Charge replaces what was reserved by what requests have cost.
	Charge(ctx context.Context, list ...cost.Settlement) error
	// CapStates gives the caps of a request with what counts against them now.
	CapStates(ctx context.Context, r cost.Reservation, now time.Time) ([]cost.CapState, error)
}

// Metered is a provider each of whose requests is reserved before it is sent and settled when it has ended, repetitions
// and changed requests too. Wrap it by llm.Retry, rewrite.Overflow and rewrite.Sighted, not the other way round. It serves one call at
// a time, and is made for it. What cannot be settled stays reserved, and counts at its estimate.
type Metered struct {
	Client llm.Provider
	Ledger Ledger
	Whose  cost.Reservation // without its estimate
	Price  Pricing
	Meter  llm.Meter // of the model
	Now    func() time.Time
	Later  bool // what answered requests have cost is left to Settled

	ahead   *pledge // of the next request
	settled []cost.Settlement
}

// pledge is a reservation of a request.
type pledge struct {
	cost.Reserved
	estimate cost.Amount
}

// Ahead reserves the money of the next request before it is asked for.
func (m *Metered) Ahead(ctx context.Context, next llm.Request) error {
	if err := m.Close(ctx); err != nil { // so that nothing counts at an estimate whose cost is known
		return err
	}
	whose := m.asking(next)
	held, err := m.Ledger.Reserve(ctx, whose, m.Now())
	if over, ok := errors.AsType[*cost.OverBudget](err); ok {
		return over
	}
	if err != nil {
		return failure.New(failure.State, "", "%v", err)
	}
	m.ahead = &pledge{held, whose.Estimate}
	return nil
}

// asking is the reservation of a request.
func (m *Metered) asking(next llm.Request) cost.Reservation {
	meter, whose := m.Meter, m.Whose
	meter.Most = true
	whose.Estimate, whose.NoPrice = m.Price.estimate(meter.Measure(next).Tokens, next), m.Price.Unknown()
	return whose
}

// Generate implements llm.Provider. Under a cap the answer gets a bound when nothing else bounds it: without one there
// would be no cost to promise.
func (m *Metered) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	if m.ahead == nil {
		if err := m.Ahead(ctx, request); err != nil {
			return nil, err
		}
	}
	held := *m.ahead
	m.ahead = nil
	if held.Capped && request.MaxOutputTokens == 0 {
		request.MaxOutputTokens = boundedOutput
	}
	answer, err := m.Client.Generate(ctx, request, progress)
	if err != nil {
		_ = m.charge(ctx, m.Price.failed(held, err))
		return answer, err
	}
	m.settled = append(m.settled, m.Price.answered(held, answer.Usage))
	if !m.Later {
		_ = m.Close(ctx)
	}
	return answer, nil
}

// Settled gives what answered requests have cost that is not settled yet, once.
func (m *Metered) Settled() []cost.Settlement {
	list := m.settled
	m.settled = nil
	return list
}

// Close settles what is not, and gives back what was reserved for a request that was not sent.
func (m *Metered) Close(ctx context.Context) error {
	list := m.Settled()
	if m.ahead != nil {
		list = append(list, cost.Settlement{ID: m.ahead.ID})
		m.ahead = nil
	}
	return m.charge(ctx, list...)
}

// charge settles, also when the context has ended.
func (m *Metered) charge(ctx context.Context, list ...cost.Settlement) error {
	if len(list) == 0 {
		return nil
	}
	if err := m.Ledger.Charge(context.WithoutCancel(ctx), list...); err != nil {
		return failure.New(failure.State, "", "%v", err)
	}
	return nil
}

// Failures behind which a service may have worked all the same: somebody in between gave up waiting, or the answer broke off.
var (
	maybeCharged  = []int{http.StatusRequestTimeout, http.StatusGatewayTimeout, 524}
	maybeAnswered = []llm.Class{llm.ClassNetwork, llm.ClassOverloaded, llm.ClassRefusal, llm.ClassOther}
)

// free says whether a request that failed so was surely not charged: it was refused, or never reached the service.
func free(err error) bool {
	e, ok := llm.AsError(err)
	switch {
	case !ok || e.Partial:
		return false
	case e.Unsent:
		return true
	case e.Status >= http.StatusBadRequest:
		return !slices.Contains(maybeCharged, e.Status)
	}
	return !slices.Contains(maybeAnswered, e.Class)
}
