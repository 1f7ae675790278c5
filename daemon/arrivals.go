package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// arrivals asks for the import of every file that is ready, and keeps people posted about those that are not.
func (w *Process) arrivals(ctx context.Context, watcher *disk.Watcher) error {
	router := w.Settings.Ingestion.Router
	var following sync.WaitGroup
	defer following.Wait()
	for {
		var news disk.Arrival
		select {
		case <-ctx.Done():
			return nil
		case news = <-watcher.Arrivals():
		}
		if router == "off" {
			continue
		}
		if router == "shadow" && news.State == disk.StateReady {
			if err := w.shadow(ctx, news); err != nil && ctx.Err() == nil {
				w.Log.Error("file not classified", "name", news.Name, "err", err)
			}
			watcher.Done(news.Name)
			continue
		}
		if known, err := w.held.arrival(ctx, news); known || err != nil {
			if err != nil && ctx.Err() == nil {
				w.Log.Error("file not left alone", "name", news.Name, "err", err)
			}
			if news.State == disk.StateReady {
				watcher.Done(news.Name)
			}
			continue
		}
		run, err := w.arrival(ctx, news)
		if bad, ok := errors.AsType[*ingestion.FolderError](err); ok {
			err = w.folderFault(ctx, news, bad)
			watcher.Release(news.Name)
		}
		switch {
		case err != nil && ctx.Err() == nil:
			w.Log.Error("file not taken", "name", news.Name, "err", err)
			watcher.Release(news.Name)
		case run != "":
			following.Go(func() { w.follow(ctx, watcher, news, run) })
		}
	}
}

// arrival deals with news of a file, and gives the run that imports it when it is ready.
func (w *Process) arrival(ctx context.Context, news disk.Arrival) (run string, err error) {
	switch news.State {
	case disk.StateReady:
		take := w.takeUp
		if news.Followed {
			take = w.grown
		}
		if run, err = take(ctx, news); err != nil {
			return "", err
		}
		return run, w.Journal.Imports.Gone(ctx, news.Name) // a run that was there before a restart does not take the arrival's place by itself
	case disk.StateGone:
		w.claim(news.Name)
		return "", w.Journal.Imports.Gone(ctx, news.Name)
	case disk.StateRefused:
		w.Log.Warn("file refused", "name", news.Name, "reason", news.Reason)
		return "", w.Journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, "not taken: "+news.Reason, time.Now())
	case disk.StateBlocked:
		w.Log.Warn("file waits", "name", news.Name, "reason", news.Reason)
		return "", w.Journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, news.Reason, time.Now())
	default:
		return "", w.Journal.Imports.Arriving(ctx, news.Name, engine.ImportReceiving, news.Size, news.Reason, time.Now())
	}
}

// takeUp gives the run that imports a file: the one that a command has asked for, one that was put off, or a new one.
func (w *Process) takeUp(ctx context.Context, news disk.Arrival) (string, error) {
	if run := w.claim(news.Name); run != "" {
		asked, err := w.Journal.Runs.Run(ctx, run)
		if err == nil && (!asked.Status.Finished() || mayPass(asked)) {
			return run, nil
		} // otherwise this is another file: the one that the command meant is where its import has put it
	}
	if run, err := w.putOff(ctx, news); err != nil || run != "" {
		return run, err
	}
	run, err := w.startImport(ctx, news.Name, news.SHA256, ImportHow{hold: w.Settings.Vault.HoldPeriod > 0})
	if err == nil {
		w.folderWell(ctx, news.Name)
	}
	return run, err
}

// putOff takes up again the import of a file that failed of something that may pass (a full disk, a missing worker), as the
// same import, so that pages which are finished stay finished. It is empty when there is none.
func (w *Process) putOff(ctx context.Context, news disk.Arrival) (string, error) {
	last, found, err := w.Journal.Imports.Latest(ctx, news.Name, news.SHA256)
	if err != nil || !found || last.State != engine.ImportFailed {
		return "", err
	}
	ended, err := w.Journal.Runs.Run(ctx, last.ID)
	if err != nil || !mayPass(ended) {
		return "", err
	}
	if err := w.Exec.Retry(ctx, last.ID, engine.RetryFrom{}); err != nil {
		return "", nil //nolint:nilerr // a person was faster; the key of a new request finds that run, if it is still at work
	}
	return last.ID, nil
}

// follow lets the watcher have a file back when its import has ended: to be left alone, or, when what it failed of may
// pass, to be tried again after a pause.
func (w *Process) follow(ctx context.Context, watcher *disk.Watcher, news disk.Arrival, run string) {
	ended, err := w.Exec.Wait(ctx, run)
	if err != nil {
		if ctx.Err() == nil { // it will be taken up again at the next start, and its file with it
			w.Log.Warn("import interrupted", "run", run, "name", news.Name, "err", err)
		}
		return
	}
	if mayPass(ended) {
		w.Log.Warn("import put off", "run", run, "name", news.Name, "err", ended.Failure.Message)
		watcher.Release(news.Name)
		return
	}
	if w.stayed(ctx, ended) { // until it can be moved: it ends as a duplicate of itself then
		watcher.Release(news.Name)
		return
	}
	watcher.Done(news.Name)
}

// mayPass says whether an import failed of something that may be over soon; its original has stayed where it was.
func mayPass(r engine.RunRecord) bool {
	return r.Status == engine.Failed && r.Failure != nil && r.Failure.Retryable
}
