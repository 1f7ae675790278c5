// Package workers starts the programs that read documents, vaultflow-worker and LibreOffice, and keeps the passwords for them.
package workers

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/daemon/memory"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// RendererOf translates a setting for ingestion, where the automatic choice is "".
func RendererOf(setting string) string {
	if setting == extract.RenderAuto {
		return ""
	}
	return setting
}

// Starter starts vaultflow-worker and LibreOffice as the settings say. Make one with [New].
type Starter struct {
	settings  *settings.Settings
	vault     *disk.Vault
	stateDir  string
	passwords *Passwords
	log       *slog.Logger
	memory    memory.Found
	share     memory.Share
	slots     chan struct{} // one for each worker that has a document
	patience  time.Duration // how long a document waits without progress of any other
	moved     atomic.Int64  // when a worker last answered or ended, in nanoseconds

	pool    *sandbox.Pool
	warming sync.Mutex
	cold    bool // PDFium's machine code cannot be kept. Guarded by warming
}

// New returns a starter that opens files of v. It divides the memory that there is, and sets the limit of this process.
func New(s *settings.Settings, v *disk.Vault, stateDir string, p *Passwords, log *slog.Logger) *Starter {
	w := &Starter{settings: s, vault: v, stateDir: stateDir, passwords: p, log: log}
	if w.memory = memory.Find(os.DirFS("/")); s.Engine.Memory > 0 {
		w.memory = memory.Found{Bytes: int64(s.Engine.Memory), From: "engine.memory"}
	}
	w.share = memory.Split(w.memory.Bytes, int64(s.Ingestion.Memory), runtime.GOMAXPROCS(0))
	// A worker at work answers within these times.
	w.patience = max(slotPatience, (s.Ingestion.OpenTimeout + s.Ingestion.PageTimeout).Std())
	w.slots = make(chan struct{}, w.share.Workers)
	w.pool = sandbox.NewPool(w.config)
	debug.SetMemoryLimit(w.share.Daemon)
	return w
}

// Memory returns what the system or the settings allow, and how it is divided.
func (w *Starter) Memory() (memory.Found, memory.Share) { return w.memory, w.share }

// slotPatience is how long, at least, a document waits for others that make no progress.
const slotPatience = time.Minute

// slot waits for room for one more worker, and returns what makes room again. It waits for as long as others make progress. If nobody
// does, those that have room may wait for one another, as a prompt does that reads one document beside another: then the worker is
// started all the same.
func (w *Starter) slot(ctx context.Context) (free func(), err error) {
	since := time.Now()
	for {
		patience := time.NewTimer(w.patience - time.Since(since))
		select {
		case w.slots <- struct{}{}:
			patience.Stop()
			return sync.OnceFunc(func() { w.progress(); <-w.slots }), nil
		case <-ctx.Done():
			patience.Stop()
			return nil, ctx.Err()
		case <-patience.C:
		}
		moved := time.Unix(0, w.moved.Load())
		if !moved.After(since) {
			w.log.Info("a worker is started beyond engine.memory: no other made progress", "waited", w.patience)
			return func() {}, nil
		}
		since = moved
	}
}

// progress records that a worker did something.
func (w *Starter) progress() { w.moved.Store(time.Now().UnixNano()) }

// session is a worker that holds a slot until it is closed.
type session struct {
	*sandbox.Session
	free     func()
	progress func()
}

// Page asks for a page.
func (s session) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	defer s.progress()
	return s.Session.Page(ctx, r)
}

// Close ends the worker.
func (s session) Close() error {
	defer s.free()
	return s.Session.Close()
}

// cache returns the folder for PDFium's machine code (19 MB): in the user's cache folder, or else in the state directory.
func (w *Starter) cache() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = w.stateDir
	}
	dir := filepath.Join(base, "vaultflow", "worker")
	if os.MkdirAll(dir, 0o700) != nil { // it must exist before a worker starts: the worker may read only what it was given
		dir = filepath.Join(w.stateDir, "worker")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.log.Debug("no folder for the worker's machine code", "err", err)
			return ""
		}
	}
	return dir
}

// warm compiles PDFium, once for each build of the worker. A worker with a document cannot keep the machine code: it would compile it
// in the time of a page.
func (w *Starter) warm(ctx context.Context, c sandbox.Config) {
	w.warming.Lock()
	defer w.warming.Unlock()
	if w.cold {
		return
	}
	if err := c.Warm(ctx); err != nil && ctx.Err() == nil {
		w.cold = true
		w.log.Warn("each PDF that needs PDFium waits until it is compiled, because its machine code could not be kept", "err", err)
	}
}

// Prepare has so many workers wait for a document, as far as there is room for them, and returns at once.
func (w *Starter) Prepare(n int) {
	if n = min(n, cap(w.slots)-len(w.slots)); n > 0 {
		w.pool.Prepare(n)
	}
}

// Close ends the workers that wait for a document.
func (w *Starter) Close() { w.pool.Close() }

// start opens a document in a worker.
func (w *Starter) start(ctx context.Context, f *os.File, o extract.Open) (session, extract.Document, error) {
	if o.Kind == extract.KindPDF {
		w.warm(ctx, w.config())
	}
	free, err := w.slot(ctx)
	if err != nil {
		return session{}, extract.Document{}, err
	}
	opened, document, err := w.pool.Start(ctx, f, o)
	if err != nil {
		free()
		return session{}, document, err
	}
	w.progress()
	return session{opened, free, w.progress}, document, nil
}

// Report starts a worker without a document and returns what it says about itself.
func (w *Starter) Report(ctx context.Context) (sandbox.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return sandbox.Self(ctx, w.config(), w.settings.Ingestion.OCR.Languages)
}

// config returns how workers are started.
func (w *Starter) config() sandbox.Config {
	in := w.settings.Ingestion
	return sandbox.Config{
		Worker: w.path(), Tessdata: in.Tessdata, PageTimeout: in.PageTimeout.Std(), OpenTimeout: in.OpenTimeout.Std(),
		MemoryBytes: w.share.Worker, RequireConfinement: in.RequireConfinement, Logger: w.log, Cache: w.cache(),
	}
}

// path returns the worker's binary: the setting, or else the one beside this binary, or else the one in PATH.
func (w *Starter) path() string {
	if path := w.settings.Ingestion.Worker; path != "" {
		return path
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), "vaultflow-worker")
			if _, err := os.Stat(beside); err == nil {
				return beside
			}
		}
	}
	return "vaultflow-worker"
}

// Problem returns why no worker can be started, or "".
func (w *Starter) Problem(ctx context.Context) string {
	report, err := w.Report(ctx)
	if err != nil {
		return err.Error()
	}
	for _, p := range report.Problems {
		return p.Message + "; " + p.Fix
	}
	return ""
}
