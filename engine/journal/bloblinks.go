package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// blobID is a blob's digest, as bytes.
type blobID [sha256.Size]byte

func (b blobID) String() string { return hex.EncodeToString(b[:]) }

// digestsIn gives the digests that a text holds: runs of exactly 64 hexadecimal letters.
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
