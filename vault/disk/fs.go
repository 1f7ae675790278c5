package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/vaultflow/vaultflow/vault"
)

// rootFS is a folder of the vault as an fs.FS.
type rootFS struct {
	root *os.Root
	dir  string // "." or the name of a folder

	closed []string // folded names of files and folders that are left out
}

var (
	_ fs.ReadDirFS  = rootFS{}
	_ fs.StatFS     = rootFS{}
	_ fs.ReadFileFS = rootFS{}
	_ fs.ReadLinkFS = rootFS{}
)

func (f rootFS) full(op, name string) (string, error) {
	if err := vault.CheckInside(name); err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	full := path.Join(f.dir, name)
	if f.isClosed(full) {
		return "", closedEntry(op, name)
	}
	return full, nil
}

// Open implements fs.FS.
func (f rootFS) Open(name string) (fs.File, error) {
	full, err := f.full("open", name)
	if err != nil {
		return nil, err
	}
	file, err := openRead(f.root, full)
	if err != nil {
		return nil, explain(f.root, "open", name, full, err)
	}
	return f.openedFolder(full, file), nil
}

// ReadDir implements fs.ReadDirFS: entries sorted by name.
func (f rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	full, err := f.full("readdir", name)
	if err != nil {
		return nil, err
	}
	entries, err := readDir(f.root, full)
	if err != nil {
		return entries, explain(f.root, "readdir", name, full, err)
	}
	return f.opened(full, entries), nil
}

// Stat implements fs.StatFS.
func (f rootFS) Stat(name string) (fs.FileInfo, error) {
	full, err := f.full("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := f.root.Stat(full)
	if err != nil {
		return nil, explain(f.root, "stat", name, full, err)
	}
	return info, nil
}

// ReadFile implements fs.ReadFileFS. It reads files of any size; Vault.Read has a limit.
func (f rootFS) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Lstat implements fs.ReadLinkFS.
func (f rootFS) Lstat(name string) (fs.FileInfo, error) {
	full, err := f.full("lstat", name)
	if err != nil {
		return nil, err
	}
	info, err := f.root.Lstat(full)
	if err != nil {
		return nil, explain(f.root, "lstat", name, full, err)
	}
	return info, nil
}

// ReadLink implements fs.ReadLinkFS.
func (f rootFS) ReadLink(name string) (string, error) {
	full, err := f.full("readlink", name)
	if err != nil {
		return "", err
	}
	target, err := f.root.Readlink(full)
	if err != nil {
		return "", explain(f.root, "readlink", name, full, err)
	}
	return target, nil
}

// errSpecial is the refusal of what is neither file nor folder.
func errSpecial(mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeSymlink != 0:
		kind = "a link"
	case mode.IsDir():
		kind = "a folder"
	}
	return fmt.Errorf("this is %s, not a file", kind)
}

// openRead opens a file or a folder, and nothing else. Looking first keeps it from touching devices; opening without
// blocking keeps it from waiting on a pipe that took the file's place in between. The folder is opened once for both, unless the
// name is a link, which may lead elsewhere.
func openRead(root *os.Root, name string) (*os.File, error) {
	if dir, base := path.Split(name); dir != "" && base != "" {
		folder, err := root.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		info, err := folder.Lstat(base)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			root, name = folder, base
		}
	}
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errSpecial(info.Mode())
	}
	file, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errSpecial(info.Mode())
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// readDir returns the entries of a folder, sorted. Unlike fs.ReadDir it reads folders whose names are no text.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	dir, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// explain puts the requested name into an error, and words the one that os.Root returns for links.
func explain(root *os.Root, op, name, full string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	if _, system := errors.AsType[syscall.Errno](err); system {
		return &fs.PathError{Op: op, Path: name, Err: err} // os.Root has refused nothing
	}
	if outside := leavingLink(root, full); outside != nil {
		outside.Name = name
		err = outside
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// leavingLink finds the first link on the way to a name that cannot be followed inside the vault.
func leavingLink(root *os.Root, name string) *vault.OutsideError {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		prefix := name[:i]
		info, err := root.Lstat(prefix)
		if err != nil {
			return nil
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		_, err = root.Stat(prefix)
		if _, system := errors.AsType[syscall.Errno](err); err == nil || system {
			continue // the link is good, broken or circular: the original error is better
		}
		reason := "leads out of the vault"
		if target, err := root.Readlink(prefix); err == nil && strings.HasPrefix(target, "/") {
			reason = "is absolute; only relative links that stay in the vault are followed"
		}
		return &vault.OutsideError{Link: prefix, Reason: reason}
	}
	return nil
}
