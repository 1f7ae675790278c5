package llm

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
)

// leaveOut shortens a request that is longer than the window: old media in results of tools become their text, then old
// results a reference, then media of the user's turns their text, then what the last results hold. What is left is
// measured by the provider's formula, corrected by how far that was off for the refused request.
func leaveOut(_ context.Context, c *change) error {
	before := c.policy.Meter.Measure(c.request).Tokens
	bound := c.tokenBound(before)
	for _, short := range []bool{false, true} {
		e := evictor{request: c.request, meter: c.policy.Meter.of(c.request), bound: bound, now: before}
		old, all := e.old(1), len(c.request.Messages)
		e.replace(e.resultMedia(0, old), &e.evicted.Media)
		e.replace(e.resultTexts(0, old), &e.evicted.Texts)
		user := 0
		e.replace(e.userMedia(short), &user)
		e.replace(e.resultMedia(old, all), &e.evicted.Media)
		if !e.fits() {
			continue
		}
		if !e.evicted.Any() && user == 0 {
			return errHelpless
		}
		c.request, c.lost = e.request, e.evicted.Names
		c.how = fmt.Sprintf("left out to fit: %d media and %d texts in results of tools, %d media of the prompt", e.evicted.Media, e.evicted.Texts, user)
		return nil
	}
	return errHelpless
}

// tokenBound is how long the request may be by our own estimate.
func (c *change) tokenBound(estimate int) int {
	limit := c.limitOr(int64(c.request.ContextWindow), max(c.failure.Actual, int64(estimate)))
	limit -= min(int64(max(c.request.MaxOutputTokens, 0)), limit/4) // some services count the answer too
	limit -= limit / 50
	if actual := c.failure.Actual; actual > int64(estimate) { // what was estimated too low was so everywhere
		limit = limit * int64(estimate) / actual
	}
	return int(limit)
}

// userMedia are the media of the prompt and of other turns of the user; with short, even their texts are left out.
func (e *evictor) userMedia(short bool) []cut {
	var cuts []cut
	for _, p := range e.request.media() {
		if p.inner != outside {
			continue
		}
		b := e.request.at(p)
		instead := e.request.stub(b, "")
		if short {
			instead = e.request.stubLine(b, "")
		}
		cuts = append(cuts, cut{p, instead, content.NameOf(b)})
	}
	return cuts
}
