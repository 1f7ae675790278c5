package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// store does something with the journal, unless this executor counts as dead.
func (x *Executor) store(fn func() error) error {
	if x.dead.Load() {
		return engine.ErrStopped
	}
	return fn()
}

// update edits a run's views and stores them, also when ctx has ended; with a record, in one transaction with it.
func (x *Executor) update(ctx context.Context, j *job, rec *engine.Record, edit func(*engine.Entry)) (engine.Entry, error) {
	j.saving.Lock()
	defer j.saving.Unlock()
	e := j.toStore(edit)
	ctx = context.WithoutCancel(ctx)
	return e, x.store(func() error {
		if rec != nil {
			return x.cfg.Journal.Append(ctx, *rec, e)
		}
		return x.cfg.Journal.Save(ctx, e)
	})
}

// perform runs a job's body from its recorded outcomes on.
func (x *Executor) perform(ctx context.Context, j *job) {
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if j.attach(cancel) {
		cancel(errCancelled)
	}
	if d := j.spec.Timeout; d > 0 {
		var stop context.CancelFunc
		runCtx, stop = context.WithTimeoutCause(runCtx, d, errTimeout)
		defer stop()
	}
	l := &life{x: x, j: j, ctx: runCtx, quit: cancel}
	if err := x.begin(l); err != nil {
		x.abandon(j, err)
		return
	}
	outcome := x.body(&flow{life: l})
	l.close()
	switch {
	case l.halted != nil:
		x.abandon(j, l.halted)
	case l.fatal != nil:
		x.finish(ctx, j, engine.Outcome{Status: engine.Failed, Reason: l.fatal.Message, Failure: l.fatal})
	case !outcome.Status.Finished() && len(l.parked) > 0:
		x.park(l)
	case !outcome.Status.Finished():
		x.abandon(j, engine.ErrStopped)
	default:
		x.finish(ctx, j, outcome)
	}
	x.wakeParent(ctx, j)
}

// begin loads what was recorded and says that the run is at work.
func (x *Executor) begin(l *life) error {
	ctx := context.WithoutCancel(l.ctx)
	entry, records, err := x.cfg.Journal.Load(ctx, l.j.id)
	if err != nil {
		return err
	}
	if x.wasPutOff(l.j) {
		l.j.reload(entry)
	}
	l.records = map[int][]engine.Record{}
	for _, rec := range records {
		l.records[rec.Branch] = append(l.records[rec.Branch], rec)
	}
	resumed := false
	_, err = x.update(ctx, l.j, nil, func(e *engine.Entry) {
		resumed = !e.Run.Started.IsZero()
		e.Run.Status, e.Run.Reason, e.Run.Awaits = engine.Running, "", ""
		switch {
		case !resumed:
			e.Run.Started = x.cfg.Now()
		case !l.j.recalled:
			e.Run.Resumed++
		}
	})
	if err != nil {
		return err
	}
	began := engine.Event{Kind: engine.EventRun, Status: engine.Running}
	if resumed && !l.j.recalled {
		began.Message = fmt.Sprintf("resumed after %d recorded activities", len(records))
	}
	l.tell(began)
	return nil
}

func (x *Executor) body(f *flow) engine.Outcome {
	if f.j.spec.Import != nil {
		return engine.RunImport(f, *f.j.spec.Import)
	}
	if f.j.spec.Undo != nil {
		return engine.RunUndo(f, *f.j.spec.Undo)
	}
	return engine.RunWorkflow(f, *f.j.spec.Pinned)
}

// abandon leaves a run unfinished: it will be resumed when an executor comes up again, or by this one when the cause
// passes.
func (x *Executor) abandon(j *job, err error) {
	if failure.IsTransient(err) && !x.dead.Load() {
		x.putOff(j, err)
		return
	}
	if !errors.Is(err, engine.ErrStopped) {
		x.cfg.Logger.Error("run interrupted; it will be resumed at the next start", "run", j.id, "err", err)
	}
	x.leave(j, interrupted{j.id, err})
}

// interrupted says that a run will be resumed. To a run that waits for it this is its own interruption.
type interrupted struct {
	run   string
	cause error
}

func (i interrupted) Error() string {
	return fmt.Sprintf("run %s was interrupted and will be resumed: %v", i.run, i.cause)
}

// Unwrap gives the cause, and engine.ErrStopped.
func (i interrupted) Unwrap() []error { return []error{i.cause, engine.ErrStopped} }

// finish stores how a run ended and tells people, also when ctx has ended.
func (x *Executor) finish(ctx context.Context, j *job, o engine.Outcome) {
	x.cancelNested(ctx, j.id) // before the end is stored: after a crash between the two it is done again
	now := x.cfg.Now()
	e, err := x.update(ctx, j, nil, func(e *engine.Entry) {
		r := &e.Run
		r.Status, r.Reason, r.Failure, r.Activity, r.Finished = o.Status, o.Reason, o.Failure, "", now
		for i := range r.Steps {
			e.Changed = append(e.Changed, closeStep(&r.Steps[i], o, now)...)
		}
		if e.Import != nil {
			closeImport(e.Import, o, now)
			r.Warnings = e.Import.Warnings
			r.Outputs = importOutputs(*e.Import)
		}
	})
	if err != nil {
		x.abandon(j, err)
		return
	}
	l := &life{x: x, j: j, ctx: ctx}
	l.tell(engine.Event{Kind: engine.EventRun, Status: o.Status, Message: o.Reason, Failure: o.Failure})
	x.cfg.Logger.Info("run finished", "run", j.id, "workflow", e.Run.Workflow, "status", o.Status, "reason", o.Reason, "duration", now.Sub(e.Run.Created))
	x.leave(j, nil)
}

// closeStep ends a step that was at work when its run ended, and gives the batches that were at work too.
func closeStep(s *engine.StepRecord, o engine.Outcome, now time.Time) (closed []engine.BatchRef) {
	if s.Status.Finished() {
		return nil
	}
	s.Status, s.Reason, s.Failure, s.Finished = o.Status, o.Reason, o.Failure, now
	for i := range s.Batches {
		if b := &s.Batches[i]; !b.Status.Finished() {
			b.Status, b.Reason, b.Finished = o.Status, o.Reason, now
			closed = append(closed, engine.BatchRef{Step: s.Index, Batch: b.Batch})
		}
	}
	return closed
}

// closeImport ends an import whose body did not get to say how it ended.
func closeImport(r *engine.ImportRecord, o engine.Outcome, now time.Time) {
	if r.State.Finished() {
		return
	}
	r.State, r.Reason, r.Finished = engine.ImportFailed, o.Reason, now
	if o.Status == engine.Cancelled {
		r.State = engine.ImportCancelled
	}
	if o.Failure != nil {
		r.Error, r.Hint, r.Code = o.Failure.Message, o.Failure.Hint, o.Failure.Code
	}
}

func importOutputs(r engine.ImportRecord) []engine.Output {
	if r.Note == "" {
		return nil
	}
	return []engine.Output{{Kind: "file", Name: r.Note}}
}
