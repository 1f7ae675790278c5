package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// rendererOf is the setting in ingestion's words, which have none for the usual.
func rendererOf(setting string) string {
	if setting == extract.RenderAuto {
		return ""
	}
	return setting
}

// Workers starts the programs that read documents: vaultflow-worker and LibreOffice.
type Workers struct {
	settings  *settings.Settings
	vault     *disk.Vault
	stateDir  string
	passwords *Passwords
	log       *slog.Logger
}

// cache is the folder of PDFium's machine code, 19 MB: in the user's folder of caches, else in the state directory.
func (w *Workers) cache() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = w.stateDir
	}
	dir := filepath.Join(base, "vaultflow", "worker")
	if os.MkdirAll(dir, 0o700) != nil { // it has to be there before a worker starts, which may read what comes into it later
		dir = filepath.Join(w.stateDir, "worker")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.log.Debug("no folder for the worker's machine code", "err", err)
			return ""
		}
	}
	return dir
}

// start opens a document in a worker. When it is one for PDFium, the machine code of that is made first, once for
// each build of the worker: the page that needs it would wait for it otherwise.
func (w *Workers) start(ctx context.Context, f *os.File, o extract.Open) (*sandbox.Session, extract.Document, error) {
	c := w.config()
	session, document, err := c.Start(ctx, f, o)
	if err == nil && document.WantsPDFium {
		if err := c.Warm(ctx); err != nil {
			w.log.Info("pdfium starts slowly: its machine code could not be kept", "err", err)
		}
	}
	return session, document, err
}

// Report starts a worker on nothing and asks what it is.
func (w *Workers) Report(ctx context.Context) (sandbox.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return sandbox.Self(ctx, w.config(), w.settings.Ingestion.OCR.Languages)
}

// config is how workers are started.
func (w *Workers) config() sandbox.Config {
	in := w.settings.Ingestion
	return sandbox.Config{
		Worker: w.path(), Tessdata: in.Tessdata, PageTimeout: in.PageTimeout.Std(), OpenTimeout: in.OpenTimeout.Std(),
		MemoryBytes: int64(in.Memory), RequireConfinement: in.RequireConfinement, Logger: w.log, Cache: w.cache(),
	}
}

// path is the worker's binary: the setting, else the one beside this binary, else the one that PATH finds.
func (w *Workers) path() string {
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

// sessions start workers on files of the vault: a worker gets an open descriptor and no name.
type sessions struct{ workers *Workers }

var _ reading.Worker = sessions{}

// Start implements reading.Worker.
func (s sessions) Start(ctx context.Context, name string, o extract.Open) (reading.Session, extract.Document, error) {
	f, err := s.workers.vault.OpenFile(name)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer f.Close() // the worker has a descriptor of its own
	return s.on(ctx, f, o)
}

// StartFile implements reading.Worker: files of bundles are files of the system.
func (s sessions) StartFile(ctx context.Context, file fs.File, o extract.Open) (reading.Session, extract.Document, error) {
	f, ok := file.(*os.File)
	if !ok {
		return nil, extract.Document{}, fmt.Errorf("open a %T for the worker: %w", file, errors.ErrUnsupported)
	}
	return s.on(ctx, f, o)
}

func (s sessions) on(ctx context.Context, f *os.File, o extract.Open) (reading.Session, extract.Document, error) {
	session, document, err := s.workers.start(ctx, f, o)
	if err != nil {
		return nil, document, err
	}
	return session, document, nil
}

// Problem returns why no worker can be started, or "".
func (w *Workers) Problem(ctx context.Context) string {
	report, err := w.Report(ctx)
	if err != nil {
		return err.Error()
	}
	for _, p := range report.Problems {
		return p.Message + "; " + p.Fix
	}
	return ""
}
