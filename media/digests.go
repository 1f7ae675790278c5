package media

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Digests remembers the digests of files, so that the pictures of a note are read once, not for every look at its prompt. A file
// is read again when its size, its time or the file itself is another one. Who sends it checks the digest once more. It is safe for
// concurrent use; nil remembers nothing.
type Digests struct {
	mu    sync.Mutex
	files map[string]fileState // by name; guarded by mu
}

type fileState struct {
	info   fs.FileInfo
	sha256 string
}

// maxDigests is how many files are remembered.
const maxDigests = 20_000

// settled is how old a change is when no other one can have the same time.
const settled = 2 * time.Second

// NewDigests returns an empty memory.
func NewDigests() *Digests { return &Digests{files: map[string]fileState{}} }

// of returns the digest of a file, which is read only if it is not known.
func (d *Digests) of(name string, info fs.FileInfo, file io.Reader) (string, error) {
	if d != nil {
		d.mu.Lock()
		last, ok := d.files[name]
		d.mu.Unlock()
		if ok && unchanged(last.info, info) {
			return last.sha256, nil
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if d != nil && time.Since(info.ModTime()) > settled {
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.files) >= maxDigests {
			clear(d.files)
		}
		d.files[name] = fileState{info, digest}
	}
	return digest, nil
}

// unchanged reports whether a file is the one that was seen before. Files in memory have no identity.
func unchanged(before, now fs.FileInfo) bool {
	return before.Size() == now.Size() && before.ModTime().Equal(now.ModTime()) && (now.Sys() == nil || os.SameFile(before, now))
}
