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

// ErrClosed is matched by the error of reading below a folder that [Vault.FSWithout] leaves out.
var ErrClosed = errors.New("it lies where people approve what models propose, and models read nothing there")

// FSWithout returns the vault as [Vault.FS] does, without the folder with this name and all below it: it cannot be opened,
// listed or looked at, in whatever case its name is written, and not through links either. Its entry is missing from listings.
func (rd *reader) FSWithout(dir string) fs.FS {
	return rootFS{root: rd.root, dir: ".", closed: vault.Fold(path.Clean(dir))}
}

// isClosed reports whether a name lies in the closed folder, or a link on its way leads there.
func (f rootFS) isClosed(name string) bool {
	if f.closed == "" {
		return false
	}
	if vault.Within(vault.Fold(name), f.closed) {
		return true
	}
	real, linked := followed(f.root, name)
	return linked && vault.Within(vault.Fold(real), f.closed)
}

// closedEntry returns the error for what is closed.
func closedEntry(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: ErrClosed}
}

// opened returns entries of a folder without the closed one.
func (f rootFS) opened(dir string, entries []fs.DirEntry) []fs.DirEntry {
	if f.closed == "" || !vault.Within(f.closed, vault.Fold(dir)) {
		return entries
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return vault.Fold(path.Join(dir, e.Name())) == f.closed })
}

// openedFolder returns an open file as it is, unless it is the folder around the closed one, which is left out of its entries.
func (f rootFS) openedFolder(name string, file *os.File) fs.File {
	if f.closed == "" || !vault.Within(f.closed, vault.Fold(name)) {
		return file
	}
	return &closedFile{File: file, from: f, name: name}
}

// closedFile is an open folder that does not list the closed one.
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
