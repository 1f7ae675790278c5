package intake

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault/disk"
)

const (
	// followFor is how long an original is looked after when its import has ended. A program that has it open for writing
	// makes that longer, by a day at most.
	followFor = 10 * time.Minute
	// followedBefore is how far back a new serve looks for originals that grew while no serve was running.
	followedBefore = 24 * time.Hour
	// mostFollowedBefore bounds how many of these are looked at.
	mostFollowedBefore = 1000
)

// manifestIn reads the manifest of a bundle.
func manifestIn(v *disk.Vault, bundle string) (manifest.Manifest, error) {
	data, _, err := v.Read(path.Join(bundle, manifest.File), manifest.MaxBytes)
	if err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Parse(data)
}

// originals follows the originals of imports that have ended: a program may still write to a file that was moved. It knows at
// which name of the import folder each of them arrived.
type originals struct {
	watcher *disk.Watcher
	vault   *disk.Vault
	journal *journal.Journal
	imports *Imports
	log     *slog.Logger

	mu      sync.Mutex
	sources map[string]string // by the name that it has now. Guarded by mu
}

func (o *originals) learn(name, source string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sources[name] = source
}

func (o *originals) source(name string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	source, ok := o.sources[name]
	return source, ok
}

// earlier looks at the originals of the last day's imports: they may have grown while no serve was there.
func (o *originals) earlier(ctx context.Context) error {
	rows, err := o.journal.Imports.List(ctx, journal.ImportFilter{Limit: mostFollowedBefore})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range rows { // the newest first: that is the one whose bytes an original has
		if r.Filed == "" || seen[r.Filed] || !r.State.Finished() || time.Since(r.Finished) > followedBefore {
			continue
		}
		seen[r.Filed] = true
		o.follow(r, r.Finished)
	}
	return nil
}

func (o *originals) follow(r engine.ImportRecord, ended time.Time) {
	if r.Filed == "" || r.Filed == r.Source || r.SHA256 == "" {
		return
	}
	o.learn(r.Filed, r.Source)
	o.watcher.Follow(r.Filed, r.SHA256, ended.Add(followFor))
}

// replaced keeps watching an original that an import moved aside with its bundle to make room for the next version. Its writer
// may still have it open.
func (o *originals) replaced(r engine.ImportRecord) {
	if _, followed := o.source(r.Filed); !followed || path.Dir(r.Filed) != r.Bundle {
		return
	}
	m, err := manifestIn(o.vault, r.Bundle)
	if err != nil {
		return // a person was faster
	}
	for _, h := range m.Import.History {
		if h.Event == "version" && h.Bundle != "" && h.SHA256 != "" {
			o.follow(engine.ImportRecord{Source: r.Source, Filed: path.Join(h.Bundle, path.Base(r.Filed)), SHA256: h.SHA256}, time.Now())
		}
	}
}

// grown asks for the import of an original that was written on after it was taken, as the next version of its source.
func (o *originals) grown(ctx context.Context, news disk.Arrival) (string, error) {
	source, ok := o.source(news.Name)
	if !ok {
		return "", fmt.Errorf("%s is no original", news.Name)
	}
	if run, err := o.imports.underWay(ctx, disk.Arrival{Name: source, SHA256: news.SHA256}); err != nil || run != "" {
		return run, err
	}
	o.log.Info("an original was written on after it was taken; what it became is imported", "name", news.Name, "source", source)
	return o.imports.start(ctx, source, news.SHA256, request{where: news.Name})
}
