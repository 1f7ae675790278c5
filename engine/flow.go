package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Flow is a body's only door to the world. A Flow is used from one goroutine at a time.
type Flow interface {
	// Do carries out an activity, or recalls the outcome that was recorded when it was carried out before. in and out are
	// structs of small JSON; out is a pointer and may be nil. The error is nil or holds a *Failure. After an error of
	// which [Stopped] is true the body must return at once and its outcome does not count.
	Do(activity string, in, out any) error
	// Note records an event for the user. It never fails and has no effect on the body.
	Note(Event)
	// Fork begins a branch: work runs beside the body with a Flow of its own. The branches of a run are numbered in the
	// order in which the body begins them, and each has a sequence of records of its own, so that a resumed body finds
	// each branch's outcomes again, however branches took turns before. The body calls wait once, for every branch that it
	// began and before it returns; wait blocks until work has returned, and hands the branch's Flow over to the body, whose
	// activities then continue the branch's sequence. Until then the body must not look at what work writes. A branch
	// begins no branches.
	Fork(work func(Flow)) (wait func() Flow)
}

// ErrOver marks the failure that Do returns when the run was cancelled, or the run or its step timed out: no
// further activity of the step is begun, so there is no point in going on with its next batch. The failure itself is in
// the error too.
var ErrOver = errors.New("the step has ended")

// ErrStopped is what Do returns when the executor shuts down. The run resumes at the next start.
var ErrStopped = errors.New("the executor stopped")

// ErrParked is what Do returns when the activity waits for a decision. It is a case of ErrStopped: the body returns at once,
// its other branches run to their ends, and the executor parks the run until it is woken. See [Park].
var ErrParked = fmt.Errorf("waits for approval: %w", ErrStopped)

// Park is an activity's error when it waits for something that may take days: the run is parked and holds nothing. When it
// is woken, the activity is carried out from its beginning. awaits is the parked run that it waits for; empty when it
// waits for approval.
func Park(awaits, format string, args ...any) error {
	return parked{awaits, fmt.Sprintf(format, args...)}
}

type parked struct{ awaits, reason string }

func (p parked) Error() string { return p.reason }

func (parked) Unwrap() error { return ErrParked }

// Parked reports whether an error of Do, of an activity or of Wait means that a run waits for approval, with the reason, and
// the run that it waits for when that is what is parked.
func Parked(err error) (awaits, reason string, is bool) {
	if p, ok := errors.AsType[parked](err); ok {
		return p.awaits, p.reason, true
	}
	return "", "", errors.Is(err, ErrParked)
}

// Over reports whether an error of Do means that nothing more of the step is begun; see [ErrOver].
func Over(err error) bool { return errors.Is(err, ErrOver) }

// Stopped reports whether an error of Do means that the body must return at once.
func Stopped(err error) bool { return errors.Is(err, ErrStopped) }

// Activity carries out one named activity: JSON in, JSON out. It must be idempotent, because a process may die after
// the activity ended and before its outcome was recorded. It may call [Report] for progress. A context that ended
// means: write nothing more, and return. An error that is ErrStopped leaves the run to be resumed: what the activity waited
// for was interrupted. One that is [Park] leaves it until it is woken.
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

// WithReporter returns a context to which [Report] sends. Executors call it.
func WithReporter(ctx context.Context, report func(Event)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Report shows the user an activity's progress: pages, pieces of an answer, a warning. The executor fills in time,
// run, subject and step. It does nothing when the context has no listener, and is safe for concurrent use.
func Report(ctx context.Context, e Event) {
	if report, ok := ctx.Value(reporterKey{}).(func(Event)); ok {
		report(e)
	}
}
