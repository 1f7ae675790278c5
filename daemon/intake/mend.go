package intake

import (
	"context"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
)

const (
	// mendEvery is how often imports with pages below the quality that was asked for are tried again; also at the start of serve.
	mendEvery = time.Hour
	// mendMost bounds the tries of one import: after that, its page is not the machine's fault.
	mendMost = 3
)

// mend makes the pages again that had to be made below the quality that was asked for, at the start and from time to time.
func (a *Arrivals) mend(ctx context.Context) error {
	ticker := time.NewTicker(mendEvery)
	defer ticker.Stop()
	for {
		if err := a.mendOnce(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("pages of low quality are not made again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (a *Arrivals) mendOnce(ctx context.Context) error {
	list, err := a.journal.Imports.List(ctx, journal.ImportFilter{State: engine.ImportPartial, Limit: 1000})
	if err != nil {
		return err
	}
	for _, r := range list {
		if len(r.Lacking) == 0 || r.Held {
			continue
		}
		piece := "mend:" + r.ID + ";"
		if tries, err := a.journal.Attempts.Attempts(ctx, piece); err != nil || tries >= mendMost {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := a.journal.Attempts.Attempt(ctx, piece, 0); err != nil {
			return err
		}
		a.log.Info("pages of low quality are made again", "run", r.ID, "name", r.Source, "pages", len(r.Lacking))
		if err := a.exec.Retry(ctx, r.ID, engine.RetryFrom{}); err != nil && ctx.Err() == nil {
			a.log.Warn("pages of low quality are not made again", "run", r.ID, "err", err)
		}
	}
	return nil
}

// Attempts counts in the journal what ends processes.
func Attempts(j *journal.Journal) *attempts.Log { return attempts.New(j.Attempts) }
