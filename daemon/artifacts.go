package daemon

import (
	"context"
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

// artifacts is the store of fetched content, opened when it is first needed. Safe for concurrent use.
type artifacts struct {
	dir  string
	live func(run string) bool // whether a run may still continue
	log  *slog.Logger

	mu    sync.Mutex
	store *artifact.Store // guarded by mu
}

var _ toolbox.Artifacts = (*artifacts)(nil)

func newArtifacts(stateDir string, live func(run string) bool, log *slog.Logger) *artifacts {
	return &artifacts{dir: filepath.Join(stateDir, "artifacts"), live: live, log: log}
}

func (a *artifacts) open() (*artifact.Store, error) {
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
func (a *artifacts) Keep(ctx context.Context, r io.Reader, from artifact.Source) (string, error) {
	store, err := a.open()
	if err != nil {
		return "", err
	}
	kept, err := store.Put(ctx, r, from)
	return kept.Ref, err
}

// Of implements toolbox.Artifacts.
func (a *artifacts) Of(run string) []tools.Artifact {
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
func (a *artifacts) Open(ref string) (io.ReadSeekCloser, error) {
	store, err := a.open()
	if err != nil {
		return nil, err
	}
	return store.Open(ref)
}

// sweep removes what is beyond the limits, at once and at every tick. It makes no store where nothing was ever fetched.
func (a *artifacts) sweep(ctx context.Context, ticks <-chan time.Time) error {
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

func (a *artifacts) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}

// noArtifacts keeps nothing, for previews.
type noArtifacts struct{}

var _ toolbox.Artifacts = noArtifacts{}

// Keep implements toolbox.Artifacts.
func (noArtifacts) Keep(context.Context, io.Reader, artifact.Source) (string, error) {
	return "", errPreview
}

// Of implements toolbox.Artifacts.
func (noArtifacts) Of(string) []tools.Artifact { return nil }

// Open implements toolbox.Artifacts.
func (noArtifacts) Open(string) (io.ReadSeekCloser, error) { return nil, errPreview }
