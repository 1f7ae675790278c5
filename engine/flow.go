package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Flow is a body's only door to the world. One body uses one Flow, from one goroutine.
type Flow interface {
	// Do carries out an activity, or recalls the outcome that was recorded when it was carried out before. in and out are
	// structs of small JSON; out is a pointer and may be nil. The error is nil or holds a *Failure. After an error of
	// which [Stopped] is true the body must return at once and its outcome does not count.
	Do(activity string, in, out any) error
	// Note tells people what goes on. It never fails and changes nothing for the body.
	Note(Event)
}

// ErrStopped is what Do returns when the executor goes down. The run goes on when it comes up again.
var ErrStopped = errors.New("the executor stopped")

// Stopped says whether an error of Do means that the body must return at once.
func Stopped(err error) bool { return errors.Is(err, ErrStopped) }

// Activity carries out one named activity: JSON in, JSON out. It must be idempotent, because a process may die after
// the activity ended and before its outcome was recorded. It may call [Report] for progress. A context that ended
// means: write nothing more, and return.
type Activity func(ctx context.Context, in json.RawMessage) (out json.RawMessage, err error)

// Activities are found by name; see the Activity constants.
type Activities map[string]Activity

// Handle makes an Activity of a function over the activity's own input and output structs.
func Handle[In, Out any](fn func(context.Context, In) (Out, error)) Activity {
	return func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("read the activity's input: %w", err)
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

type reporterKey struct{}

// WithReporter gives a context to which [Report] sends. Executors call it.
func WithReporter(ctx context.Context, report func(Event)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Report tells people about an activity's progress: pages, pieces of an answer, a warning. The executor fills in time,
// run, subject and step. It does nothing when the context has no listener, and is safe for concurrent use.
func Report(ctx context.Context, e Event) {
	if report, ok := ctx.Value(reporterKey{}).(func(Event)); ok {
		report(e)
	}
}
