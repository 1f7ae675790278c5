package workers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/media"
)

// Importing returns the starter as imports use it.
func (w *Starter) Importing() reading.Worker { return importing{w} }

// importing starts workers for imports. A worker gets an open descriptor, never a name.
type importing struct{ workers *Starter }

var _ reading.Worker = importing{}

// Prepare implements reading.Worker.
func (s importing) Prepare(n int) { s.workers.Prepare(n) }

// Start implements reading.Worker.
func (s importing) Start(ctx context.Context, name string, o extract.Open) (reading.Session, extract.Document, error) {
	f, err := s.workers.vault.OpenFile(name)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer f.Close() // the worker has a descriptor of its own
	return s.on(ctx, f, o)
}

// StartFile implements reading.Worker.
func (s importing) StartFile(ctx context.Context, file fs.File, o extract.Open) (reading.Session, extract.Document, error) {
	f, ok := file.(*os.File)
	if !ok {
		return nil, extract.Document{}, fmt.Errorf("open a %T for the worker: %w", file, errors.ErrUnsupported)
	}
	return s.on(ctx, f, o)
}

// StartData implements reading.Worker.
func (s importing) StartData(ctx context.Context, data []byte, o extract.Open) (reading.Session, extract.Document, error) {
	f, remove, err := unnamed(data)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer remove()
	return s.on(ctx, f, o)
}

func (s importing) on(ctx context.Context, f *os.File, o extract.Open) (reading.Session, extract.Document, error) {
	session, document, err := s.workers.start(ctx, f, o)
	if err != nil {
		return nil, document, err
	}
	return session, document, nil
}

// Media returns the starter as prompts use it.
func (w *Starter) Media() media.Worker { return prompting{w} }

// prompting starts workers for prompts.
type prompting struct{ workers *Starter }

var _ media.Worker = prompting{}

// Ready implements media.Worker.
func (p prompting) Ready() error {
	_, err := exec.LookPath(p.workers.path())
	return err
}

// Open implements media.Worker. The worker maps the same open file whose digest was checked.
func (p prompting) Open(ctx context.Context, name, digest string, o extract.Open) (media.Session, extract.Document, error) {
	f, err := p.workers.vault.OpenFile(name)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer f.Close() // the worker has a descriptor of its own
	if digest != "" {
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return nil, extract.Document{}, fmt.Errorf("read %s: %w", name, err)
		}
		if hex.EncodeToString(sum.Sum(nil)) != digest {
			return nil, extract.Document{}, media.ErrChanged
		}
	}
	return p.start(ctx, f, o)
}

// OpenData implements media.Worker.
func (p prompting) OpenData(ctx context.Context, data []byte, o extract.Open) (media.Session, extract.Document, error) {
	f, remove, err := unnamed(data)
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer remove()
	return p.start(ctx, f, o)
}

// unnamed puts bytes into a file without a name, because the worker maps a file. The worker has a descriptor of its own when it
// has started; the file must be removed then.
func unnamed(data []byte) (f *os.File, remove func(), err error) {
	if f, err = os.CreateTemp("", "vaultflow-picture-*"); err != nil {
		return nil, nil, fmt.Errorf("make a file for the worker: %w", err)
	}
	gone := os.Remove(f.Name()) == nil // nothing remains of it, even if this process is killed; fails on Windows
	remove = func() {
		_ = f.Close() // nothing is written any more
		if !gone {
			_ = os.Remove(f.Name()) // the system's own sweep takes it otherwise
		}
	}
	if _, err := f.Write(data); err != nil {
		remove()
		return nil, nil, fmt.Errorf("fill the worker's file: %w", err)
	}
	return f, remove, nil
}

func (p prompting) start(ctx context.Context, f *os.File, o extract.Open) (media.Session, extract.Document, error) {
	if o.Kind == extract.KindPDF {
		o.Renderer, o.Passwords = p.workers.settings.Ingestion.PDF.Renderer, p.workers.passwords.All()
	}
	session, document, err := p.workers.start(ctx, f, o)
	if err != nil {
		return nil, document, err
	}
	return session, document, nil
}
