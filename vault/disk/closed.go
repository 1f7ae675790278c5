package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
)

// ErrClosed is matched by the error of reading a file or folder that [Vault.FSWithout] leaves out.
var ErrClosed = errors.New("models may not read settings, keys and the folder of approvals; write what they need into a note")

// FSWithout returns the vault as [Vault.FS] does, without the files and folders with these names and all below them: they cannot
// be opened, listed or looked at, in whatever case a name is written, and not through links either. Listings omit them.
func (rd *reader) FSWithout(names ...string) fs.FS {
	closed := make([]string, len(names))
	for i, name := range names {
		closed[i] = vault.Fold(path.Clean(name))
	}
	return rootFS{root: rd.root, dir: ".", closed: closed}
}

// isClosed reports whether a name is closed or in a closed folder, or a link on its way leads there.
func (f rootFS) isClosed(name string) bool {
	if len(f.closed) == 0 {
		return false
	}
	if f.leavesOut(name) {
		return true
	}
	real, linked := followed(f.root, name)
	return linked && f.leavesOut(real)
}

func (f rootFS) leavesOut(name string) bool {
	same := vault.Fold(name)
	return slices.ContainsFunc(f.closed, func(closed string) bool { return vault.Within(same, closed) })
}

// around reports whether a folder contains something closed.
func (f rootFS) around(dir string) bool {
	same := vault.Fold(dir)
	return slices.ContainsFunc(f.closed, func(closed string) bool { return same == "." || vault.Within(closed, same) })
}

// closedEntry returns the error for what is closed.
func closedEntry(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: ErrClosed}
}

// opened returns entries of a folder without the closed ones.
func (f rootFS) opened(dir string, entries []fs.DirEntry) []fs.DirEntry {
	if !f.around(dir) {
		return entries
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(f.closed, vault.Fold(path.Join(dir, e.Name()))) })
}

// openedFolder returns an open file as it is, unless it is a folder around a closed one, which is left out of its entries.
func (f rootFS) openedFolder(name string, file *os.File) fs.File {
	if !f.around(name) {
		return file
	}
	return &closedFile{File: file, from: f, name: name}
}

// closedFile is an open folder that does not list closed ones.
type closedFile struct {
	*os.File
	from rootFS
	name string
}

var _ fs.ReadDirFile = (*closedFile)(nil)

// ReadDir implements fs.ReadDirFile.
func (c *closedFile) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := c.File.ReadDir(n)
	return c.from.opened(c.name, entries), err
}

// maxLinks is how many links are followed on the way to a name, as in Linux.
const maxLinks = 40

// followed returns the name to which a name leads when all links inside the vault are followed, and whether there were any.
// What cannot be followed stays as it is: opening it fails.
func followed(root *os.Root, name string) (real string, linked bool) {
	done, rest := ".", strings.Split(name, "/")
	for links := 0; len(rest) > 0 && links < maxLinks; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		target, err := root.Readlink(next)
		if err != nil || path.IsAbs(target) { // no link, or one that the root refuses
			done = next
			continue
		}
		links++
		linked = true
		rest = append(strings.Split(target, "/"), rest...)
	}
	return path.Join(append([]string{done}, rest...)...), linked
}
