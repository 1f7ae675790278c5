package daemon

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
)

// rendererOf is the setting in ingestion's words, which have none for the usual.
func rendererOf(setting string) string {
	if setting == extract.RenderAuto {
		return ""
	}
	return setting
}

// workerCache is the folder of PDFium's machine code, 19 MB: in the user's folder of caches, else in the state directory.
func (a *Workspace) workerCache() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = a.StateDir
	}
	dir := filepath.Join(base, "vaultflow", "worker")
	if os.MkdirAll(dir, 0o700) != nil { // it has to be there before a worker starts, which may read what comes into it later
		dir = filepath.Join(a.StateDir, "worker")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			a.Log.Debug("no folder for the worker's machine code", "err", err)
			return ""
		}
	}
	return dir
}

// startWorker opens a document in a worker. When it is one for PDFium, the machine code of that is made first, once for
// each build of the worker: the page that needs it would wait for it otherwise.
func (a *Workspace) startWorker(ctx context.Context, f *os.File, o extract.Open) (*sandbox.Session, extract.Document, error) {
	c := a.sandbox()
	session, document, err := c.Start(ctx, f, o)
	if err == nil && document.WantsPDFium {
		if err := c.Warm(ctx); err != nil {
			a.Log.Info("pdfium starts slowly: its machine code could not be kept", "err", err)
		}
	}
	return session, document, err
}

// workerReport starts a worker on nothing and asks what it is.
func (a *Workspace) WorkerReport(ctx context.Context) (sandbox.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return sandbox.Self(ctx, a.sandbox(), a.Settings.Ingestion.OCR.Languages)
}
