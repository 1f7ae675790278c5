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

// Causes of a context that ended while the executor keeps running.
var (
	errCancelled   = errors.New("the run was cancelled")
	errTimeout     = errors.New("the run timed out")
	errStepTimeout = errors.New("the step timed out")
	errOutgrown    = errors.New("waits until another long document has been imported")
)

// attempt is one attempt at a run: from its start or resumption to its end, or to the end of this process. The body and
// its branches share it.
type attempt struct {
	x        *Executor
	j        *job
	ctx      context.Context         // of the run; the attempt's whole life is one run
	quit     context.CancelCauseFunc // ends ctx
	records  map[int][]engine.Record // recorded before, by branch
	branches sync.WaitGroup

	mu     sync.Mutex // guards what follows
	forked int        // branches that were begun
	steps  map[int]stepTime
	atWork []string       // activities
	fatal  *failure.Error // the run cannot continue, and resuming would not help
	halted error          // the journal failed: the run stays as it is
	parked []waiting      // what must be decided first
}

// stepTime is the time that a step has in this process.
type stepTime struct {
	ctx    context.Context // a step's; stepTime's whole life is one run
	cancel context.CancelFunc
}

// close ends what the attempt has begun, once its body has returned.
func (a *attempt) close() {
	a.branches.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.steps {
		s.cancel()
	}
}

func (a *attempt) fork() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forked++
	return a.forked
}

// within returns the context of a step. The clock of @timeout starts with the first activity that the body asks for in
// this process, recalled or not.
func (a *attempt) within(step int) context.Context {
	limit := a.stepLimit(step)
	if limit <= 0 {
		return a.ctx
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, begun := a.steps[step]; begun {
		return s.ctx
	}
	ctx, cancel := context.WithTimeoutCause(a.ctx, limit, fmt.Errorf("%w (%v)", errStepTimeout, limit))
	if a.steps == nil {
		a.steps = map[int]stepTime{}
	}
	a.steps[step] = stepTime{ctx, cancel}
	return ctx
}

// stepLimit returns how long a step may take; zero means no limit.
func (a *attempt) stepLimit(step int) time.Duration {
	if p := a.j.spec.Pinned; p != nil && step >= 0 && step < len(p.Steps) {
		return p.Steps[step].Timeout
	}
	return 0
}

// cause is the failure of a run or step that was cancelled or timed out.
type cause struct{ failure *failure.Error }

func (c cause) Error() string { return c.failure.Message }

// Unwrap returns the failure, and engine.ErrOver: nothing more may begin.
func (c cause) Unwrap() []error { return []error{c.failure, engine.ErrOver} }

// ended returns why a context of the run ended: nil if it did not, a failure if the user or the clock ended the run or the
// step, ErrStopped if the executor stops.
func (a *attempt) ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	why := context.Cause(ctx)
	switch {
	case errors.Is(why, errCancelled):
		return cause{failure.New(failure.Cancelled, "", "cancelled")}
	case errors.Is(why, errTimeout):
		return cause{failure.New(failure.Timeout, "raise timeout: in the workflow, or engine.run_timeout in the settings",
			"%v (%v)", errTimeout, a.j.spec.Timeout)}
	case errors.Is(why, errStepTimeout):
		return cause{failure.New(failure.Timeout, "raise @timeout, or ask for less in one step", "%v", why)}
	}
	return engine.ErrStopped
}

// broken reports whether the run cannot continue.
func (a *attempt) broken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fatal != nil || a.halted != nil
}

// fail ends the run at once: no further activity is begun, not even to clean up.
func (a *attempt) fail(code failure.Code, hint, format string, args ...any) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fatal == nil {
		a.fatal = failure.New(code, hint, format, args...)
	}
	a.quit(engine.ErrStopped)
	return engine.ErrStopped
}

// halt leaves the run as the journal has it, because the journal failed.
func (a *attempt) halt(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.halted == nil {
		a.halted = err
	}
	a.quit(engine.ErrStopped)
	return engine.ErrStopped
}

// working counts an activity that starts (1) or has ended (-1).
func (a *attempt) working(activity string, change int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if change > 0 {
		a.atWork = append(a.atWork, activity)
		return
	}
	i := slices.Index(a.atWork, activity)
	a.atWork = slices.Delete(a.atWork, i, i+1)
}

// showActivity puts the activity that started last into the run's view.
func (a *attempt) showActivity(e *engine.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Run.Activity = ""
	if n := len(a.atWork); n > 0 {
		e.Run.Activity = a.atWork[n-1]
	}
}

func (a *attempt) step(index int) string {
	if p := a.j.spec.Pinned; p != nil && index >= 0 && index < len(p.Steps) {
		return p.Steps[index].Name
	}
	return ""
}

// publish sends an event to those who listen now.
func (a *attempt) publish(e engine.Event) { a.x.store.bus.publish(a.x.store.complete(a.j, e)) }

// tell stores an event and publishes it.
func (a *attempt) tell(e engine.Event) { a.x.store.tell(a.ctx, a.j, e) }

// waiting is an activity that waits for a decision.
type waiting struct {
	step, batch    int
	awaits, reason string // as in engine.Park
}

// parks remembers why the run has to be parked. Other branches run to their end first.
func (a *attempt) parks(w waiting) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parked = append(a.parked, w)
	return engine.ErrParked
}

// begin loads the records and stores that the run is running.
func (a *attempt) begin() error {
	ctx := context.WithoutCancel(a.ctx)
	entry, records, err := a.x.cfg.Journal.Load(ctx, a.j.id)
	if err != nil {
		return err
	}
	if a.x.queue.wasPostponed(a.j) {
		a.j.reload(entry)
	}
	a.records = map[int][]engine.Record{}
	for _, rec := range records {
		a.records[rec.Branch] = append(a.records[rec.Branch], rec)
	}
	resumed := false
	_, err = a.x.store.update(ctx, a.j, nil, func(e *engine.Entry) {
		resumed = !e.Run.Started.IsZero()
		e.Run.Status, e.Run.Reason, e.Run.Awaits = engine.Running, "", ""
		switch {
		case !resumed:
			e.Run.Started = a.x.cfg.Now()
		case !a.j.recalled:
			e.Run.Resumed++
		}
	})
	if err != nil {
		return err
	}
	began := engine.Event{Kind: engine.EventRun, Status: engine.Running}
	if resumed && !a.j.recalled {
		began.Message = fmt.Sprintf("resumed after %d recorded activities", len(records))
	}
	a.tell(began)
	return nil
}
