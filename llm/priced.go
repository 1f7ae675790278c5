package llm

import (
	"context"

	"github.com/vaultflow/vaultflow/cost"
)

// Priced wraps a provider so that Usage.CostUSD is computed from a price in the settings, for answers and for failures
// that were charged. With a nil price it returns p: adapters report CostUnknown.
func Priced(p Provider, price *cost.Price) Provider {
	if price == nil {
		return p
	}
	return priced{p, *price}
}

type priced struct {
	provider Provider
	price    cost.Price
}

func (p priced) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	response, err := p.provider.Generate(ctx, request, progress)
	if response != nil {
		p.settle(&response.Usage)
	}
	if failure, ok := AsError(err); ok {
		p.settle(&failure.Usage)
	}
	return response, err
}

func (p priced) settle(u *cost.Usage) {
	free := p.price == cost.Price{}
	if u.Counted() || free {
		u.CostUSD, u.CostUnknown = u.Cost(p.price), false
	}
}
