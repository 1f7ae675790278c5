package metered

import (
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
)

// boundedOutput limits the answer of a call under a cap that has no limit of its own, in tokens.
const boundedOutput = 8192

// Pricing is the price of a model. A model without a known price counts as the most expensive one that has one.
type Pricing struct {
	Own     *cost.Price // nil: not known
	Dearest *cost.Price // nil: none is known
	PerCall float64     // US dollars added for each request, as for a page of text recognition
}

// unknown reports whether there is no price to calculate with.
func (p Pricing) unknown() bool { return p.Own == nil && p.Dearest == nil && p.PerCall == 0 }

func (p Pricing) price() cost.Price {
	switch {
	case p.Own != nil:
		return *p.Own
	case p.Dearest != nil && p.PerCall == 0:
		return *p.Dearest
	}
	return cost.Price{}
}

// estimate returns the most that a request should cost. The limit on the answer and the requested reasoning bound its output.
func (p Pricing) estimate(input int, request llm.Request) cost.Amount {
	output := request.MaxOutputTokens
	if output == 0 {
		output = boundedOutput
	}
	if output += llm.ThinkingRoom(request.Model, request.Thinking); p.PerCall > 0 {
		output = 0 // pages are paid for, not tokens
	}
	price := p.price()
	usd := float64(input)*max(price.Input, price.CacheWrite) + float64(output)*price.Output
	return cost.Amount{USD: usd/1e6 + p.PerCall, Tokens: int64(input + output)}
}

// answered returns the cost of an answer: as reported by the service, else its tokens at our price, else the estimate.
func (p Pricing) answered(held pledge, u cost.Usage) cost.Settlement {
	tokens, price := u.InputTokens+u.OutputTokens, p.price()
	s := cost.Settlement{ID: held.ID, Cost: cost.Amount{USD: u.CostUSD, Tokens: int64(tokens)}}
	if tokens == 0 {
		s.Cost.Tokens = held.estimate.Tokens
	}
	switch free := p.Own != nil && price == (cost.Price{}) && p.PerCall == 0; {
	case !u.CostUnknown && (tokens > 0 || u.CostUSD > 0 || free):
	case tokens > 0:
		s.Cost.USD = u.Cost(price) + p.PerCall
	default:
		s.Cost.USD, s.Presumed = held.estimate.USD, true
	}
	return s
}

// failed returns the cost of a request without an answer: what the service reports, nothing if it was refused or never arrived,
// and otherwise the estimate, because it may have been charged.
func (p Pricing) failed(held pledge, err error) cost.Settlement {
	if e, ok := llm.AsError(err); ok && (e.Usage.InputTokens+e.Usage.OutputTokens > 0 || e.Usage.CostUSD > 0) {
		return p.answered(held, e.Usage)
	}
	if free(err) {
		return cost.Settlement{ID: held.ID}
	}
	return cost.Settlement{ID: held.ID, Cost: held.estimate, Presumed: true}
}
