package main

import (
	"context"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// retention is how long the journal keeps the past.
func (a *app) retention() journal.Retention {
	r := a.settings.Engine.Retention
	return journal.Retention{Runs: r.Runs.Std(), PerWorkflow: r.RunsPerWorkflow, Contents: r.Contents.Std()}
}

// sweepJournal removes what is beyond retention, at once and whenever a tick comes. Runs go on meanwhile; what cannot be
// removed now is tried again at the next tick.
func (w *working) sweepJournal(ctx context.Context, ticks <-chan time.Time) error {
	for {
		swept, err := w.journal.Sweep(ctx, w.retention(), time.Now())
		if swept != (journal.Swept{}) {
			w.log.Info("old records removed", "runs", swept.Runs, "rows", swept.Rows, "blobs", swept.Blobs, "size", content.FormatSize(swept.Bytes))
		}
		if err != nil && ctx.Err() == nil {
			w.log.Warn("old records not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}
