package web

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

// retries are the ways to retry a run from its page.
type retries struct {
	CanRetry bool
	Lost     int    // batches that can be retried alone
	Stale    string // a warning if the workflow has changed since
}

func (s runPages) retries(ctx context.Context, r engine.RunRecord) retries {
	if s.site.cfg.Control == nil || !r.Status.Finished() {
		return retries{}
	}
	can := retries{CanRetry: r.Status.Incomplete(), Lost: r.Lost()}
	if s.site.cfg.Stale != nil && (can.CanRetry || can.Lost > 0) {
		can.Stale = s.site.cfg.Stale(ctx, r)
	}
	return can
}

// again returns the run's id if it can be rerun from a step, or ""; see engine.RetryFrom.
func (s runPages) again(r engine.RunRecord, step engine.StepRecord) string {
	failed := func(before engine.StepRecord) bool { return before.Index < step.Index && before.Status.Incomplete() }
	if s.site.cfg.Control == nil || r.Kind != engine.KindWorkflow || !r.Status.Finished() || slices.ContainsFunc(r.Steps, failed) {
		return ""
	}
	return r.ID
}
