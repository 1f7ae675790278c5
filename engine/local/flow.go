package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/drain"
)

// flow is the engine.Flow of a run's body, or of one of its branches. Do and Note belong to one goroutine at a time.
type flow struct {
	*attempt
	branch int
	next   int // the next activity's place
	notes  int // events that the branch has said
}

// notesPerBranch bounds the events that one branch says, so that each event of a run has a number of its own.
const notesPerBranch = 1 << 20

// Do recalls the outcome of an activity, or carries it out and stores the outcome.
func (f *flow) Do(name string, in, out any) error {
	if f.broken() {
		return engine.ErrStopped
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return f.fail(failure.Internal, "", "the input of activity %q is no JSON: %v", name, err)
	}
	place := placeOf(raw)
	ctx := f.within(place.step())
	sum := sha256.Sum256(raw)
	rec := engine.Record{
		Branch: f.branch, Seq: f.next, Step: place.step(), Activity: name, InDigest: hex.EncodeToString(sum[:]), In: raw,
	}
	f.next++
	if held := f.records[f.branch]; rec.Seq < len(held) {
		return f.recall(held[rec.Seq], rec, out)
	}
	if err := f.over(ctx); err != nil {
		return err
	}
	if err := f.carryOut(&activity{ctx: ctx, rec: &rec, batch: place.Batch}); err != nil {
		return err
	}
	return f.result(rec, out)
}

// Fork starts a branch of the body; see engine.Flow.
func (f *flow) Fork(work func(engine.Flow)) (wait func() engine.Flow) {
	b := &flow{attempt: f.attempt, branch: f.fork()}
	done := make(chan struct{})
	f.branches.Go(func() {
		defer close(done)
		work(b)
	})
	return func() engine.Flow {
		<-done
		return b
	}
}

// place is where in a run an activity belongs, as its input says.
type place struct {
	Index *int `json:"index"`
	Batch int  `json:"batch"`
}

func placeOf(raw json.RawMessage) place {
	var p place
	_ = json.Unmarshal(raw, &p) // an import has neither
	return p
}

// step is the index of the step; -1 for imports.
func (p place) step() int {
	if p.Index == nil {
		return -1
	}
	return *p.Index
}

// recall returns a recorded outcome if it belongs to what the body asks for now.
func (f *flow) recall(held, asked engine.Record, out any) error {
	if held.Activity != asked.Activity || held.InDigest != asked.InDigest && held.InDigest != "" {
		return f.fail(failure.Diverged, "start the workflow again; this run keeps what it has done",
			"run %s cannot be resumed: its record %s is %s (input %.8s), but this version of vaultflow asks for %s (input %.8s)",
			f.j.id, recordName(asked), held.Activity, held.InDigest, asked.Activity, asked.InDigest)
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
		return f.fail(failure.Internal, "", "the outcome of activity %q cannot be read: %v", rec.Activity, err)
	}
	return nil
}

func recordName(r engine.Record) string {
	if r.Branch == 0 {
		return fmt.Sprint(r.Seq)
	}
	return fmt.Sprintf("%d of branch %d", r.Seq, r.Branch)
}

// activity is what is carried out now.
type activity struct {
	ctx   context.Context // of the step; kept for this one activity
	rec   *engine.Record
	batch int
}

// carryOut performs an activity and stores its outcome, even when the context ended meanwhile: an answer that was paid for
// is not bought again.
func (f *flow) carryOut(d *activity) error {
	handler, ok := f.x.cfg.Activities[d.rec.Activity]
	if !ok {
		return f.fail(failure.UnknownActivity, "", "this version of vaultflow has no activity %q", d.rec.Activity)
	}
	f.working(d.rec.Activity, 1)
	if _, err := f.x.store.update(d.ctx, f.j, nil, f.showActivity); err != nil {
		return f.halt(err)
	}
	f.publish(f.about(d, engine.Event{Kind: engine.EventActivity, Status: engine.Running}))
	d.rec.Started = f.x.cfg.Now()
	err := f.repeat(handler, d)
	f.working(d.rec.Activity, -1)
	if err != nil {
		return err
	}
	d.rec.Finished = f.x.cfg.Now()
	if _, err := f.x.store.update(d.ctx, f.j, d.rec, f.showActivity); err != nil {
		return f.halt(err)
	}
	done := engine.Event{Kind: engine.EventActivity, Status: engine.Done, Failure: d.rec.Failure}
	if d.rec.Failure != nil {
		done.Status = engine.Failed
	}
	f.publish(f.about(d, done))
	return nil
}

// about fills in which activity an event is about.
func (f *flow) about(d *activity, e engine.Event) engine.Event {
	e.Name, e.Step, e.Batch = d.rec.Activity, f.step(d.rec.Step), d.batch
	return e
}

// repeat performs an activity until it succeeds, or fails for good, or the context ends.
func (f *flow) repeat(handler engine.Activity, d *activity) error {
	backoff := f.x.cfg.Backoff(d.rec.Activity)
	for d.rec.Attempts = 1; ; d.rec.Attempts++ {
		out, err := f.call(handler, d)
		if err == nil {
			d.rec.Out = out
			return nil
		}
		if ended := f.ended(d.ctx); ended != nil {
			return ended
		}
		if awaits, reason, is := engine.Parked(err); is {
			return f.parks(waiting{d.rec.Step, d.batch, awaits, reason})
		}
		if f.x.Drain.is() && (engine.Stopped(err) || errors.Is(err, drain.Err)) {
			return f.drained()
		}
		if engine.Stopped(err) { // a run that it waited for was interrupted: both resume later
			return f.halt(err)
		}
		cause := failure.Of(err)
		if cause.Transient && f.j.kind() != engine.KindImport { // an import that fails stays in its folder and arrives again
			return f.halt(cause)
		}
		if cause.Code == failure.Cancelled && errors.Is(err, context.Canceled) { // of a context that is not the run's: nobody cancelled the run
			cause.Code = failure.Internal
		}
		if !cause.Retryable || cause.Exhausted || d.rec.Attempts >= backoff.Attempts {
			d.rec.Failure = cause
			return nil
		}
		wait := backoff.wait(d.rec.Attempts, cause.RetryAfter)
		f.tell(f.about(d, engine.Event{
			Kind: engine.EventRetry, Failure: cause,
			Message: fmt.Sprintf("%s; attempt %d of %d in %v", cause.Message, d.rec.Attempts+1, backoff.Attempts, wait),
		}))
		if !pause(d.ctx, wait) {
			return f.over(d.ctx)
		}
	}
}

// Note stores and publishes an event of the body once, however often the body repeats it, and updates the views.
func (f *flow) Note(e engine.Event) {
	if f.broken() {
		return
	}
	f.notes++
	e = f.x.store.complete(f.j, e)
	f.j.change(func(entry *engine.Entry) { fold(entry, e, e.Time) })
	stored, err := f.x.store.note(f.ctx, e, f.branch*notesPerBranch+f.notes)
	if err != nil {
		_ = f.halt(err) // the next activity says so
		return
	}
	if stored.Seq > 0 {
		f.x.store.bus.publish(stored)
	}
}

// body runs the body of the run.
func (f *flow) body() engine.Outcome {
	if f.j.spec.Import != nil {
		return engine.RunImport(f, *f.j.spec.Import)
	}
	if f.j.spec.Undo != nil {
		return engine.RunUndo(f, *f.j.spec.Undo)
	}
	return engine.RunWorkflow(f, *f.j.spec.Pinned)
}
