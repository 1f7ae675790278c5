package daemon

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/media/remote"
)

// importScope is what the retention of fetched documents is counted over. Runs of workflows have scopes of their own.
const importScope = "import"

// DocumentFetcher fetches documents.
type DocumentFetcher interface {
	FetchDocument(ctx context.Context, address string, w io.Writer) (remote.Document, error)
}

// fetched is the store of fetched content, opened when it is first needed. Safe for concurrent use.
type fetched struct {
	mu    sync.Mutex
	store *artifact.Store
}

// artifacts opens the store.
func (w *Process) artifacts() (*artifact.Store, error) {
	w.fetched.mu.Lock()
	defer w.fetched.mu.Unlock()
	if w.fetched.store != nil {
		return w.fetched.store, nil
	}
	store, broken, err := artifact.Open(filepath.Join(w.StateDir, "artifacts"), artifact.Limits{}, w.liveRun, time.Now)
	if err != nil {
		return nil, err
	}
	if broken > 0 {
		w.Log.Warn("lines of the artifacts' manifest cannot be read", "count", broken)
	}
	w.fetched.store = store
	return store, nil
}

// liveRun reports whether a run may still continue. One that cannot be looked up may.
func (w *Process) liveRun(id string) bool {
	r, err := w.Journal.Runs.Run(context.Background(), id)
	return err != nil || !r.Status.Finished()
}

// close closes the store.
func (f *fetched) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.store == nil {
		return nil
	}
	return f.store.Close()
}
