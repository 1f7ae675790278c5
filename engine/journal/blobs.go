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

// holds reports whether a blob is there. It is in use then, and counts as new for [Journal.Sweep].
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

// blobID is a blob's digest, as bytes.
type blobID [sha256.Size]byte

func (b blobID) String() string { return hex.EncodeToString(b[:]) }

// digestsIn returns the digests that a text holds: runs of exactly 64 hexadecimal letters.
func digestsIn(text []byte, found func(blobID)) {
	const size = 2 * sha256.Size
	for i := 0; i+size <= len(text); {
		k := size - 1
		for k >= 0 && isHex(text[i+k]) { // from its end: where none can be, most of the text is passed over
			k--
		}
		if k >= 0 {
			i += k + 1
			continue
		}
		end := i + size
		for end < len(text) && isHex(text[end]) {
			end++
		}
		if end == i+size {
			var id blobID
			if _, err := hex.Decode(id[:], text[i:end]); err == nil {
				found(id)
			}
		}
		i = end
	}
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// link stores which blobs a content names, before the content is there.
func (b *Blobs) link(ctx context.Context, digest string, data []byte) error {
	seen := map[blobID]bool{}
	digestsIn(data, func(id blobID) {
		if _, known := seen[id]; !known {
			_, err := os.Stat(b.path(id.String()))
			seen[id] = err == nil
		}
	})
	own, err := hex.DecodeString(digest)
	if err != nil {
		return err
	}
	for id, there := range seen {
		if !there {
			continue
		}
		if _, err := change(ctx, b.db.write, `INSERT INTO blob_links (refers, blob) VALUES (?, ?) ON CONFLICT DO NOTHING`, id[:], own); err != nil {
			return fmt.Errorf("link it: %w", err)
		}
	}
	return nil
}

// linkAll links the blobs that versions before have stored. It reads each once, over the life of a database.
func (b *Blobs) linkAll(ctx context.Context, now time.Time) error {
	if at, err := b.db.upkept(ctx, "links"); err != nil || !at.IsZero() {
		return err
	}
	err := b.each(ctx, func(id blobID, _ fs.FileInfo) error {
		data, err := os.ReadFile(b.path(id.String()))
		if err != nil {
			return err
		}
		return b.link(ctx, id.String(), data)
	})
	if err != nil {
		return fmt.Errorf("link blobs: %w", err)
	}
	return b.db.keptUp(ctx, "links", now)
}

// each visits all blobs; files that are none are passed over.
func (b *Blobs) each(ctx context.Context, visit func(blobID, fs.FileInfo) error) error {
	dirs, err := os.ReadDir(filepath.Join(b.db.dir, "blobs"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		files, err := os.ReadDir(filepath.Join(b.db.dir, "blobs", dir.Name()))
		if err != nil {
			continue // no folder of ours
		}
		for _, file := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			var id blobID
			info, err := file.Info()
			if err != nil || !validDigest(file.Name()) {
				continue
			}
			if _, err := hex.Decode(id[:], []byte(file.Name())); err != nil {
				continue
			}
			if err := visit(id, info); err != nil {
				return err
			}
		}
	}
	return nil
}
