package disk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

const (
	tempPrefix = ".vaultflow-"
	tempSuffix = ".tmp"

	fileMode = 0o644
	dirMode  = 0o755
)

// folder is the vault's folder: what all parts of a Vault do to it, durably and never outside of it.
type folder struct {
	path   string // absolute, links resolved
	root   *os.Root
	opt    Options
	log    *slog.Logger
	filter *filter
	index  *index

	sync func(*os.File) error // makes a file or the entries of a folder last

	writing sync.Mutex // held from the last look at a target to its rename, so that our own writers never race
}

// temporary reports whether a name is that of one of our temporary files.
func temporary(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix)
}

// digestFile reads a file to its end.
func digestFile(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fill writes a temporary file in a folder, durably, and returns its name. On failure nothing is left.
func (f *folder) fill(dir string, like fs.FileInfo, write func(*os.File) error) (name string, err error) {
	temp := path.Join(dir, tempPrefix+strings.ToLower(rand.Text())+tempSuffix)
	mode := fs.FileMode(fileMode)
	if like != nil {
		mode = like.Mode().Perm()
	}
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(f.root.Remove(temp)))
		}
	}()
	if err := write(file); err != nil {
		file.Close()
		return "", err
	}
	if like != nil {
		keepOwner(file, like)
		if err := file.Chmod(mode); err != nil {
			file.Close()
			return "", err
		}
	}
	return temp, errors.Join(f.sync(file), file.Close())
}

// overwrite puts a file into the folder. Its entry lasts when the folder is synced.
func (f *folder) overwrite(name string, data []byte) error {
	temp, err := f.fill(".", nil, func(file *os.File) error { _, err := file.Write(data); return err })
	if err != nil {
		return err
	}
	if err := f.root.Rename(temp, name); err != nil {
		return errors.Join(err, ignoreMissing(f.root.Remove(temp)))
	}
	return nil
}

// place renames a temporary file to its name, which must be free: a file that appears meanwhile is never overwritten.
func (f *folder) place(temp, name string) error {
	err := f.root.Link(temp, name)
	switch {
	case err == nil:
		err = f.root.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case noLinks(err):
		if _, err := f.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fs.ErrExist, ignoreMissing(err))
		}
		err = f.root.Rename(temp, name)
	}
	return errors.Join(err, f.syncDir(path.Dir(name)))
}

// syncDir makes the entries of a folder durable. Some file systems refuse to sync a folder; they have no better.
func (f *folder) syncDir(name string) error {
	dir, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := f.sync(dir); err != nil && !refusesSync(err) {
		return fmt.Errorf("sync folder %q: %w", name, err)
	}
	return nil
}

func refusesSync(err error) bool {
	return errors.Is(err, fs.ErrInvalid) || errors.Is(err, errors.ErrUnsupported) || noLinks(err)
}

// makeDir makes a folder and those above it, durably.
func (f *folder) makeDir(name string) error {
	if info, err := f.root.Stat(name); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: errors.New("a file has this name")}
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return explain(f.root, "mkdir", name, name, err)
	}
	parent := path.Dir(name)
	if err := f.makeDir(parent); err != nil {
		return err
	}
	if err := f.root.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return explain(f.root, "mkdir", name, name, err)
	}
	return f.syncDir(parent)
}

// openFolder opens a folder, which exists afterwards and is reached through no link. The caller closes its root.
func (f *folder) openFolder(name string) (*folder, error) {
	if err := errors.Join(f.straight(name), f.makeDir(name)); err != nil {
		return nil, err
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, explain(f.root, "open", name, name, err)
	}
	return &folder{root: root, sync: f.sync}, nil
}

// actual is a name as it is spelled in the vault. A file that differs from the name in case or in its Unicode form
// only is the same file to a person, to Obsidian and to most systems a vault is synced to; where it is the only one,
// it is taken. What does not exist keeps its spelling, below folders that do.
func (f *folder) actual(name string) string {
	if _, err := f.root.Lstat(name); err == nil {
		return name
	}
	found := "."
	parts := strings.Split(name, "/")
	for i, part := range parts {
		next := path.Join(found, part)
		if _, err := f.root.Lstat(next); err != nil {
			next = f.twin(found, part)
		}
		if next == "" {
			return path.Join(found, path.Join(parts[i:]...))
		}
		found = next
	}
	return found
}

// twin is the only entry of a folder with this name when case and Unicode form do not count, or empty.
func (f *folder) twin(dir, part string) string {
	entries, err := readDir(f.root, dir)
	if err != nil {
		return ""
	}
	folded, found := vault.Fold(part), ""
	for _, e := range entries {
		if vault.Fold(e.Name()) != folded {
			continue
		}
		if found != "" {
			return ""
		}
		found = path.Join(dir, e.Name())
	}
	return found
}

// copyContext copies until the source ends or ctx does.
func copyContext(ctx context.Context, w io.Writer, r io.Reader) (int64, error) {
	return io.Copy(w, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// staleAfter is the age at which a temporary file belongs to a process that is gone: a write takes seconds.
const staleAfter = 10 * time.Minute

func (f *folder) removeStale(name string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < staleAfter {
		return
	}
	if err := f.root.Remove(name); err != nil {
		f.log.Warn("temporary file not removed", "name", name, "err", err)
		return
	}
	f.log.Info("temporary file of an interrupted write removed", "name", name)
}

func (f *folder) isFolder(name string) bool {
	info, err := f.root.Lstat(name)
	return err == nil && info.IsDir()
}

// removeSame removes a file whose bytes are safe elsewhere, unless it changed meanwhile.
func (f *folder) removeSame(name, sum string) error {
	have, _, err := f.digestOf(name)
	if err != nil || have == "" {
		return err
	}
	if have != sum {
		return &vault.ConflictError{Name: name, Want: sum, Have: have}
	}
	return errors.Join(f.root.Remove(name), f.syncDir(path.Dir(name)))
}

// makeFolder makes a folder; those of its parts that do not exist need good names.
func (f *folder) makeFolder(dir string) error {
	if dir == "." {
		return nil
	}
	if info, err := f.root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if reason := vault.PartFault(path.Base(dir)); reason != "" {
		return &vault.NameError{Name: dir, Reason: reason}
	}
	if err := f.makeFolder(path.Dir(dir)); err != nil {
		return err
	}
	return f.makeDir(dir)
}

// sweep removes temporary files that an interrupted write has left in a bundle: they must not be published.
func (f *folder) sweep(dir string) error {
	entries, err := readDir(f.root, dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		name := path.Join(dir, d.Name())
		switch {
		case d.IsDir():
			err = f.sweep(name)
		case temporary(name):
			err = ignoreMissing(f.root.Remove(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
