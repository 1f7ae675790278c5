// Package artifacts keeps what is fetched for runs in the state directory: a store that is opened when it is first needed.
package artifacts

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/toolbox"
)

// Artifacts is the store of fetched content. Make one with [New]. It is safe for concurrent use.
type Artifacts struct {
	dir  string
	live func(run string) bool // whether a run may still continue
	log  *slog.Logger

	mu    sync.Mutex
	store *artifact.Store // guarded by mu
}

var _ toolbox.Artifacts = (*Artifacts)(nil)

// New returns the artifacts of a state directory. live reports whether a run may still continue.
func New(stateDir string, live func(run string) bool, log *slog.Logger) *Artifacts {
	return &Artifacts{dir: filepath.Join(stateDir, "artifacts"), live: live, log: log}
}

func (a *Artifacts) open() (*artifact.Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store != nil {
		return a.store, nil
	}
	store, broken, err := artifact.Open(a.dir, artifact.Limits{}, a.live, time.Now)
	if err != nil {
		return nil, err
	}
	if broken > 0 {
		a.log.Warn("lines of the artifacts' manifest cannot be read", "count", broken)
	}
	a.store = store
	return store, nil
}

// Keep implements toolbox.Artifacts.
func (a *Artifacts) Keep(ctx context.Context, r io.Reader, from artifact.Source) (string, error) {
	store, err := a.open()
	if err != nil {
		return "", err
	}
	kept, err := store.Put(ctx, r, from)
	return kept.Ref, err
}

// Of implements toolbox.Artifacts.
func (a *Artifacts) Of(run string) []tools.Artifact {
	store, err := a.open()
	if err != nil {
		a.log.Warn("artifacts cannot be listed", "err", err)
		return nil
	}
	var list []tools.Artifact
	for _, found := range store.Of(run) {
		list = append(list, tools.Artifact{Ref: found.Ref, Line: found.Line()})
	}
	return list
}

// Open implements toolbox.Artifacts.
func (a *Artifacts) Open(ref string) (io.ReadSeekCloser, error) {
	store, err := a.open()
	if err != nil {
		return nil, err
	}
	return store.Open(ref)
}

// Sweep removes what is beyond the limits, at once and at every tick. It makes no store where nothing was ever fetched.
func (a *Artifacts) Sweep(ctx context.Context, ticks <-chan time.Time) error {
	for {
		if _, err := os.Stat(a.dir); err == nil {
			store, err := a.open()
			if err == nil {
				var removed int
				if removed, err = store.Sweep(); removed > 0 {
					a.log.Info("artifacts removed", "count", removed)
				}
			}
			if err != nil {
				a.log.Warn("artifacts not swept", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}

// Close closes the store, if it was opened.
func (a *Artifacts) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}

// None keeps nothing, for previews.
type None struct{}

var errNone = errors.New("a preview stores nothing")

var _ toolbox.Artifacts = None{}

// Keep implements toolbox.Artifacts.
func (None) Keep(context.Context, io.Reader, artifact.Source) (string, error) {
	return "", errNone
}

// Of implements toolbox.Artifacts.
func (None) Of(string) []tools.Artifact { return nil }

// Open implements toolbox.Artifacts.
func (None) Open(string) (io.ReadSeekCloser, error) { return nil, errNone }
