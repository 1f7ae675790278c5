// Package rewrite changes a request so that a service accepts it: after a refusal for its size or its media (Overflow),
// after an answer that cannot have seen the media (Sighted), and before sending when a conversation has outgrown the
// model's context window (Within).
package rewrite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// maxRewrites is how often one request is changed and sent again.
const maxRewrites = 2

// Change describes how a refused request was changed. It holds counts, names and our own words, never content.
type Change struct {
	Class  llm.Class
	Before cost.Estimate
	After  cost.Estimate
	How    string   // "pictures scaled to 2000 pixels a side"
	Lost   []string // names of media sent as text now
}

// OverflowPolicy configures Overflow. The functions may be nil; they are called from the goroutine that calls Generate.
type OverflowPolicy struct {
	Off    bool                  // detect overflows, rewrite nothing
	Limits policy.ProviderLimits // published for the model, for refusals that state no limit
	Meter  llm.Meter
	Vision bool // documents may become pictures of their pages

	// Inline fetches a picture that the service failed to fetch, under our own rules, and returns the block of the copy.
	Inline func(ctx context.Context, picture content.Image) (content.Image, error)
	// Detected is called for every overflow, including those without a remedy.
	Detected func(failure *llm.Error)
	// Rewriting is called before a changed request is sent. spent is what the refused one was charged. Generate stops and
	// returns the error, if there is one.
	Rewriting func(next llm.Request, change Change, spent cost.Usage) error
	// Ended is called after a changed request; err is nil when it was answered.
	Ended func(change Change, err error)
}

// Overflow wraps a provider so that a request refused for its size or its media is made to fit and sent again: once for
// each class of failure, at most twice, and never the same request twice. If no change makes the request meet the stated
// limit, nothing more is sent, and the failure's hint names what to change. Each class has one remedy (see remedies); failures of
// other classes, rate limits among them, are returned as they are. An answer partly handed to progress is never requested
// again.
//
// An answer that used more tokens than Request.ContextWindow is an overflow too: part of the input was not read.
//
// Wrap Overflow around Retry and Gate, not the other way round. Usage is the sum of all requests.
func Overflow(p llm.Provider, o OverflowPolicy) llm.Provider { return overflowing{p, o} }

type overflowing struct {
	provider llm.Provider
	policy   OverflowPolicy
}

var _ llm.Provider = overflowing{}

// attempts records what one call has sent.
type attempts struct {
	sent    map[[sha256.Size]byte]bool // digests of the requests
	classes map[llm.Class]bool         // rewritten once
	last    Change
	lost    []string
	limits  llm.PictureLimits
	spent   cost.Usage
}

// Generate implements llm.Provider.
func (o overflowing) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	a := attempts{sent: map[[sha256.Size]byte]bool{}, classes: map[llm.Class]bool{}}
	delivered := false
	tracked := progress
	if progress != nil {
		tracked = func(delta string) {
			delivered = true
			progress(delta)
		}
	}
	for {
		a.sent[digest(request, a.limits)] = true
		response, err := o.provider.Generate(ctx, request, tracked)
		response, err = o.silent(request, response, err)
		if failure, failed := llm.AsError(err); failed {
			failure.Partial = failure.Partial || delivered
		}
		o.ended(a, err)
		if err == nil {
			unknown := response.Usage.CostUnknown
			response.Usage = a.spent.AddCharged(response.Usage)
			response.Usage.CostUnknown = response.Usage.CostUnknown || unknown
			response.Omitted = append(a.lost, response.Omitted...)
			if len(a.classes) > 0 {
				response.Rewritten = &request
			}
			return response, nil
		}
		failure, failed := llm.AsError(err)
		if !failed || ctx.Err() != nil {
			return nil, err
		}
		next, err := o.again(ctx, request, failure, &a)
		if err != nil {
			if failure, ok := llm.AsError(err); ok {
				failure.Usage = a.spent.AddCharged(failure.Usage)
			}
			return nil, err
		}
		request = next
	}
}

// silent replaces an answer that used more tokens than the context window with the failure that it is.
func (o overflowing) silent(request llm.Request, response *llm.Response, err error) (*llm.Response, error) {
	if err != nil || request.ContextWindow <= 0 || response.Usage.InputTokens <= request.ContextWindow {
		return response, err
	}
	return nil, &llm.Error{
		Class: llm.ClassContextTokens, Provider: o.policy.Limits.Provider, Usage: response.Usage,
		Actual: int64(response.Usage.InputTokens), Limit: int64(request.ContextWindow),
		Message: "the input is longer than the model's context window, so that not all of it was read",
	}
}

func (o overflowing) ended(a attempts, err error) {
	if o.policy.Ended != nil && len(a.classes) > 0 {
		o.policy.Ended(a.last, err)
	}
}

// again returns the request to send after a refusal, or the error that ends the call.
func (o overflowing) again(ctx context.Context, request llm.Request, failure *llm.Error, a *attempts) (llm.Request, error) {
	remedy, helps := remedies[failure.Class]
	if !helps || failure.Unsent {
		return request, failure
	}
	if o.policy.Detected != nil {
		o.policy.Detected(failure)
	}
	if failure.Tried = a.last.How; o.policy.Off || failure.Partial || len(a.classes) == maxRewrites || a.classes[failure.Class] {
		return request, failure
	}
	d := draft{policy: o.policy, request: request, failure: failure}
	if err := remedy(ctx, &d); errors.Is(err, errHelpless) {
		return request, failure
	} else if err != nil {
		return request, err
	}
	if d.request = changed(request, d.request); d.limits != (llm.PictureLimits{}) {
		d.request.Changed = 1 // other bytes of the same pictures
	}
	limits := a.limits.And(d.limits)
	if a.sent[digest(d.request, limits)] {
		return request, failure
	}
	change := Change{
		Class: failure.Class, Before: o.policy.Meter.Measure(request), After: o.policy.Meter.Measure(d.request), How: d.how, Lost: d.lost,
	}
	if o.policy.Rewriting != nil {
		if err := o.policy.Rewriting(d.request, change, failure.Usage); err != nil {
			return request, err
		}
	}
	a.classes[failure.Class], a.last, a.limits = true, change, limits
	a.lost, a.spent = append(a.lost, d.lost...), a.spent.AddCharged(failure.Usage)
	return d.request, nil
}

// digest identifies a request by its text, the digests of its media and the limits of its pictures.
func digest(r llm.Request, limits llm.PictureLimits) [sha256.Size]byte {
	data, err := json.Marshal([]any{r.Model, r.System, r.Messages, r.Changed, limits, r.Delivery})
	if err != nil { // cannot happen: all of it has a JSON form
		data = fmt.Appendf(nil, "%+v", r.Messages)
	}
	return sha256.Sum256(data)
}
