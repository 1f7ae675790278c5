package daemon

import (
	"context"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/settings"
)

// retention is how long the journal keeps the past.
func retention(s *settings.Settings) journal.Retention {
	r := s.Engine.Retention
	return journal.Retention{Runs: r.Runs.Std(), PerWorkflow: r.RunsPerWorkflow, Contents: r.Contents.Std()}
}

// sweepJournal removes records beyond their retention, at once and at every tick. Runs are not disturbed. What cannot be removed
// is tried again at the next tick.
func sweepJournal(ctx context.Context, w *Process, ticks <-chan time.Time) error {
	for {
		swept, err := w.Journal.Sweep(ctx, retention(w.Workspace.Settings), time.Now())
		if swept != (journal.Swept{}) {
			w.Workspace.Log.Info("old records removed", "runs", swept.Runs, "rows", swept.Rows, "blobs", swept.Blobs, "size", content.FormatSize(swept.Bytes))
		}
		if err != nil && ctx.Err() == nil {
			w.Workspace.Log.Warn("old records not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}
