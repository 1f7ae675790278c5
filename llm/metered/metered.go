// Package metered pays for requests to models: each is reserved in a ledger before it is sent, and settled when it has ended.
package metered

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

// Provider is an llm.Provider that reserves and settles each request, including repeated and rewritten ones. Wrap it in
// llm.Retry, rewrite.Overflow and rewrite.Sighted, not the other way round. Make one for each call; it is not safe for concurrent use.
// A reservation that cannot be settled stays, and counts at its estimate.
type Provider struct {
	Client llm.Provider
	Ledger cost.Ledger
	Whose  cost.Reservation // without its estimate
	Price  Pricing
	Meter  llm.Meter // of the model
	Now    func() time.Time
	Later  bool // leave the cost of answered requests to Settled

	ahead   *pledge // of the next request
	settled []cost.Settlement
}

var _ llm.Provider = (*Provider)(nil)

// pledge is the reservation of one request.
type pledge struct {
	cost.Reserved
	estimate cost.Amount
}

// Ahead reserves money for the next request before it is asked for.
func (m *Provider) Ahead(ctx context.Context, next llm.Request) error {
	if err := m.Close(ctx); err != nil { // so that a request whose cost is known does not count at its estimate
		return err
	}
	whose := m.Reservation(next)
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

// Reservation returns what Ahead reserves for a request.
func (m *Provider) Reservation(next llm.Request) cost.Reservation {
	meter, whose := m.Meter, m.Whose
	meter.Most = true
	whose.Estimate, whose.NoPrice = m.Price.estimate(meter.Measure(next).Tokens, next), m.Price.unknown()
	return whose
}

// Generate implements llm.Provider. Under a cap, an answer of unbounded length gets a bound: otherwise its cost could not be
// estimated.
func (m *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
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

// Settled returns the cost of answered requests that is not settled yet, once.
func (m *Provider) Settled() []cost.Settlement {
	list := m.settled
	m.settled = nil
	return list
}

// Close settles what is not settled yet, and releases the reservation of a request that was not sent.
func (m *Provider) Close(ctx context.Context) error {
	list := m.Settled()
	if m.ahead != nil {
		list = append(list, cost.Settlement{ID: m.ahead.ID})
		m.ahead = nil
	}
	return m.charge(ctx, list...)
}

// charge settles requests even when the context has ended.
func (m *Provider) charge(ctx context.Context, list ...cost.Settlement) error {
	if len(list) == 0 {
		return nil
	}
	if err := m.Ledger.Charge(context.WithoutCancel(ctx), list...); err != nil {
		return failure.New(failure.State, "", "%v", err)
	}
	return nil
}

// Failures after which a service may still have done the work: a proxy stopped waiting, or the answer broke off.
var (
	maybeCharged  = []int{http.StatusRequestTimeout, http.StatusGatewayTimeout, 524}
	maybeAnswered = []llm.Class{llm.ClassNetwork, llm.ClassOverloaded, llm.ClassRefusal, llm.ClassOther}
)

// free reports whether a failed request was surely not charged: it was refused, or never reached the service.
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
