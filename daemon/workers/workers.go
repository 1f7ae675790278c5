// Package workers starts the programs that read documents, vaultflow-worker and LibreOffice, and keeps the passwords for them.
package workers

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
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
	queue     *queue
}

// New returns a starter that opens files of v, and has its part of the room.
func New(s *settings.Settings, v *disk.Vault, stateDir string, p *Passwords, room *Room, log *slog.Logger) *Starter {
	// A worker at work answers within these times.
	patience := max(slotPatience, (s.Ingestion.OpenTimeout + s.Ingestion.PageTimeout).Std())
	return &Starter{settings: s, vault: v, stateDir: stateDir, passwords: p, log: log, queue: newQueue(room, patience, log)}
}

// Memory returns what the system or the settings allow, and how it is divided.
func (w *Starter) Memory() (memory.Found, memory.Share) {
	return w.queue.room.found, w.queue.room.share
}

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

// Prepare has so many workers wait for a document, as far as there is room for them, and returns at once.
func (w *Starter) Prepare(n int) {
	if n = w.queue.room.places.Free(n); n > 0 {
		w.queue.room.pool.Prepare(w.config(), n)
	}
}

// start opens a document in a worker.
func (w *Starter) start(ctx context.Context, f *os.File, o extract.Open) (session, extract.Document, error) {
	if o.Kind == extract.KindPDF {
		w.queue.room.warm(ctx, w.config(), w.log)
	}
	free, err := w.queue.slot(ctx)
	if err != nil {
		return session{}, extract.Document{}, err
	}
	opened, document, err := w.queue.room.pool.Start(ctx, w.config(), f, o)
	if err != nil {
		free()
		return session{}, document, err
	}
	progress := w.queue.room.progress
	progress()
	return session{opened, free, progress}, document, nil
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
		MemoryBytes: min(w.queue.room.share.Worker, int64(w.settings.Ingestion.Memory)), RequireConfinement: in.RequireConfinement, Logger: w.log, Cache: w.cache(),
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
