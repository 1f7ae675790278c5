package disk

import (
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/vault"
)

// finder finds files by what links call them, and those that are watched.
type finder struct{ *folder }

// Locate finds the file that a link means, by the rules of [vault.LinkIndex]; from is the note in which it stands. Dot folders and
// clutter are never found. When no watcher runs, a link that finds nothing,
// or a file that is gone, makes the vault read its names again, once a second at most.
func (n *finder) Locate(linkpath, from string) vault.Location {
	loc := n.index.locate(linkpath, from)
	if loc.Found {
		if _, err := n.root.Lstat(loc.Name); err == nil {
			return loc
		}
		n.index.remove(loc.Name)
	}
	if n.index.stale() {
		if err := n.Refresh(); err != nil {
			n.log.Warn("names not read again", "err", err)
		}
	}
	loc = n.index.locate(linkpath, from)
	if !loc.Found {
		loc.Near = n.index.near(linkpath)
	}
	return loc
}

// Version returns a number that grows when files have been added, changed or removed, as far as Locate knows of it.
func (n *finder) Version() int64 { return n.index.version() }

// List implements [vault.Lister].
func (n *finder) List(match func(name string) bool) (files []vault.File, unread []string, err error) {
	unread, err = n.walk(".", func(name string, d fs.DirEntry) {
		if d.IsDir() || n.filter.inImport(name) || !match(name) || !n.indexable(name, d) {
			return
		}
		info, err := n.root.Stat(name)
		if err != nil {
			return // gone since, or a link whose file is
		}
		files = append(files, vault.File{Name: name, Size: info.Size(), Modified: info.ModTime()})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list files: %w", err)
	}
	return files, unread, nil
}
