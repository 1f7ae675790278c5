package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Arrivals imports every file that is ready in the import folder, and reports those that are not.
type Arrivals struct {
	watcher   *disk.Watcher
	settings  *settings.Settings
	imports   *Imports
	journal   *journal.Journal
	exec      *local.Executor
	folders   folderNotes
	originals *originals
	held      *holds
	groups    *groups
	importers Importers
	log       *slog.Logger
}

// NewArrivals returns the arrivals that a watcher reports. files writes as imports do.
func NewArrivals(watcher *disk.Watcher, i *Imports, m Importers, files vault.Files) *Arrivals {
	grown := &originals{watcher: watcher, vault: i.vault, journal: i.journal, imports: i, log: m.Log, sources: map[string]string{}}
	held := &holds{
		period: i.settings.Vault.HoldPeriod.Std(), journal: i.journal, rules: i.rules, importers: m, follow: grown.follow, log: m.Log,
		wake: make(chan struct{}, 1), files: map[string]held{},
	}
	return &Arrivals{
		watcher: watcher, settings: i.settings, imports: i, journal: i.journal, exec: i.exec, originals: grown, importers: m, log: m.Log, held: held,
		folders: folderNotes{settings: i.settings, vault: i.vault, files: files, journal: i.journal, log: m.Log},
		groups: &groups{
			watcher: watcher, settings: i.settings, vault: i.vault, files: files, imports: i, journal: i.journal, exec: i.exec, log: m.Log,
			empty: map[string]bool{}, before: map[string]bool{}, told: map[string]string{}, last: map[string]time.Time{}, links: map[string][]export.Link{}, refuse: map[string]bool{},
			wake: make(chan struct{}, 1), pending: map[string]pending{}, busy: map[string]int{}, more: map[string]bool{}, leave: held.leave,
		},
	}
}

// Resume finds the files that an earlier process left in the import folder after their import, and ends imports that wait for files
// that are gone. Call it before Run.
func (a *Arrivals) Resume(ctx context.Context) error {
	waiting, err := a.journal.Imports.List(ctx, journal.ImportFilter{State: engine.ImportWaiting, Limit: 1000})
	for _, r := range waiting {
		if _, gone := fs.Stat(a.imports.vault.FS(), r.Source); errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, a.journal.Imports.Gone(ctx, r.Source))
		}
	}
	return errors.Join(err, a.held.earlier(ctx))
}

// Run works until ctx ends.
func (a *Arrivals) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	a.groups.begin()
	group.Go(func() error { return a.take(ctx) })
	group.Go(func() error { return a.followEnded(ctx) })
	group.Go(func() error { return a.held.run(ctx) })
	group.Go(func() error { return a.mend(ctx) })
	return group.Wait()
}

// take handles arrivals until ctx ends.
func (a *Arrivals) take(ctx context.Context) error {
	router := a.settings.Ingestion.Router
	var following sync.WaitGroup
	defer following.Wait()
	judge := time.NewTimer(judgeAfter)
	defer judge.Stop()
	for {
		var news disk.Arrival
		select {
		case <-ctx.Done():
			return nil
		case <-judge.C:
			singles, groups, refused := a.groups.judge(ctx)
			for _, waiting := range refused {
				if _, err := a.arrival(ctx, waiting); err != nil && ctx.Err() == nil {
					a.log.Error("file not listed", "name", waiting.Name, "err", err)
				}
			}
			for _, single := range singles {
				a.begin(ctx, single, &following)
			}
			for _, group := range groups {
				following.Go(func() { a.groups.carry(ctx, group); a.groups.rouse() })
			}
			if pause, wait := a.groups.again(); wait {
				judge.Reset(pause)
			}
			continue
		case <-a.groups.wake:
			judge.Reset(judgeAfter)
			continue
		case news = <-a.watcher.Arrivals():
		}
		if router == "off" {
			continue
		}
		if news.State == disk.StatePostponed {
			a.begin(ctx, news, &following)
			continue
		}
		if router == "shadow" && news.State == disk.StateReady {
			if err := a.shadow(ctx, news); err != nil && ctx.Err() == nil {
				a.log.Error("file not classified", "name", news.Name, "err", err)
			}
			a.watcher.Done(news.Name)
			continue
		}
		if known, err := a.held.arrival(ctx, news); known || err != nil {
			if err != nil && ctx.Err() == nil {
				a.log.Error("file not left alone", "name", news.Name, "err", err)
			}
			if news.State == disk.StateReady {
				a.watcher.Done(news.Name)
			}
			continue
		}
		if a.groups.takes(news) {
			judge.Reset(judgeAfter)
			continue
		}
		a.begin(ctx, news, &following)
	}
}

// begin deals with news of a file, and follows the import that it begins.
func (a *Arrivals) begin(ctx context.Context, news disk.Arrival, following *sync.WaitGroup) {
	run, err := a.arrival(ctx, news)
	if bad, ok := errors.AsType[*config.FolderError](err); ok {
		err = a.folders.fault(ctx, news, bad)
		a.watcher.Release(news.Name)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		a.log.Error("file not imported", "name", news.Name, "err", err)
		a.watcher.Release(news.Name)
	case run != "":
		following.Go(func() { a.follow(ctx, news, run) })
	}
}

// arrival handles news of a file. It returns the run that imports the file once it is ready.
func (a *Arrivals) arrival(ctx context.Context, news disk.Arrival) (run string, err error) {
	switch news.State {
	case disk.StateReady:
		start := a.start
		if news.Followed {
			start = a.originals.grown
		}
		if run, err = start(ctx, news); err != nil {
			return "", err
		}
		return run, a.journal.Imports.Gone(ctx, news.Name) // a run that was there before a restart does not take the arrival's place by itself
	case disk.StateGone:
		a.imports.claim(news.Name)
		return "", a.journal.Imports.Gone(ctx, news.Name)
	case disk.StatePostponed:
		return "", a.journal.Imports.Postpone(ctx, news.Name, news.Again)
	case disk.StateRefused:
		a.log.Warn("file refused", "name", news.Name, "reason", news.Reason)
		return "", a.journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, "not imported: "+news.Reason, time.Now())
	case disk.StateBlocked:
		a.log.Warn("file waits", "name", news.Name, "reason", news.Reason)
		return "", a.journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, news.Reason, time.Now())
	default:
		a.importers.Workers.Prepare(ingestion.WorkersForName(news.Name, news.Size)) // it starts in the quiet period
		return "", a.journal.Imports.Arriving(ctx, news.Name, engine.ImportReceiving, news.Size, news.Reason, time.Now())
	}
}

// start returns the run that imports a file: one that a command asked for, one that failed earlier, or a new one.
func (a *Arrivals) start(ctx context.Context, news disk.Arrival) (string, error) {
	if run := a.imports.claim(news.Name); run != "" {
		asked, err := a.journal.Runs.Run(ctx, run)
		if err == nil && (!asked.Status.Finished() || mayPass(asked)) {
			return run, nil
		} // otherwise this is another file: the one that the command meant is where its import has put it
	}
	if run, err := a.imports.underWay(ctx, news); err != nil || run != "" {
		return run, err
	}
	run, err := a.imports.start(ctx, news.Name, news.SHA256, request{hold: a.settings.Vault.HoldPeriod > 0})
	if err == nil {
		a.folders.repaired(ctx, news.Name)
	}
	return run, err
}

// followEnded watches the originals of imports that have ended: a program that has one open keeps writing to it, wherever it was moved.
func (a *Arrivals) followEnded(ctx context.Context) error {
	events, stop := a.exec.Subscribe(0)
	defer stop()
	if err := a.originals.earlier(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("originals of earlier imports are not watched", "err", err)
	}
	a.held.catchUp(ctx) // with imports that ended before the subscription
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-events:
			switch {
			case !open:
				return nil
			case e.Kind == engine.EventLost:
				a.held.catchUp(ctx)
			case e.Kind == engine.EventImport && e.State.Finished() && e.Import != nil:
				a.held.begin(*e.Import)
				a.originals.replaced(*e.Import)
				a.originals.follow(*e.Import, time.Now())
			}
		}
	}
}

// follow lets the watcher have a file back when its import has ended: to be left alone, or, when what it failed of may
// pass, to be tried again after a pause.
func (a *Arrivals) follow(ctx context.Context, news disk.Arrival, run string) {
	ended, err := a.exec.Wait(ctx, run)
	if err != nil {
		if ctx.Err() == nil { // the next serve resumes it
			a.log.Warn("import interrupted", "run", run, "name", news.Name, "err", err)
		}
		return
	}
	if mayPass(ended) {
		a.log.Warn("import postponed", "run", run, "name", news.Name, "err", ended.Failure.Message)
		a.watcher.Release(news.Name)
		return
	}
	if a.imports.stayed(ctx, ended) { // until it can be moved: it ends as a duplicate of itself then
		a.watcher.Release(news.Name)
		return
	}
	a.watcher.Done(news.Name)
}

// mayPass reports whether an import had a transient error. Its original has stayed where it was.
func mayPass(r engine.RunRecord) bool {
	return r.Status == engine.Failed && r.Failure != nil && r.Failure.Retryable
}

// shadow records what an import would do with a file, and does nothing.
func (a *Arrivals) shadow(ctx context.Context, news disk.Arrival) error {
	options, err := a.imports.rules.For(news.Name)
	if err != nil {
		return err
	}
	found, err := a.importers.For("", nil).Classify(ctx, ingestion.Job{
		ID: "shadow", Source: news.Name, SHA256: news.SHA256, Size: news.Size, Settings: options,
	})
	if err != nil {
		return err
	}
	r := found.Route
	reason := fmt.Sprintf("shadow: would be imported as %s (%s) by %s; decided by %s: %s", r.Kind, r.MediaType, r.Handler, r.Evidence.Decision, r.Evidence.Reason)
	if found.DuplicateBundle != "" {
		reason = fmt.Sprintf("shadow: would be a duplicate of %s; %s (%s)", found.DuplicateBundle, r.Kind, r.MediaType)
	}
	a.log.Info("file classified", "name", news.Name, "digest", news.SHA256, "kind", r.Kind, "media_type", r.MediaType, "handler", r.Handler,
		"declared", r.Evidence.Declared, "magic", r.Evidence.Magic, "extension", r.Evidence.Extension, "decision", r.Evidence.Decision, "reason", r.Evidence.Reason)
	return a.journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, reason, time.Now())
}
