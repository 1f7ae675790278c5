package local

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Resume takes up every unfinished run; see engine.Executor.
func (x *Executor) Resume(ctx context.Context) (int, error) {
	entries, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
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
	x.enqueue(jobs...) // together: one may wait for another
	return len(jobs), nil
}

// Wait blocks until the run has finished; see engine.Executor. A run that is not on this executor's books and has not
// finished, or that was interrupted, is an error.
func (x *Executor) Wait(ctx context.Context, run string) (engine.RunRecord, error) {
	if j := x.job(run); j != nil {
		select {
		case <-j.done:
			if j.err != nil {
				return j.snapshot().Run, j.err
			}
		case <-ctx.Done():
			return engine.RunRecord{}, ctx.Err()
		case <-x.stopped:
			return j.snapshot().Run, fmt.Errorf("wait for run %s: %w", run, engine.ErrStopped)
		}
	}
	e, _, err := x.cfg.Journal.Load(ctx, run)
	if err != nil {
		return engine.RunRecord{}, err
	}
	if e.Run.Status == engine.AwaitingApproval {
		return e.Run, parkedRun(e.Run)
	}
	if !e.Run.Status.Finished() {
		return e.Run, fmt.Errorf("run %s is %s, but not here", run, e.Run.Status)
	}
	return e.Run, nil
}

func (x *Executor) job(run string) *job {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.jobs[run]
}

// Cancel ends a run; see engine.Executor. It returns when the wish is stored; Wait tells when the run has ended.
func (x *Executor) Cancel(ctx context.Context, run string) error {
	if j := x.job(run); j != nil {
		err := x.cancelJob(ctx, j)
		x.wakeParent(ctx, j)
		return err
	}
	j, err := x.cancelAbsent(ctx, run)
	if err == nil && j != nil {
		x.wakeParent(ctx, j)
		err = j.err
	}
	return err
}

// cancelAbsent ends a run that is not on the books, if it has not ended: it is parked, or an earlier process has left it.
func (x *Executor) cancelAbsent(ctx context.Context, run string) (*job, error) {
	e, _, err := x.cfg.Journal.Load(ctx, run)
	if err != nil || e.Run.Status.Finished() {
		return nil, err
	}
	if err := x.cancelStored(ctx, run); err != nil {
		return nil, err
	}
	x.waking.Lock()
	defer x.waking.Unlock()
	if j := x.job(run); j != nil { // it was woken meanwhile
		return nil, x.cancelJob(ctx, j)
	}
	if e, _, err = x.cfg.Journal.Load(ctx, run); err != nil || e.Run.Status.Finished() {
		return nil, err
	}
	j, err := newJob(e)
	if err == nil {
		x.finish(ctx, j, cancelledOutcome())
	}
	return j, err
}

func cancelledOutcome() engine.Outcome {
	return engine.Outcome{Status: engine.Cancelled, Reason: "cancelled", Failure: failure.New(failure.Cancelled, "", "cancelled")}
}

func (x *Executor) cancelJob(ctx context.Context, j *job) error {
	if x.take(j) {
		x.finish(ctx, j, cancelledOutcome())
		return j.err
	}
	// The wish is stored first: should the process die now, the run ends as cancelled after the restart.
	e, err := x.update(ctx, j, nil, func(e *engine.Entry) { e.Cancelled = !e.Run.Status.Finished() })
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
