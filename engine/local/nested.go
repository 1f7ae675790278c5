package local

import "context"

// A run that a tool has asked for ends with the run that waits for it. See engine.Trigger.

// cancelNested ends the runs on the books that a run has asked for.
func (x *Executor) cancelNested(ctx context.Context, run string) {
	for _, j := range x.nestedIn(run) {
		if err := x.cancelJob(ctx, j); err != nil {
			x.cfg.Logger.Warn("nested run not cancelled", "run", j.id, "parent", run, "err", err)
		}
	}
}

func (x *Executor) nestedIn(run string) []*job {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []*job
	for _, j := range x.jobs {
		if j.parent() == run {
			list = append(list, j)
		}
	}
	return list
}

// cancelStored ends those of a run that is not on the books: an earlier process has left both.
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
