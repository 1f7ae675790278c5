package bedrock

import (
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// cachePoint asks the service to cache the request up to it, for five minutes from its last use. A request has four at most.
// From AWS's page on prompt caching, read in November 2026.
type cachePoint struct {
	Point struct {
		Type string `json:"type"`
	} `json:"cachePoint"`
}

// keep marks two prefixes that the next request of a conversation will share: tools and system prompt, and everything up to
// the last turn. It skips models without a cache; Nova does not cache tools.
func (b *converseBody) keep(r llm.Request) {
	if !r.Cache || !policy.Lookup(wireName, r.Model, nil, nil).Has(policy.PromptCaching) {
		return
	}
	var point cachePoint
	point.Point.Type = "default"
	switch {
	case len(b.System) > 0:
		b.System = append(b.System, point)
	case b.Tools != nil && familyOf(r.Model) == claude:
		b.Tools.Tools = append(b.Tools.Tools, point)
	}
	last := &b.Messages[len(b.Messages)-1]
	last.Content = append(last.Content, point)
}
