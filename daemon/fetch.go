package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/remote"
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

// liveRun tells whether a run may still go on. One that cannot be looked up may.
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

// dropAsked does what another command asks for: it names an address or a file of this machine.
func (w *Process) dropAsked(ctx context.Context, o ImportOrder) (string, error) {
	if o.URL != "" {
		return w.dropURL(ctx, o)
	}
	return w.dropFile(ctx, o)
}

// dropURL fetches a document, keeps it as an artifact, and asks for its import. The name is the one that was asked for, else
// the host's.
func (w *Process) dropURL(ctx context.Context, o ImportOrder) (string, error) {
	if err := w.Trust.refusal("nothing is fetched from the web"); err != nil {
		return "", err
	}
	from := w.options.Web.Documents
	if from == nil {
		from = remote.New(w.outside.documents())
	}
	temp, err := os.CreateTemp("", "vaultflow-fetch-*")
	if err != nil {
		return "", fmt.Errorf("keep what is fetched: %w", err)
	}
	defer func() { _ = temp.Close(); _ = os.Remove(temp.Name()) }() // it is copied, or of no use
	document, err := from.FetchDocument(ctx, o.URL, temp)
	if err != nil {
		return "", fmt.Errorf("fetch: %w", err)
	}
	store, err := w.artifacts()
	if err != nil {
		return "", err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read what was fetched: %w", err)
	}
	shown := remote.Redact(o.URL) // the values of its query may be tokens: nothing that is kept repeats them
	kept, err := store.Put(ctx, temp, artifact.Source{Scope: importScope, MediaType: document.MediaType, URL: shown})
	if err != nil {
		return "", err
	}
	content, err := store.Open(kept.Ref)
	if err != nil {
		return "", err
	}
	defer content.Close()
	if o.Name == "" {
		o.Name = document.Name
	}
	o.source, o.declared = shown, document.MediaType
	return w.drop(ctx, content, o.Name, o.ImportHow)
}

// dropOrTake asks for the import of a file of this machine, or of one that lies in the import folder.
func (w *Process) DropOrTake(ctx context.Context, o ImportOrder) (string, error) {
	if o.URL != "" || o.Path != "" {
		return w.dropAsked(ctx, o)
	}
	f, err := w.Vault.FS().Open(o.Name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", o.Name, err)
	}
	return w.startImport(ctx, o.Name, hex.EncodeToString(sum.Sum(nil)), o.ImportHow)
}
