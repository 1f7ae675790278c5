package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Causes of a context that ended while the executor goes on.
var (
	errCancelled   = errors.New("the run was cancelled")
	errTimeout     = errors.New("the run took longer than it may")
	errStepTimeout = errors.New("the step took longer than it may")
)

// life is one stretch of work at a run: from taking it up to its end, or to the end of this process. The body and its
// branches share it.
type life struct {
	x        *Executor
	j        *job
	ctx      context.Context         // of the run; life's whole life is one run
	quit     context.CancelCauseFunc // ends ctx
	records  map[int][]engine.Record // recorded before, by branch
	branches sync.WaitGroup

	mu     sync.Mutex // guards what follows
	forked int        // branches that were begun
	steps  map[int]stepTime
	atWork []string       // activities
	fatal  *failure.Error // the run cannot go on, and resuming would not help
	halted error          // the journal failed: the run stays as it is
	parked []waiting      // what people have to decide first
}

// stepTime is the time that a step has in this process.
type stepTime struct {
	ctx    context.Context // a step's; stepTime's whole life is one run
	cancel context.CancelFunc
}

// close ends what the life has begun, when its body has returned.
func (l *life) close() {
	l.branches.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		s.cancel()
	}
}

func (l *life) fork() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forked++
	return l.forked
}

// within gives the context of a step. The clock of @timeout begins with the first activity that the body asks for in
// this process, recalled or not.
func (l *life) within(step int) context.Context {
	limit := l.stepLimit(step)
	if limit <= 0 {
		return l.ctx
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, begun := l.steps[step]; begun {
		return s.ctx
	}
	ctx, cancel := context.WithTimeoutCause(l.ctx, limit, fmt.Errorf("%w (%v)", errStepTimeout, limit))
	if l.steps == nil {
		l.steps = map[int]stepTime{}
	}
	l.steps[step] = stepTime{ctx, cancel}
	return ctx
}

// stepLimit is the time that a step may take; zero means no limit.
func (l *life) stepLimit(step int) time.Duration {
	if p := l.j.spec.Pinned; p != nil && step >= 0 && step < len(p.Steps) {
		return p.Steps[step].Timeout
	}
	return 0
}

// over is the failure of a run or step that a person or the clock has ended.
type over struct{ failure *failure.Error }

func (o over) Error() string { return o.failure.Message }

// Unwrap gives the failure, and the word that nothing more is to be begun.
func (o over) Unwrap() []error { return []error{o.failure, engine.ErrOver} }

// ended says why a context of the run ended: nil when it did not, a failure when a person or the clock ended the run or
// the step, ErrStopped when the executor goes down.
func (l *life) ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errCancelled):
		return over{failure.New(failure.Cancelled, "", "cancelled")}
	case errors.Is(cause, errTimeout):
		return over{failure.New(failure.Timeout, "raise timeout: in the workflow, or engine.run_timeout in the settings",
			"%v (%v)", errTimeout, l.j.spec.Timeout)}
	case errors.Is(cause, errStepTimeout):
		return over{failure.New(failure.Timeout, "raise @timeout, or ask for less in one step", "%v", cause)}
	}
	return engine.ErrStopped
}

// broken says whether the run cannot go on.
func (l *life) broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal != nil || l.halted != nil
}

// fail ends the run at once: no further activity is begun, not even to clean up.
func (l *life) fail(code failure.Code, hint, format string, args ...any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = failure.New(code, hint, format, args...)
	}
	l.quit(engine.ErrStopped)
	return engine.ErrStopped
}

// halt leaves the run as the journal has it, because the journal failed.
func (l *life) halt(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.halted == nil {
		l.halted = err
	}
	l.quit(engine.ErrStopped)
	return engine.ErrStopped
}

// working counts an activity that begins (1) or ended (-1).
func (l *life) working(activity string, change int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if change > 0 {
		l.atWork = append(l.atWork, activity)
		return
	}
	i := slices.Index(l.atWork, activity)
	l.atWork = slices.Delete(l.atWork, i, i+1)
}

// showActivity puts the activity that was begun last into the run's view.
func (l *life) showActivity(e *engine.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Run.Activity = ""
	if n := len(l.atWork); n > 0 {
		e.Run.Activity = l.atWork[n-1]
	}
}

func (l *life) step(index int) string {
	if p := l.j.spec.Pinned; p != nil && index >= 0 && index < len(p.Steps) {
		return p.Steps[index].Name
	}
	return ""
}

// complete fills in what an event's sender does not know.
func (l *life) complete(e engine.Event) engine.Event {
	e.Time, e.Run = l.x.cfg.Now(), l.j.id
	if p := l.j.spec.Pinned; p != nil {
		e.Subject = p.Workflow
	} else if p := l.j.spec.Import; p != nil {
		e.Subject = p.Source
	}
	return e
}

// publish tells those who listen now.
func (l *life) publish(e engine.Event) { l.x.bus.publish(l.complete(e)) }

// tell stores an event and publishes it. A journal that cannot store it does not stop the run: the next append will.
func (l *life) tell(e engine.Event) {
	e = l.complete(e)
	stored := e
	if err := l.x.store(func() (err error) {
		stored, err = l.x.cfg.Journal.Note(context.WithoutCancel(l.ctx), e, 0)
		return err
	}); err != nil {
		l.x.cfg.Logger.Warn("event not stored", "run", l.j.id, "err", err)
	}
	l.x.bus.publish(stored)
}
