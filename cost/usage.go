package cost

// Usage is what calls of models consumed, in tokens as the provider counts them. InputTokens holds the whole input,
// including the cached parts; OutputTokens the whole output, including reasoning.
type Usage struct {
	InputTokens      int     `json:"input_tokens"`
	OutputTokens     int     `json:"output_tokens"`
	CachedTokens     int     `json:"cached_tokens,omitempty"`      // part of the input, read from the provider's cache
	CacheWriteTokens int     `json:"cache_write_tokens,omitempty"` // part of the input, written to that cache
	ThinkingTokens   int     `json:"thinking_tokens,omitempty"`    // part of the output
	TextTokens       int     `json:"text_tokens,omitempty"`        // parts of the input by kind; all zero when
	ImageTokens      int     `json:"image_tokens,omitempty"`       // the provider does not report them
	DocumentTokens   int     `json:"document_tokens,omitempty"`
	AudioTokens      int     `json:"audio_tokens,omitempty"`
	VideoTokens      int     `json:"video_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd"`
	CostUnknown      bool    `json:"cost_unknown,omitempty"` // some of it has no known price
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens, CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ThinkingTokens: u.ThinkingTokens + v.ThinkingTokens,
		TextTokens:     u.TextTokens + v.TextTokens, ImageTokens: u.ImageTokens + v.ImageTokens, DocumentTokens: u.DocumentTokens + v.DocumentTokens,
		AudioTokens: u.AudioTokens + v.AudioTokens, VideoTokens: u.VideoTokens + v.VideoTokens,
		CostUSD: u.CostUSD + v.CostUSD, CostUnknown: u.CostUnknown || v.CostUnknown,
	}
}

// AddCharged returns the sum of two usages. One that is not known to have been charged adds nothing, not even doubt about
// the cost.
func (u Usage) AddCharged(v Usage) Usage {
	if !u.Counted() && u.CostUSD == 0 {
		return v
	}
	if !v.Counted() && v.CostUSD == 0 {
		return u
	}
	return u.Add(v)
}

// Counted reports whether the provider counted any tokens. Without a count a price says nothing.
func (u Usage) Counted() bool { return u.InputTokens > 0 || u.OutputTokens > 0 }

// Price is the price of a model in US dollars per million tokens. A zero Cached or CacheWrite means the price of Input.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	Cached     float64 `json:"cached,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// Cost returns the cost of the usage at a price, in US dollars.
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
