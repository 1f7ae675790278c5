package llm

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// script is a provider that fails as told, then answers.
type script struct {
	failures []*Error
	say      string // handed to progress before each failure
	calls    int
}

func (s *script) Generate(_ context.Context, _ Request, progress func(string)) (*Response, error) {
	s.calls++
	if s.calls > len(s.failures) {
		return &Response{Text: "ok"}, nil
	}
	if progress != nil && s.say != "" {
		progress(s.say)
	}
	return nil, s.failures[s.calls-1]
}

func TestRetry_waits(t *testing.T) {
	t.Parallel()
	limited := func(after time.Duration) *Error { return &Error{Class: ClassRateLimit, RetryAfter: after} }
	down := &Error{Class: ClassOverloaded}
	for _, c := range []struct {
		name     string
		failures []*Error
		policy   RetryPolicy
		deadline time.Duration
		want     []time.Duration
		ok       bool
	}{
		{"grows", []*Error{down, down, down}, RetryPolicy{}, 0, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		{"ends", []*Error{down, down, down, down}, RetryPolicy{}, 0, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
		{"is capped", []*Error{down, down, down}, RetryPolicy{Cap: 1500 * time.Millisecond}, 0, []time.Duration{time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond}, true},
		{"obeys", []*Error{limited(30 * time.Second)}, RetryPolicy{}, 0, []time.Duration{31 * time.Second}, true},
		{"never asks earlier than told", []*Error{limited(10 * time.Minute)}, RetryPolicy{}, 0, nil, false},
		{"respects the deadline", []*Error{limited(30 * time.Second)}, RetryPolicy{}, 10 * time.Second, nil, false},
		{"not for other classes", []*Error{{Class: ClassAuth}}, RetryPolicy{}, 0, nil, false},
		{"once", []*Error{down}, RetryPolicy{Attempts: 1}, 0, nil, false},
	} {
		now := time.Now()
		var waits []time.Duration
		var told []int
		c.policy.Now = func() time.Time { return now }
		c.policy.Jitter = func() float64 { return 1 }
		c.policy.Sleep = func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}
		c.policy.Notify = func(e RetryEvent) { told = append(told, e.Attempt) }
		ctx := t.Context()
		if c.deadline > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, now.Add(c.deadline))
			defer cancel()
		}
		_, err := Retry(&script{failures: c.failures}, c.policy).Generate(ctx, Request{}, nil)
		if !slices.Equal(waits, c.want) || (err == nil) != c.ok || len(told) != len(waits) {
			t.Errorf("%s: waits %v, error %v, %d notices; want %v", c.name, waits, err, len(told), c.want)
		}
	}
}

func TestRetry_neverAfterTextWasSeen(t *testing.T) {
	t.Parallel()
	s := &script{failures: []*Error{{Class: ClassNetwork}}, say: "half"}
	_, err := Retry(s, RetryPolicy{}).Generate(t.Context(), Request{}, func(string) {})
	if e, ok := AsError(err); !ok || !e.Partial || s.calls != 1 {
		t.Errorf("got %v after %d calls, want a partial failure after one", err, s.calls)
	}
}

func TestRetry_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &script{failures: []*Error{{Class: ClassOverloaded}}}
		policy := RetryPolicy{Notify: func(RetryEvent) { time.AfterFunc(time.Millisecond, cancel) }}
		if _, err := Retry(s, policy).Generate(ctx, Request{}, nil); !errors.Is(err, context.Canceled) || s.calls != 1 {
			t.Errorf("got %v after %d calls, want context.Canceled after one", err, s.calls)
		}
	})
}
