package llm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vaultflow/vaultflow/failure/drain"
)

// RetryPolicy sets how often a request is repeated, and how long to wait between attempts. The zero value is the default
// policy.
type RetryPolicy struct {
	Attempts int           // in all; 0: 4, 1: never repeat
	Base     time.Duration // the first wait, doubled each time; 0: 1 s
	Cap      time.Duration // the longest backoff; 0: 1 min
	MaxWait  time.Duration // a longer Retry-After ends the attempts; 0: 5 min
	Now      func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) error
	Jitter   func() float64 // in [0,1); nil: random
	Notify   func(RetryEvent)
}

// RetryEvent reports a failed attempt that will be repeated.
type RetryEvent struct {
	Attempt, Attempts int
	Wait              time.Duration
	Err               *Error
}

// Retry wraps a provider with the only retry layer. It repeats a request after a retryable failure, with exponential backoff
// and jitter, and never sooner than the provider asked for.
//
// It does not repeat once a piece of the answer was handed to progress: people have seen that text, it may have been paid
// for, and a second answer would differ. It then returns the failure with Partial set. With a nil progress nobody has seen
// anything, and the request is repeated.
func Retry(p Provider, policy RetryPolicy) Provider {
	return retrying{p, policy.withDefaults()}
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.Attempts <= 0 {
		p.Attempts = 4
	}
	p.Base = orDefault(p.Base, time.Second)
	p.Cap = orDefault(p.Cap, time.Minute)
	p.MaxWait = orDefault(p.MaxWait, 5*time.Minute)
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return p
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return max(d, 0)
}

// sleep waits for d or the end of ctx, whose error it returns. A process that starts over does not wait either.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-drain.Begun(ctx):
		return drain.Err
	}
}

type retrying struct {
	provider Provider
	policy   RetryPolicy
}

// Generate implements Provider.
func (r retrying) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	delivered := false
	tracked := progress
	if progress != nil {
		tracked = func(delta string) {
			delivered = true
			progress(delta)
		}
	}
	for attempt := 1; ; attempt++ {
		response, err := r.provider.Generate(ctx, request, tracked)
		failure, failed := AsError(err)
		if !failed || ctx.Err() != nil {
			return response, err
		}
		failure.Partial = delivered
		wait, again := r.next(ctx, attempt, failure)
		if !again {
			return response, err
		}
		if r.policy.Notify != nil {
			r.policy.Notify(RetryEvent{attempt, r.policy.Attempts, wait, failure})
		}
		if err := r.policy.Sleep(ctx, wait); err != nil {
			return nil, fmt.Errorf("wait to repeat a request: %w", err)
		}
	}
}

// next decides whether to try again after the given attempt, and when.
func (r retrying) next(ctx context.Context, attempt int, failure *Error) (time.Duration, bool) {
	p := r.policy
	if attempt >= p.Attempts || !failure.Retryable() || failure.Partial || failure.RetryAfter > p.MaxWait {
		return 0, false
	}
	wait := p.Base
	for i := 1; i < attempt && wait < p.Cap; i++ {
		wait *= 2
	}
	wait = min(wait, p.Cap)
	wait = wait/2 + time.Duration(p.Jitter()*float64(wait/2))
	if asked := failure.RetryAfter; asked > wait {
		wait = asked + time.Duration(p.Jitter()*float64(p.Base)) // so that runs do not all come back at once
	}
	if deadline, ok := ctx.Deadline(); ok && p.Now().Add(wait).After(deadline) {
		return 0, false
	}
	return wait, true
}
