package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Resume queues every unfinished run; see engine.Executor.
func (x *Executor) Resume(ctx context.Context) (int, error) {
	entries, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	for _, e := range entries { // a process may have died between a new run and the end of the one that it supersedes
		if err := supersede(ctx, x, e.Run); err != nil {
			return 0, err
		}
	}
	if entries, err = x.cfg.Journal.Unfinished(ctx); err != nil {
		return 0, err
	}
	var jobs []*job
	for _, e := range entries {
		if e.Run.Status == engine.AwaitingApproval && !awaitsEnded(e, entries) {
			continue
		}
		j, err := newJob(e)
		if err != nil {
			return 0, fmt.Errorf("resume run %s: %w", e.Run.ID, err)
		}
		j.recalled = e.Run.Status == engine.AwaitingApproval
		jobs = append(jobs, j)
	}
	x.queue.add(jobs...) // together: one may wait for another
	return len(jobs), nil
}

// Wait blocks until the run has finished; see engine.Executor. A run that has not finished and is not in the queue, or was
// interrupted, is an error.
func (x *Executor) Wait(ctx context.Context, run string) (engine.RunRecord, error) {
	const looks = 3 // the run may be woken, or end, between a look at the queue and one at the journal
	var r engine.RunRecord
	for range looks {
		if held, err := x.waitHere(ctx, run); err != nil {
			return held, err
		}
		e, _, err := x.cfg.Journal.Load(ctx, run)
		if err != nil {
			return engine.RunRecord{}, err
		}
		if r = e.Run; r.Status == engine.AwaitingApproval {
			return r, parkedRun(r)
		}
		if r.Status.Finished() {
			return r, nil
		}
	}
	return r, fmt.Errorf("run %s is %s, but not here", run, r.Status)
}

// waitHere waits until a run has left the queue. It returns at once if the run is not in it.
func (x *Executor) waitHere(ctx context.Context, run string) (engine.RunRecord, error) {
	j := x.queue.job(run)
	if j == nil {
		return engine.RunRecord{}, nil
	}
	select {
	case <-j.done:
		if j.err != nil {
			return j.snapshot().Run, j.err
		}
		return engine.RunRecord{}, nil
	case <-ctx.Done():
		return engine.RunRecord{}, ctx.Err()
	case <-x.stopped:
		return j.snapshot().Run, fmt.Errorf("wait for run %s: %w", run, engine.ErrStopped)
	}
}

// Cancel ends a run; see engine.Executor. It returns once the request is stored; Wait returns when the run has ended.
func (x *Executor) Cancel(ctx context.Context, run string) error {
	if j := x.queue.job(run); j != nil {
		err := x.cancelJob(ctx, j)
		x.wakeParent(ctx, j)
		return err
	}
	j, err := x.cancelAbsent(ctx, run, cancelledOutcome("cancelled"))
	if err == nil && j != nil {
		x.wakeParent(ctx, j)
		err = j.err
	}
	return err
}

// cancelAbsent ends an unfinished run that is not in the queue: it is parked, or an earlier process left it.
func (x *Executor) cancelAbsent(ctx context.Context, run string, end engine.Outcome) (*job, error) {
	e, _, err := x.cfg.Journal.Load(ctx, run)
	if err != nil || e.Run.Status.Finished() {
		return nil, err
	}
	if err := x.cancelStored(ctx, run); err != nil {
		return nil, err
	}
	x.waking.Lock()
	defer x.waking.Unlock()
	if j := x.queue.job(run); j != nil { // it was woken meanwhile
		return nil, x.cancelJob(ctx, j)
	}
	if e, _, err = x.cfg.Journal.Load(ctx, run); err != nil || e.Run.Status.Finished() {
		return nil, err
	}
	j, err := newJob(e)
	if err == nil {
		x.finish(ctx, j, end)
	}
	return j, err
}

func cancelledOutcome(reason string) engine.Outcome {
	return engine.Outcome{Status: engine.Cancelled, Reason: reason, Failure: failure.New(failure.Cancelled, "", "%s", reason)}
}

// supersede ends the runs that wait for approval about files that a newer run of their workflow is about too: what they propose
// belongs to older contents, and nobody is asked twice about one file. A run that is also about other files keeps waiting.
func supersede(ctx context.Context, x *Executor, by engine.RunRecord) error {
	if by.Kind != engine.KindWorkflow || len(by.Trigger.Files) == 0 || by.Trigger.Parent != "" {
		return nil
	}
	unfinished, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, e := range unfinished {
		old := e.Run
		other := func(file string) bool { return !slices.Contains(by.Trigger.Files, file) }
		switch {
		case old.ID == by.ID:
			return nil // those behind it are newer
		case old.Status != engine.AwaitingApproval || old.Kind != by.Kind || old.Workflow != by.Workflow || old.Trigger.Parent != "",
			len(old.Trigger.Files) == 0 || slices.ContainsFunc(old.Trigger.Files, other) || !slices.Equal(old.Chosen, by.Chosen):
			continue
		}
		reason := fmt.Sprintf("superseded by run %s, about the newer %s", by.ID, engine.FileList(old.Trigger.Files))
		if j, err := x.cancelAbsent(ctx, old.ID, cancelledOutcome(reason)); err != nil {
			return fmt.Errorf("supersede run %s: %w", old.ID, err)
		} else if j != nil && j.err != nil {
			return fmt.Errorf("supersede run %s: %w", old.ID, j.err)
		}
	}
	return nil
}

func (x *Executor) cancelJob(ctx context.Context, j *job) error {
	if x.queue.remove(j) {
		x.finish(ctx, j, cancelledOutcome("cancelled"))
		return j.err
	}
	// Store the request first, so that a crash here still cancels the run after a restart.
	e, err := x.store.update(ctx, j, nil, func(e *engine.Entry) { e.Cancelled = !e.Run.Status.Finished() })
	if e.Run.Status.Finished() {
		return nil
	}
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cancel != nil {
		j.cancel(errCancelled)
	}
	return nil
}

// Wake queues a parked run; see engine.Executor.
func (x *Executor) Wake(ctx context.Context, run string) error {
	x.waking.Lock()
	defer x.waking.Unlock()
	if x.queue.markWoken(run) {
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
	x.queue.book(j) // first, so that nobody finds it queued in the journal and not here
	if _, err := x.store.update(ctx, j, nil, func(e *engine.Entry) { e.Run.Status, e.Run.Reason, e.Run.Awaits = engine.Queued, "", "" }); err != nil {
		err = fmt.Errorf("wake run %s: %w", run, err)
		x.queue.leave(j, err)
		return err
	}
	x.queue.add(j)
	return nil
}

// wakeParent wakes the run that waits for one that has ended.
func (x *Executor) wakeParent(ctx context.Context, j *job) {
	parent := j.parent()
	if parent == "" || !j.snapshot().Run.Status.Finished() {
		return
	}
	if err := x.store.do(func() error { return x.Wake(context.WithoutCancel(ctx), parent) }); err != nil && !errors.Is(err, engine.ErrNotFound) {
		x.cfg.Logger.Warn("parent run not woken; the next start does it", "run", parent, "err", err)
	}
}

// awaitsEnded reports whether a parked run waits for a run that has ended.
func awaitsEnded(e engine.Entry, unfinished []engine.Entry) bool {
	return e.Run.Awaits != "" && !slices.ContainsFunc(unfinished, func(o engine.Entry) bool { return o.Run.ID == e.Run.Awaits })
}

// cancelNested ends the queued runs that a run has started.
func (x *Executor) cancelNested(ctx context.Context, run string) {
	for _, j := range x.queue.children(run) {
		if err := x.cancelJob(ctx, j); err != nil {
			x.cfg.Logger.Warn("nested run not cancelled", "run", j.id, "parent", run, "err", err)
		}
	}
}

// cancelStored ends the runs that a run outside the queue has started: an earlier process left all of them.
func (x *Executor) cancelStored(ctx context.Context, run string) error {
	entries, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Run.Trigger.Parent != run {
			continue
		}
		if err := x.Cancel(ctx, e.Run.ID); err != nil {
			return err
		}
	}
	return nil
}
