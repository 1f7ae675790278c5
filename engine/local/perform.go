package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/drain"
)

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
	if j.kind() != engine.KindImport {
		runCtx = drain.With(runCtx, x.Drain.begun)
	}
	a := &attempt{x: x, j: j, ctx: runCtx, quit: cancel}
	defer a.watchDrain()()
	if err := a.begin(); err != nil {
		x.abandon(j, err)
		return
	}
	outcome := (&flow{attempt: a}).body()
	a.close()
	switch {
	case a.halted != nil:
		x.abandon(j, a.halted)
	case a.fatal != nil:
		x.finish(ctx, j, engine.Outcome{Status: engine.Failed, Reason: a.fatal.Message, Failure: a.fatal})
	case !outcome.Status.Finished() && len(a.parked) > 0:
		x.park(a)
	case !outcome.Status.Finished():
		x.abandon(j, engine.ErrStopped)
	default:
		x.finish(ctx, j, outcome)
	}
	x.wakeParent(ctx, j)
}

// abandon leaves a run unfinished. The next executor resumes it; after a transient error this one does.
func (x *Executor) abandon(j *job, err error) {
	if errors.Is(err, errOutgrown) && !x.store.dead.Load() {
		x.store.requeue(x.queue, j, err)
		return
	}
	if failure.IsTransient(err) && !x.store.dead.Load() {
		x.postpone(j, err)
		return
	}
	if !errors.Is(err, engine.ErrStopped) {
		x.cfg.Logger.Error("run interrupted; it will be resumed at the next start", "run", j.id, "err", err)
	}
	x.queue.leave(j, interrupted{j.id, err})
}

// interrupted is the error of a run that will be resumed. It interrupts the run that waits for it too.
type interrupted struct {
	run   string
	cause error
}

func (i interrupted) Error() string {
	return fmt.Sprintf("run %s was interrupted and will be resumed: %v", i.run, i.cause)
}

// Unwrap returns the cause and engine.ErrStopped.
func (i interrupted) Unwrap() []error { return []error{i.cause, engine.ErrStopped} }

// finish stores and publishes how a run ended, also when ctx has ended.
func (x *Executor) finish(ctx context.Context, j *job, o engine.Outcome) {
	x.cancelNested(ctx, j.id) // before the end is stored, so that it is repeated after a crash between the two
	now := x.cfg.Now()
	e, err := x.store.update(ctx, j, nil, func(e *engine.Entry) {
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
	x.store.tell(ctx, j, engine.Event{Kind: engine.EventRun, Status: o.Status, Message: o.Reason, Failure: o.Failure})
	x.cfg.Logger.Info("run finished", "run", j.id, "workflow", e.Run.Workflow, "status", o.Status, "reason", o.Reason, "duration", now.Sub(e.Run.Created))
	x.queue.leave(j, nil)
}

// closeStep ends a step that was running when its run ended, and returns the batches that were running too.
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

// closeImport ends an import whose body could not report its end.
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

// park stores that a run waits for approval and removes it from the queue. If somebody decided meanwhile, it waits for its
// lane again.
func (x *Executor) park(a *attempt) {
	j, first := a.j, a.parked[0]
	reason := first.reason
	if n := len(a.parked); n > 1 {
		reason = fmt.Sprintf("%s, and %d more", reason, n-1)
	}
	e, err := x.store.update(a.ctx, j, nil, func(e *engine.Entry) {
		e.Run.Status, e.Run.Reason, e.Run.Activity, e.Run.Awaits = engine.AwaitingApproval, reason, "", first.awaits
		for _, w := range a.parked {
			e.Changed = append(e.Changed, await(&e.Run, w)...)
		}
	})
	if err != nil {
		x.abandon(j, err)
		return
	}
	j.recalled = true
	a.tell(engine.Event{Kind: engine.EventRun, Status: engine.AwaitingApproval, Message: reason})
	x.cfg.Logger.Info("run waits for approval", "run", j.id, "workflow", e.Run.Workflow, "reason", reason)
	x.queue.shelve(j, parkedRun(e.Run))
}

// await marks the step, and the batch, that wait.
func await(r *engine.RunRecord, w waiting) []engine.BatchRef {
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Index != w.step {
			continue
		}
		s.Status, s.Reason = engine.AwaitingApproval, w.reason
		at := slices.IndexFunc(s.Batches, func(b engine.BatchRecord) bool { return b.Batch == w.batch })
		if at >= 0 {
			s.Batches[at].Status, s.Batches[at].Reason = engine.AwaitingApproval, w.reason
			return []engine.BatchRef{{Step: w.step, Batch: w.batch}}
		}
	}
	return nil
}

// parkedRun is the error of a wait for a parked run.
func parkedRun(r engine.RunRecord) error {
	return engine.Park(r.ID, "run %s of %s %s", r.ID, r.Workflow, r.Reason)
}

// requeue makes an import wait for another one. It continues after the pages that it has.
func (s *store) requeue(q *queue, j *job, why error) {
	if _, err := s.update(context.Background(), j, nil, func(e *engine.Entry) { //nolint:contextcheck // stored although the run's context has ended
		e.Run.Status, e.Run.Activity, e.Run.Reason = engine.Queued, "", why.Error()
		e.Import.State, e.Import.Reason, e.Import.SecondsLeft = engine.ImportQueued, why.Error(), 0
	}); err != nil {
		s.log.Debug("reason not stored", "run", j.id, "err", err)
	}
	q.again(j)
}

// postpone makes a run that hit a transient error wait. It keeps its place before the others of its lane and continues
// after its last recorded outcome, as after a restart.
func (x *Executor) postpone(j *job, err error) {
	wait := x.queue.nextDelay(j)
	x.cfg.Logger.Warn("run postponed; it continues by itself", "run", j.id, "duration", wait, "err", err)
	if _, stored := x.store.update(context.Background(), j, nil, func(e *engine.Entry) { //nolint:contextcheck // stored although the run's context has ended
		e.Run.Reason, e.Run.Activity = fmt.Sprintf("waits, and continues by itself: %v", err), ""
	}); stored != nil {
		x.cfg.Logger.Debug("reason not stored", "run", j.id, "err", stored)
	}
	x.queue.postpone(j, wait, err)
}
