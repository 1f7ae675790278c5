package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Blobs keeps large values by their digest, each in a file of its own.
type Blobs struct {
	db       *database
	sweeping sync.RWMutex // held for writing while an old blob is removed, for reading while one is found or stored
}

// Put stores a content and returns its digest. It is on disk when Put returns; a content that is there is not written
// again, and counts as new for [Journal.Sweep]. Blobs that the content names are linked, so that they stay as long as it does.
func (b *Blobs) Put(ctx context.Context, data []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	digest := digestOf(data)
	path := b.path(digest)
	b.sweeping.RLock()
	defer b.sweeping.RUnlock()
	if err := b.link(ctx, digest, data); err != nil {
		return "", fmt.Errorf("store blob %s: %w", digest, err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) && touch(path) == nil {
		return digest, nil
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("store blob %s: %w", digest, err)
	}
	if err := writeDurable(path, data); err != nil {
		return "", fmt.Errorf("store blob %s: %w", digest, err)
	}
	return digest, nil
}

// Get returns a content. A blob that does not fit its digest is an error, never returned. ErrNotFound when there is none.
func (b *Blobs) Get(ctx context.Context, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !validDigest(digest) {
		return nil, fmt.Errorf("blob %q: %w", digest, engine.ErrNotFound)
	}
	data, err := os.ReadFile(b.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", digest, engine.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", digest, err)
	}
	if digestOf(data) != digest {
		return nil, fmt.Errorf("read blob %s: its content has changed on disk", digest)
	}
	return data, nil
}

// holds says whether a blob is there. It is in use then, and counts as new for [Journal.Sweep].
func (b *Blobs) holds(digest string) bool {
	if !validDigest(digest) {
		return false
	}
	b.sweeping.RLock()
	defer b.sweeping.RUnlock()
	_, err := os.Stat(b.path(digest))
	if err == nil {
		_ = touch(b.path(digest)) // a reader may lack the right to; it keeps nothing in use
	}
	return err == nil
}

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

func (b *Blobs) path(digest string) string {
	return filepath.Join(b.db.dir, "blobs", digest[:2], digest)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func validDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == s
}

// writeDurable makes a file appear whole or not at all.
func writeDurable(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, werr := tmp.Write(data)
	if err := errors.Join(werr, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
