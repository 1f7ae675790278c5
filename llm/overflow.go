package llm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/policy"
)

// maxRewrites is how often one request is changed and sent again.
const maxRewrites = 2

// Rewrite tells how a request was changed after a service had refused it. It holds counts, names and our own words, never
// content.
type Rewrite struct {
	Class  Class
	Before cost.Estimate
	After  cost.Estimate
	How    string   // "pictures scaled to 2000 pixels a side"
	Lost   []string // names of media that go as their text now
}

// OverflowPolicy says how a request is made to fit after a service has refused it for its size or its media. The functions
// may be nil; they are called from the goroutine that asks.
type OverflowPolicy struct {
	Off    bool                  // overflows are found, and nothing is rewritten
	Limits policy.ProviderLimits // published for the model, for refusals that state no limit
	Meter  Meter
	Vision bool // documents may become pictures of their pages

	// Inline fetches a picture that the service was to fetch itself, under our own rules, and says where it is now.
	Inline func(ctx context.Context, picture content.Image) (content.Image, error)
	// Detected tells of an overflow. It may be one that cannot be helped.
	Detected func(failure *Error)
	// Rewriting is called before a changed request is sent. spent is what the refused one was charged. An error ends the
	// call, and is what Generate returns.
	Rewriting func(next Request, rewrite Rewrite, spent cost.Usage) error
	// Ended tells how the request went that was sent in place of another; err is nil when it was answered.
	Ended func(rewrite Rewrite, err error)
}

// Overflow wraps a provider so that a request that a service refuses as too large, or for its media, is made to fit and
// sent again: once for each class of failure, at most twice, and never the same request twice. A rewritten request differs
// and keeps the limit that was stated; where that cannot be done nothing more is sent, and the failure says what to change.
// Each class has one remedy (see remedies); classes without one, rate limits among them, come back as they are. An answer
// that was partly handed to progress is never asked for again.
//
// An answer to more tokens than Request.ContextWindow is an overflow too: something of the input was not read.
//
// Wrap Retry and Limit by it, not the other way round. Usage is the sum of all requests.
func Overflow(p Provider, o OverflowPolicy) Provider { return overflowing{p, o} }

type overflowing struct {
	provider Provider
	policy   OverflowPolicy
}

// attempts is what was done for one call.
type attempts struct {
	sent    map[[sha256.Size]byte]bool // digests of the requests
	classes map[Class]bool             // rewritten once
	last    Rewrite
	lost    []string
	limits  PictureLimits
	spent   cost.Usage
}

// Generate implements Provider.
func (o overflowing) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	a := attempts{sent: map[[sha256.Size]byte]bool{}, classes: map[Class]bool{}}
	delivered := false
	tracked := progress
	if progress != nil {
		tracked = func(delta string) {
			delivered = true
			progress(delta)
		}
	}
	for {
		a.sent[request.digest(a.limits)] = true
		response, err := o.provider.Generate(ctx, request, tracked)
		response, err = o.silent(request, response, err)
		if failure, failed := AsError(err); failed {
			failure.Partial = failure.Partial || delivered
		}
		o.ended(a, err)
		if err == nil {
			unknown := response.Usage.CostUnknown
			response.Usage = a.spent.AddCharged(response.Usage)
			response.Usage.CostUnknown = response.Usage.CostUnknown || unknown
			response.Omitted = append(a.lost, response.Omitted...)
			if len(a.classes) > 0 {
				response.sent = &request
			}
			return response, nil
		}
		failure, failed := AsError(err)
		if !failed || ctx.Err() != nil {
			return nil, err
		}
		next, err := o.again(ctx, request, failure, &a)
		if err != nil {
			if failure, ok := AsError(err); ok {
				failure.Usage = a.spent.AddCharged(failure.Usage)
			}
			return nil, err
		}
		request = next
	}
}

// silent turns an answer to an input that cannot have been read whole into the failure that it is.
func (o overflowing) silent(request Request, response *Response, err error) (*Response, error) {
	if err != nil || request.ContextWindow <= 0 || response.Usage.InputTokens <= request.ContextWindow {
		return response, err
	}
	return nil, &Error{
		Class: ClassContextTokens, Provider: o.policy.Limits.Provider, Usage: response.Usage,
		Actual: int64(response.Usage.InputTokens), Limit: int64(request.ContextWindow),
		Message: "the input is longer than the model's context window, so that not all of it was read",
	}
}

func (o overflowing) ended(a attempts, err error) {
	if o.policy.Ended != nil && len(a.classes) > 0 {
		o.policy.Ended(a.last, err)
	}
}

// again is the request that is sent in place of a refused one; without one the error is what the call ends with.
func (o overflowing) again(ctx context.Context, request Request, failure *Error, a *attempts) (Request, error) {
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
	c := change{overflowing: o, request: request, failure: failure}
	if err := remedy(ctx, &c); errors.Is(err, errHelpless) {
		return request, failure
	} else if err != nil {
		return request, err
	}
	limits := a.limits.both(c.limits)
	if a.sent[c.request.digest(limits)] {
		return request, failure
	}
	rewrite := Rewrite{
		Class: failure.Class, Before: o.policy.Meter.Measure(request), After: o.policy.Meter.Measure(c.request), How: c.how, Lost: c.lost,
	}
	if o.policy.Rewriting != nil {
		if err := o.policy.Rewriting(c.request, rewrite, failure.Usage); err != nil {
			return request, err
		}
	}
	a.classes[failure.Class], a.last, a.limits = true, rewrite, limits
	a.lost, a.spent = append(a.lost, c.lost...), a.spent.AddCharged(failure.Usage)
	return c.request, nil
}

// digest tells requests apart by what they say: blocks with the digests of media, and the limits of pictures.
func (r Request) digest(limits PictureLimits) [sha256.Size]byte {
	data, err := json.Marshal([]any{r.Model, r.System, r.Messages, limits, r.Delivery})
	if err != nil { // cannot happen: all of it has a JSON form
		data = fmt.Appendf(nil, "%+v", r.Messages)
	}
	return sha256.Sum256(data)
}
