package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/media"
)

// KeptPictures is how many bytes of pictures stay in memory for the next turn of a conversation. A collector lets twice as
// much gather, and a prompt of 100 pictures may take 64 MiB.
const KeptPictures = 16 << 20

// mediaWorker starts workers for prompts. It implements media.Worker.
type mediaWorker struct{ workers *Workers }

var _ media.Worker = mediaWorker{}

// Ready implements media.Worker.
func (m mediaWorker) Ready() error {
	_, err := exec.LookPath(m.workers.path())
	return err
}

// Open implements media.Worker: the very bytes whose digest was compared are what the worker maps.
func (m mediaWorker) Open(ctx context.Context, name, digest string, o extract.Open) (media.Session, extract.Document, error) {
	f, err := m.workers.vault.OpenFile(name)
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
	return m.start(ctx, f, o)
}

// OpenData implements media.Worker. The worker maps a file, so that one without a name is made for the bytes.
func (m mediaWorker) OpenData(ctx context.Context, data []byte, o extract.Open) (session media.Session, doc extract.Document, err error) {
	f, err := os.CreateTemp("", "vaultflow-picture-*")
	if err != nil {
		return nil, doc, fmt.Errorf("make a file for the worker: %w", err)
	}
	unnamed := os.Remove(f.Name()) == nil // nothing is left of it, even when this process is killed; not on Windows
	defer func() {
		_ = f.Close() // the worker has a descriptor of its own
		if !unnamed {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return nil, doc, fmt.Errorf("fill the worker's file: %w", err)
	}
	return m.start(ctx, f, o)
}

func (m mediaWorker) start(ctx context.Context, f *os.File, o extract.Open) (media.Session, extract.Document, error) {
	if o.Kind == extract.KindPDF {
		o.Renderer, o.Passwords = m.workers.settings.Ingestion.PDF.Renderer, m.workers.passwords.All()
	}
	session, document, err := m.workers.start(ctx, f, o)
	if err != nil {
		return nil, document, err
	}
	return session, document, nil
}
