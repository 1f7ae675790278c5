package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Causes of a run's context that ended while the executor goes on.
var (
	errCancelled = errors.New("the run was cancelled")
	errTimeout   = errors.New("the run took longer than it may")
)

// flow is the engine.Flow of one run. Do and Note belong to the body's goroutine.
type flow struct {
	x       *Executor
	j       *job
	ctx     context.Context // of the run; flow's whole life is one run
	records []engine.Record // recorded before
	next    int             // the next activity's place
	notes   int             // events that the body has said

	fatal  *engine.Failure // the run cannot go on, and resuming would not help
	halted error           // the journal failed: the run stays as it is
}

// Do recalls an activity's outcome, or carries it out and stores it.
func (f *flow) Do(activity string, in, out any) error {
	if f.fatal != nil || f.halted != nil {
		return engine.ErrStopped
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return f.fail(engine.CodeInternal, "", "the input of activity %q is no JSON: %v", activity, err)
	}
	sum := sha256.Sum256(raw)
	rec := engine.Record{Seq: f.next, Step: stepOf(raw), Activity: activity, InDigest: hex.EncodeToString(sum[:]), In: raw}
	f.next++
	if rec.Seq < len(f.records) {
		return f.recall(f.records[rec.Seq], rec, out)
	}
	if err := f.ended(); err != nil {
		return err
	}
	if err := f.carryOut(&rec); err != nil {
		return err
	}
	return f.result(rec, out)
}

// stepOf reads the index of the step from an activity's input; -1 for imports.
func stepOf(raw json.RawMessage) int {
	in := struct {
		Index *int `json:"index"`
	}{}
	if err := json.Unmarshal(raw, &in); err != nil || in.Index == nil {
		return -1
	}
	return *in.Index
}

// recall gives a recorded outcome, if it is the outcome of what the body asks for now.
func (f *flow) recall(held, asked engine.Record, out any) error {
	if held.Activity != asked.Activity || held.InDigest != asked.InDigest {
		return f.fail(engine.CodeDiverged, "start the workflow again; this run keeps what it has done",
			"run %s cannot be resumed: its record %d is %s (input %.8s), but this version of vaultflow asks for %s (input %.8s)",
			f.j.id, asked.Seq, held.Activity, held.InDigest, asked.Activity, asked.InDigest)
	}
	return f.result(held, out)
}

func (f *flow) result(rec engine.Record, out any) error {
	if rec.Failure != nil {
		return rec.Failure
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(rec.Out, out); err != nil {
		return f.fail(engine.CodeInternal, "", "the outcome of activity %q cannot be read: %v", rec.Activity, err)
	}
	return nil
}

// fail ends the run at once: no further activity is begun, not even to clean up.
func (f *flow) fail(code, hint, format string, args ...any) error {
	f.fatal = engine.Fail(code, hint, format, args...)
	return engine.ErrStopped
}

// halt leaves the run as the journal has it, because the journal failed.
func (f *flow) halt(err error) error {
	f.halted = err
	return engine.ErrStopped
}

// ended says why the run's context ended: nil when it did not, a failure when a person or the clock ended the run,
// ErrStopped when the executor goes down.
func (f *flow) ended() error {
	if f.ctx.Err() == nil {
		return nil
	}
	switch cause := context.Cause(f.ctx); {
	case errors.Is(cause, errCancelled):
		return engine.Fail(engine.CodeCancelled, "", "cancelled")
	case errors.Is(cause, errTimeout):
		return engine.Fail(engine.CodeTimeout, "raise timeout: in the workflow, or engine.run_timeout in the settings",
			"%v (%v)", errTimeout, f.j.spec.Timeout)
	}
	return engine.ErrStopped
}

// carryOut performs an activity and stores its outcome. What was achieved is stored even when the context ended
// meanwhile: an answer that was paid for is not bought again.
func (f *flow) carryOut(rec *engine.Record) error {
	handler, ok := f.x.cfg.Activities[rec.Activity]
	if !ok {
		return f.fail(engine.CodeUnknownActivity, "", "this version of vaultflow has no activity %q", rec.Activity)
	}
	if _, err := f.x.update(f.ctx, f.j, nil, func(e *engine.Entry) { e.Run.Activity = rec.Activity }); err != nil {
		return f.halt(err)
	}
	f.publish(engine.Event{Kind: engine.EventActivity, Name: rec.Activity, Step: f.step(rec.Step), Status: engine.Running})
	rec.Started = f.x.cfg.Now()
	if err := f.attempt(handler, rec); err != nil {
		return err
	}
	rec.Finished = f.x.cfg.Now()
	if _, err := f.x.update(f.ctx, f.j, rec, func(e *engine.Entry) { e.Run.Activity = "" }); err != nil {
		return f.halt(err)
	}
	done := engine.Event{Kind: engine.EventActivity, Name: rec.Activity, Step: f.step(rec.Step), Status: engine.Done, Failure: rec.Failure}
	if rec.Failure != nil {
		done.Status = engine.Failed
	}
	f.publish(done)
	return nil
}

// attempt performs an activity until it succeeds, or fails for good, or the context ends.
func (f *flow) attempt(handler engine.Activity, rec *engine.Record) error {
	policy := f.x.cfg.Retry(rec.Activity)
	for rec.Attempts = 1; ; rec.Attempts++ {
		out, err := f.call(handler, rec)
		if err == nil {
			rec.Out = out
			return nil
		}
		if ended := f.ended(); ended != nil {
			return ended
		}
		failure := engine.FailureOf(err)
		if failure.Code == engine.CodeCancelled { // of a context that is not the run's: nobody cancelled the run
			failure.Code = engine.CodeInternal
		}
		if !failure.Retryable || rec.Attempts >= policy.Attempts {
			rec.Failure = failure
			return nil
		}
		wait := policy.wait(rec.Attempts, engine.RetryAfter(err))
		f.tell(engine.Event{
			Kind: engine.EventRetry, Name: rec.Activity, Step: f.step(rec.Step), Failure: failure,
			Message: fmt.Sprintf("%s; attempt %d of %d in %v", failure.Message, rec.Attempts+1, policy.Attempts, wait),
		})
		if !pause(f.ctx, wait) {
			return f.ended()
		}
	}
}

func (f *flow) step(index int) string {
	if p := f.j.spec.Pinned; p != nil && index >= 0 && index < len(p.Steps) {
		return p.Steps[index].Name
	}
	return ""
}

// complete fills in what an event's sender does not know.
func (f *flow) complete(e engine.Event) engine.Event {
	e.Time, e.Run = f.x.cfg.Now(), f.j.id
	if p := f.j.spec.Pinned; p != nil {
		e.Subject = p.Workflow
	} else if p := f.j.spec.Import; p != nil {
		e.Subject = p.Source
	}
	return e
}

// publish tells those who listen now.
func (f *flow) publish(e engine.Event) { f.x.bus.publish(f.complete(e)) }

// tell stores an event and publishes it. A journal that cannot store it does not stop the run: the next append will.
func (f *flow) tell(e engine.Event) {
	e = f.complete(e)
	stored := e
	if err := f.x.store(func() (err error) {
		stored, err = f.x.cfg.Journal.Note(context.WithoutCancel(f.ctx), e, 0)
		return err
	}); err != nil {
		f.x.cfg.Logger.Warn("event not stored", "run", f.j.id, "err", err)
	}
	f.x.bus.publish(stored)
}

// Note stores and publishes what the body says, once however often the body says it, and brings the views up to date.
func (f *flow) Note(e engine.Event) {
	if f.fatal != nil || f.halted != nil {
		return
	}
	f.notes++
	e = f.complete(e)
	f.j.change(func(entry *engine.Entry) { fold(entry, e, e.Time) })
	stored := engine.Event{}
	err := f.x.store(func() (err error) {
		stored, err = f.x.cfg.Journal.Note(context.WithoutCancel(f.ctx), e, f.notes)
		return err
	})
	if err != nil {
		f.halted = err
		return
	}
	if stored.Seq > 0 {
		f.x.bus.publish(stored)
	}
}

// saveEvery is how often the pages of an import are brought to its stored record while an activity is at work.
const saveEvery = 500 * time.Millisecond
