package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

// A run that waits for a person is parked: it is in the journal with status awaiting_approval, and on no book of the
// executor. See engine.Park and engine.Executor.Wake.

// waiting is an activity that cannot go on before somebody decides.
type waiting struct {
	step, batch    int
	awaits, reason string // as in engine.Park
}

// parks remembers why the run is to be parked. Branches that are at work go on to their ends.
func (l *life) parks(w waiting) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked = append(l.parked, w)
	return engine.ErrParked
}

// park puts a run away, unless somebody decided meanwhile: then it waits for its lane again.
func (x *Executor) park(l *life) {
	j, first := l.j, l.parked[0]
	reason := first.reason
	if n := len(l.parked); n > 1 {
		reason = fmt.Sprintf("%s, and %d more", reason, n-1)
	}
	e, err := x.update(l.ctx, j, nil, func(e *engine.Entry) {
		e.Run.Status, e.Run.Reason, e.Run.Activity, e.Run.Awaits = engine.AwaitingApproval, reason, "", first.awaits
		for _, w := range l.parked {
			e.Changed = append(e.Changed, await(&e.Run, w)...)
		}
	})
	if err != nil {
		x.abandon(j, err)
		return
	}
	j.recalled = true
	l.tell(engine.Event{Kind: engine.EventRun, Status: engine.AwaitingApproval, Message: reason})
	x.cfg.Logger.Info("run waits for a person", "run", j.id, "workflow", e.Run.Workflow, "reason", reason)
	x.shelve(j, parkedRun(e.Run))
}

// await gives the step, and the batch, that wait their status.
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

// shelve takes a parked run off the books; one that was woken while it was at work waits for its lane again.
func (x *Executor) shelve(j *job, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if j.woken {
		x.vacate(j)
		x.queue = append(x.queue, j)
		return
	}
	x.forget(j, err)
}

// parkedRun is what somebody is told who waits for a run that is parked.
func parkedRun(r engine.RunRecord) error {
	return engine.Park(r.ID, "run %s of %s %s", r.ID, r.Workflow, r.Reason)
}

// Wake takes up a run that is parked; see engine.Executor.
func (x *Executor) Wake(ctx context.Context, run string) error {
	x.waking.Lock()
	defer x.waking.Unlock()
	if x.note(run) {
		return nil
	}
	e, _, err := x.cfg.Journal.Load(ctx, run)
	if err != nil || e.Run.Status != engine.AwaitingApproval {
		return err
	}
	j, err := newJob(e)
	if err != nil {
		return fmt.Errorf("wake run %s: %w", run, err)
	}
	j.recalled = true
	x.book(j) // first: nobody finds it queued and not here
	if _, err := x.update(ctx, j, nil, func(e *engine.Entry) { e.Run.Status, e.Run.Reason, e.Run.Awaits = engine.Queued, "", "" }); err != nil {
		err = fmt.Errorf("wake run %s: %w", run, err)
		x.leave(j, err)
		return err
	}
	x.enqueue(j)
	return nil
}

func (x *Executor) book(j *job) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.jobs[j.id] = j
}

// note tells a run on the books that it was woken, and says whether it is there.
func (x *Executor) note(run string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	j := x.jobs[run]
	if j != nil {
		j.woken = true
	}
	return j != nil
}

// wakeParent takes up the run that waits for one that has ended.
func (x *Executor) wakeParent(ctx context.Context, j *job) {
	parent := j.parent()
	if parent == "" || !j.snapshot().Run.Status.Finished() {
		return
	}
	if err := x.store(func() error { return x.Wake(context.WithoutCancel(ctx), parent) }); err != nil && !errors.Is(err, engine.ErrNotFound) {
		x.cfg.Logger.Warn("the run that waits for another one was not woken; the next start does it", "run", parent, "err", err)
	}
}

// awaitsEnded says whether a parked run waits for another run that is not among the unfinished ones any more.
func awaitsEnded(e engine.Entry, unfinished []engine.Entry) bool {
	return e.Run.Awaits != "" && !slices.ContainsFunc(unfinished, func(o engine.Entry) bool { return o.Run.ID == e.Run.Awaits })
}
