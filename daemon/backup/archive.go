// Package backup writes the state of a vault into one file, also while a serve works on it, and restores it.
//
// The file is a tar archive, compressed with gzip. Its first entry describes it, and its last holds the digests of all others, so
// that an archive which was cut off is never taken for a whole one.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

const (
	headName   = "backup.json"
	indexName  = "index.json"
	database   = "state.db"
	thisFormat = 1
	maxJSON    = 256 << 20 // bytes of head and index
	small      = 16 << 20  // bytes of a file that is held in memory
)

// Head describes an archive.
type Head struct {
	Format  int            `json:"format"`
	Made    time.Time      `json:"made"`
	Version string         `json:"version"` // of vaultflow
	Vault   vaultid.Record `json:"vault"`
}

// folders are those of a state directory that a backup holds.
var folders = []string{"blobs", "received", "artifacts"}

// decisions are the files that hold what the user has decided, and the secret of marks. What signs people in at the dashboard is not among
// them: what was withdrawn must not come back.
var decisions = []string{"secret", trustFile, "mcp-pins.json"}

const trustFile = "trust.json"

// archive is one that is being written.
type archive struct {
	zip   *gzip.Writer
	tar   *tar.Writer
	index map[string]string // SHA-256 by name
}

func newArchive(w io.Writer) *archive {
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is a valid one
	return &archive{zip, tar.NewWriter(zip), map[string]string{}}
}

func (a *archive) add(name string, data []byte) error {
	sum := sha256.Sum256(data)
	a.index[name] = hex.EncodeToString(sum[:])
	return a.entry(name, data)
}

func (a *archive) entry(name string, data []byte) error {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err := a.tar.Write(data)
	return err
}

func (a *archive) addJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.entry(name, data)
}

// copy adds a file of a folder, which may be large.
func (a *archive) copy(dir, name string) (err error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() <= small { // may be written meanwhile
		data, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		return a.add(name, data)
	}
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, sum), io.LimitReader(f, info.Size()))
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%s became shorter while it was read", name)
	}
	a.index[name] = hex.EncodeToString(sum.Sum(nil))
	return err
}

func (a *archive) close() error {
	err := a.addJSON(indexName, a.index)
	return errors.Join(err, a.tar.Close(), a.zip.Close())
}

// damaged is an archive that cannot be restored.
func damaged(path string, err error) error {
	return failure.New(failure.State, "nothing was changed; use another backup", "%s is damaged, or no backup: %v", path, err)
}

func newer(path string, head Head) error {
	return failure.New(failure.State, "use that version, or a later one", "%s was made by another version of vaultflow, %s", path, head.Version)
}

// extract unpacks an archive into an empty folder, and checks that it is whole.
func extract(ctx context.Context, archivePath, dir string) (head Head, err error) {
	f, err := os.Open(archivePath)
	if err != nil {
		return Head{}, failure.New(failure.State, "name a file that `vaultflow backup` wrote", "read the backup: %v", err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return Head{}, damaged(archivePath, err)
	}
	r := tar.NewReader(zip)
	if err := readJSON(r, headName, &head); err != nil {
		return Head{}, damaged(archivePath, err)
	}
	if head.Format != thisFormat {
		return Head{}, newer(archivePath, head)
	}
	have, want := map[string]string{}, map[string]string{}
	for {
		if err := ctx.Err(); err != nil {
			return Head{}, err
		}
		h, err := r.Next()
		if err != nil {
			return Head{}, damaged(archivePath, errors.Join(errors.New("it has no end"), err))
		}
		if h.Name == indexName {
			err = decode(r, &want)
			if err == nil {
				_, err = io.Copy(io.Discard, zip) //nolint:gosec // to the checksum; nothing is kept
			}
			if err == nil && !sameIndex(have, want) {
				err = errors.New("its files are not those of its index")
			}
			if err != nil {
				return Head{}, damaged(archivePath, err)
			}
			return head, nil
		}
		if _, twice := have[h.Name]; twice || !allowed(h) {
			return Head{}, damaged(archivePath, fmt.Errorf("it holds %q", h.Name))
		}
		if have[h.Name], err = unpack(r, filepath.Join(dir, filepath.FromSlash(h.Name))); err != nil {
			if errors.Is(err, errSource) {
				err = damaged(archivePath, err)
			}
			return Head{}, err
		}
	}
}

func sameIndex(have, want map[string]string) bool {
	for name, sum := range want {
		if have[name] != sum {
			return false
		}
	}
	return len(have) == len(want)
}

// allowed reports whether a backup holds such an entry.
func allowed(h *tar.Header) bool {
	if h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) || path.Clean(h.Name) != h.Name || strings.Contains(h.Name, `\`) {
		return false
	}
	top, below, deep := strings.Cut(h.Name, "/")
	if deep {
		return slices.Contains(folders, top) && !strings.HasPrefix(below, ".")
	}
	return h.Name == database || slices.Contains(decisions, h.Name)
}

// errSource marks errors of the archive, as against those of the disk.
var errSource = errors.New("it cannot be read")

// unpack writes one file, on the disk when it returns, and returns its SHA-256.
func unpack(r io.Reader, path string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	h, source := sha256.New(), &watched{r: r}
	_, err = io.Copy(io.MultiWriter(f, h), source)
	if source.err != nil {
		err = fmt.Errorf("%w: %w", errSource, source.err)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// watched remembers an error of a reader.
type watched struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func readJSON(r *tar.Reader, name string, into any) error {
	h, err := r.Next()
	if err != nil {
		return err
	}
	if h.Name != name {
		return fmt.Errorf("it begins with %q", h.Name)
	}
	return decode(r, into)
}

func decode(r io.Reader, into any) error {
	return json.NewDecoder(io.LimitReader(r, maxJSON)).Decode(into)
}
