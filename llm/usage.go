package llm

import "context"

// Usage is what a call consumed, in tokens as the provider counts them. InputTokens holds the whole input, the cached
// parts too; OutputTokens the whole output, reasoning too.
type Usage struct {
	InputTokens      int     `json:"input_tokens"`
	OutputTokens     int     `json:"output_tokens"`
	CachedTokens     int     `json:"cached_tokens,omitempty"`      // part of the input, read from the provider's cache
	CacheWriteTokens int     `json:"cache_write_tokens,omitempty"` // part of the input, written to that cache
	ThinkingTokens   int     `json:"thinking_tokens,omitempty"`    // part of the output
	TextTokens       int     `json:"text_tokens,omitempty"`        // parts of the input by what they are; 0, with the others, when the
	ImageTokens      int     `json:"image_tokens,omitempty"`       // provider does not say
	DocumentTokens   int     `json:"document_tokens,omitempty"`
	AudioTokens      int     `json:"audio_tokens,omitempty"`
	VideoTokens      int     `json:"video_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd"`
	CostUnknown      bool    `json:"cost_unknown,omitempty"` // CostUSD is zero because no price is known
}

// Price is what a model costs, in US dollars per million tokens. Cached and CacheWrite count as Input when they are zero.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	Cached     float64 `json:"cached,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// Cost returns what the usage costs at a price, in US dollars.
func (u Usage) Cost(p Price) float64 {
	orInput := func(price float64) float64 {
		if price == 0 {
			return p.Input
		}
		return price
	}
	plain := max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0)
	dollars := float64(plain)*p.Input + float64(u.OutputTokens)*p.Output +
		float64(u.CachedTokens)*orInput(p.Cached) + float64(u.CacheWriteTokens)*orInput(p.CacheWrite)
	return dollars / 1e6
}

// reported tells whether the provider gave any count; without one a price says nothing.
func (u Usage) reported() bool { return u.InputTokens > 0 || u.OutputTokens > 0 }

// Priced wraps a provider so that Usage.CostUSD is computed from a price given in the settings, for answers and for
// failures that were charged. With a nil price it returns the provider itself: adapters report CostUnknown.
func Priced(p Provider, price *Price) Provider {
	if price == nil {
		return p
	}
	return priced{p, *price}
}

type priced struct {
	provider Provider
	price    Price
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

func (p priced) settle(u *Usage) {
	free := p.price == Price{}
	if u.reported() || free {
		u.CostUSD, u.CostUnknown = u.Cost(p.price), false
	}
}
