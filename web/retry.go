package web

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

// retries says how a run can be taken up again from its page.
type retries struct {
	CanRetry bool
	Lost     int    // batches that can be taken up alone
	Stale    string // the workflow is another one now
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

// again is the run's id when it can begin again at a step, and empty when it cannot; see engine.RetryFrom.
func (s runPages) again(r engine.RunRecord, step engine.StepRecord) string {
	failed := func(before engine.StepRecord) bool { return before.Index < step.Index && before.Status.Incomplete() }
	if s.site.cfg.Control == nil || r.Kind != engine.KindWorkflow || !r.Status.Finished() || slices.ContainsFunc(r.Steps, failed) {
		return ""
	}
	return r.ID
}
