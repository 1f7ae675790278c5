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
	"os"
	"path"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

const (
	tempPrefix = ".vaultflow-"
	tempSuffix = ".tmp"

	fileMode = 0o644
	dirMode  = 0o755
)

// temporary says whether the last part of a name is that of one of our temporary files.
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

// fill writes a temporary file in a folder, durably, and gives its name. On failure nothing is left.
func (v *Vault) fill(dir string, like fs.FileInfo, write func(*os.File) error) (name string, err error) {
	temp := path.Join(dir, tempPrefix+strings.ToLower(rand.Text())+tempSuffix)
	mode := fs.FileMode(fileMode)
	if like != nil {
		mode = like.Mode().Perm()
	}
	file, err := v.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(v.root.Remove(temp)))
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
	return temp, errors.Join(file.Sync(), file.Close())
}

// place gives a temporary file its name, which must be free: a file that appears meanwhile is never overwritten.
func (v *Vault) place(temp, name string) error {
	err := v.root.Link(temp, name)
	switch {
	case err == nil:
		err = v.root.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case noLinks(err):
		if _, err := v.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fs.ErrExist, ignoreMissing(err))
		}
		err = v.root.Rename(temp, name)
	}
	return errors.Join(err, v.syncDir(path.Dir(name)))
}

// syncDir makes the entries of a folder durable. Some file systems refuse to sync a folder; they have no better.
func (v *Vault) syncDir(name string) error {
	dir, err := v.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !refusesSync(err) {
		return fmt.Errorf("sync folder %q: %w", name, err)
	}
	return nil
}

func refusesSync(err error) bool {
	return errors.Is(err, fs.ErrInvalid) || errors.Is(err, errors.ErrUnsupported) || noLinks(err)
}

// makeDir makes a folder and those above it, durably.
func (v *Vault) makeDir(name string) error {
	if info, err := v.root.Stat(name); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: errors.New("a file has this name")}
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return explain(v.root, "mkdir", name, name, err)
	}
	parent := path.Dir(name)
	if err := v.makeDir(parent); err != nil {
		return err
	}
	if err := v.root.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return explain(v.root, "mkdir", name, name, err)
	}
	return v.syncDir(parent)
}

// actual is a name as it is spelled in the vault. A file that differs from the name in case or in its Unicode form
// only is the same file to a person, to Obsidian and to most systems a vault is synced to; where it is the only one,
// it is taken. What does not exist keeps its spelling, below folders that do.
func (v *Vault) actual(name string) string {
	if _, err := v.root.Lstat(name); err == nil {
		return name
	}
	found := "."
	parts := strings.Split(name, "/")
	for i, part := range parts {
		next := path.Join(found, part)
		if _, err := v.root.Lstat(next); err != nil {
			next = v.twin(found, part)
		}
		if next == "" {
			return path.Join(found, path.Join(parts[i:]...))
		}
		found = next
	}
	return found
}

// twin is the only entry of a folder with this name when case and Unicode form do not count, or empty.
func (v *Vault) twin(dir, part string) string {
	entries, err := readDir(v.root, dir)
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

func (v *Vault) removeStale(name string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < staleAfter {
		return
	}
	if err := v.root.Remove(name); err != nil {
		v.log.Warn("temporary file not removed", "name", name, "err", err)
		return
	}
	v.log.Info("temporary file of an interrupted write removed", "name", name)
}
