package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// holds are the files that stay in the import folder for a while after their import, because nothing shows where they end: a
// program that appends to one later then finds it. By name; a newer import of a name takes the place of an older one.
type holds struct {
	period    time.Duration // how long a file is held
	journal   *journal.Journal
	rules     *Rules
	importers Importers
	follow    func(r engine.ImportRecord, ended time.Time) // looks after an original that was put away
	log       *slog.Logger

	wake  chan struct{}
	mu    sync.Mutex
	files map[string]held // guarded by mu
}

type held struct {
	engine.ImportRecord
	until time.Time
	tries int // how often it could not be put away
}

const (
	firstHoldRetry = time.Second
	mostHoldRetry  = time.Minute
)

func (h *holds) add(r engine.ImportRecord, until time.Time) {
	h.mu.Lock()
	h.files[r.Source] = held{ImportRecord: r, until: until}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *holds) of(name string) (held, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.files[name]
	return f, ok
}

// next returns the file whose time ends first.
func (h *holds) next() (first held, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.files {
		if !ok || f.until.Before(first.until) {
			first, ok = f, true
		}
	}
	return first, ok
}

// drop forgets a file, unless a newer import has taken its place.
func (h *holds) drop(f held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files[f.Source].ID == f.ID {
		delete(h.files, f.Source)
	}
}

// leave ends the hold of a file that is imported again with others, which then remove it.
func (h *holds) leave(ctx context.Context, r engine.ImportRecord) error {
	h.drop(held{ImportRecord: r})
	return h.journal.Imports.PutAway(ctx, r.ID, r.Filed)
}

// later schedules another try, after a longer wait each time.
func (h *holds) later(f held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files[f.Source].ID == f.ID {
		f.until = time.Now().Add(min(firstHoldRetry<<min(f.tries, 16), mostHoldRetry))
		f.tries++
		h.files[f.Source] = f
	}
}

// begin takes an import that has left its file in the import folder.
func (h *holds) begin(r engine.ImportRecord) {
	if r.Held {
		h.add(r, time.Now().Add(h.period))
	}
}

// catchUp finds imports whose events were missed.
func (h *holds) catchUp(ctx context.Context) {
	if err := h.earlier(ctx); err != nil && ctx.Err() == nil {
		h.log.Warn("files of earlier imports stay in the import folder", "err", err)
	}
}

// earlier takes those that the journal knows, such as those of an earlier serve.
func (h *holds) earlier(ctx context.Context) error {
	rows, err := h.journal.Imports.Held(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range rows { // the newest first: that is the one whose bytes the file has
		if !seen[r.Source] {
			seen[r.Source] = true
			if known, _ := h.of(r.Source); known.ID != r.ID {
				h.begin(r)
			}
			continue
		}
		if err := h.journal.Imports.PutAway(ctx, r.ID, r.Filed); err != nil {
			return err
		}
	}
	return nil
}

// arrival reports whether news of a file of the import folder is no news: the file was imported, and is held.
func (h *holds) arrival(ctx context.Context, news disk.Arrival) (bool, error) {
	f, ok := h.of(news.Name)
	switch {
	case !ok || news.Followed:
		return false, nil
	case news.State == disk.StateReceiving:
		return news.Size == f.Size && news.Reason == "", nil
	case news.State != disk.StateReady || news.SHA256 != f.SHA256:
		return false, nil
	}
	h.begin(f.ImportRecord)
	return true, h.journal.Imports.Gone(ctx, news.Name)
}

// run puts each held file where it belongs when its time has ended and nobody has changed it.
func (h *holds) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-h.wake:
		}
		f, ok := h.next()
		for ; ok && !f.until.After(time.Now()) && ctx.Err() == nil; f, ok = h.next() {
			if err := h.putAway(ctx, f); err != nil {
				h.log.Debug("file stays in the import folder", "name", f.Source, "err", err)
				h.later(f)
			}
		}
		if ok {
			timer.Reset(time.Until(f.until))
		}
	}
}

func (h *holds) putAway(ctx context.Context, f held) error {
	settings, err := h.rules.For(f.Source)
	if err != nil {
		return err
	}
	run, err := h.journal.Runs.Run(ctx, f.ID)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	if err == nil && !run.Status.Finished() {
		return fmt.Errorf("its import %s is tried again", f.ID)
	}
	ending := ingestion.Ending{State: ingestion.State(f.State), Bundle: f.Bundle}
	if bad := run.Failure; bad != nil {
		ending.Code, ending.Message, ending.Hint = bad.Code, bad.Message, bad.Hint
	}
	job := ingestion.Job{ID: f.ID, Source: f.Source, SHA256: f.SHA256, Size: f.Size, At: run.At, Settings: settings}
	filed, found, err := h.importers.For(f.ID, nil).PutAway(ctx, job, ending)
	if err != nil {
		return err
	}
	if found || f.Filed == f.Source {
		f.Filed = filed.Name
	}
	if found {
		h.follow(f.ImportRecord, time.Now()) // its writer may have it open
	}
	if err := h.journal.Imports.PutAway(ctx, f.ID, f.Filed); err != nil {
		return err
	}
	h.drop(f)
	return nil
}
