package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Resume takes up every unfinished run; see engine.Executor.
func (x *Executor) Resume(ctx context.Context) (int, error) {
	entries, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	taken := 0
	for _, e := range entries {
		if e.Run.Status == engine.AwaitingApproval && !awaitsEnded(e, entries) {
			continue
		}
		j, err := newJob(e)
		if err != nil {
			return taken, fmt.Errorf("resume run %s: %w", e.Run.ID, err)
		}
		j.recalled = e.Run.Status == engine.AwaitingApproval
		x.enqueue(j)
		taken++
	}
	return taken, nil
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
	return engine.Outcome{Status: engine.Cancelled, Reason: "cancelled", Failure: engine.Fail(engine.CodeCancelled, "", "cancelled")}
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

// pinnedOf is what a workflow run was started with; nil for imports.
func pinnedOf(e engine.Entry) *engine.Pinned {
	var s spec
	if json.Unmarshal(e.Spec, &s) != nil {
		return nil
	}
	return s.Pinned
}

// Retry takes up a failed or cancelled run; see engine.Executor.
func (x *Executor) Retry(ctx context.Context, run string) error {
	x.starting.Lock()
	defer x.starting.Unlock()
	e, records, err := x.cfg.Journal.Load(ctx, run)
	if err != nil {
		return err
	}
	if !e.Run.Status.Incomplete() {
		return engine.Fail(engine.CodeInternal, "", "run %s is %s; only a failed or cancelled run can be tried again", run, e.Run.Status)
	}
	cuts := retryCuts(e.Run, records)
	if e.Import != nil {
		changed, err := x.renew(&e)
		if err != nil {
			return fmt.Errorf("retry import %s: %w", run, err)
		}
		if changed {
			cuts = []engine.Cut{{}}
		}
	}
	if p := pinnedOf(e); p != nil {
		cuts = append(cuts, batchCuts(e.Run, p.Steps, records)...)
	}
	reset(&e)
	if err := x.cfg.Journal.Reopen(ctx, e, cuts); err != nil {
		return err
	}
	j, err := newJob(e)
	if err != nil {
		return err
	}
	x.enqueue(j)
	return nil
}

// renew lets an import begin again where its original was put, with the settings of now: what was said to be done about
// the failure may have been to change them. It says whether anything is other than it was.
func (x *Executor) renew(e *engine.Entry) (changed bool, err error) {
	var s spec
	if err := json.Unmarshal(e.Spec, &s); err != nil {
		return false, err
	}
	if filed := e.Import.Filed; filed != "" {
		s.Import.Where, changed = filed, true
	}
	if x.cfg.Renew != nil {
		if options := x.cfg.Renew(*s.Import); !bytes.Equal(options, s.Import.Options) {
			s.Import.Options, changed = options, true
		}
	}
	e.Spec, err = json.Marshal(s)
	return changed, err
}

// reset takes the end out of a run's views. The steps say themselves again what they are.
func reset(e *engine.Entry) {
	r := &e.Run
	r.Status, r.Reason, r.Failure, r.Finished, r.Steps = engine.Queued, "", nil, time.Time{}, nil
	e.Cancelled = false
	if i := e.Import; i != nil {
		*i = engine.ImportRecord{ID: i.ID, Source: i.Source, State: engine.ImportQueued, SHA256: i.SHA256, Size: i.Size, Created: i.Created}
	}
}
