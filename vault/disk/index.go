package disk

import (
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// index holds the names of all visible files, to be found as Obsidian finds them.
type index struct {
	mu    sync.RWMutex
	names *vault.LinkIndex // guarded by mu
	read  time.Time        // when the disk was last read
	live  bool             // a watcher keeps it current
	edits int64            // how often files were added, changed or removed
}

func newIndex() *index { return &index{names: vault.NewLinkIndex()} }

// add adds a file that is new or has changed. One of no interest changes nothing.
func (ix *index) add(name string) {
	if clutter(name) || isConflictCopy(name) {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.edits++
	ix.names.Add(name)
}

// remove forgets a file, or all files below a folder.
func (ix *index) remove(name string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.edits++
	ix.names.Remove(name)
}

// replace takes the result of a new reading of the disk.
func (ix *index) replace(names []string) {
	fresh := vault.NewLinkIndex(names...)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.names, ix.read = fresh, time.Now()
	ix.edits++
}

func (ix *index) setLive(live bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.live = live
}

func (ix *index) version() int64 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.edits
}

// stale reports whether the disk may hold what the index does not know.
func (ix *index) stale() bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return !ix.live && time.Since(ix.read) > freshFor
}

// freshFor is how long a reading of the disk is believed when nobody watches it.
const freshFor = time.Second

func (ix *index) locate(linkpath, from string) vault.Location {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.names.Locate(linkpath, from)
}

// Refresh reads the names of all files again. Open does it, and a running Watcher keeps the names current; a process
// without one refreshes by itself when a link finds nothing.
func (f *folder) Refresh() error {
	var names []string
	_, err := f.walk(".", func(name string, d fs.DirEntry) {
		if temporary(name) {
			f.removeStale(name, d)
		}
		if f.indexable(name, d) {
			names = append(names, name)
		}
	})
	if err != nil {
		return err
	}
	f.index.replace(names)
	return nil
}

// indexable reports whether an entry is a file that a link can mean: a regular one, or a link to one inside the vault.
func (f *folder) indexable(name string, d fs.DirEntry) bool {
	if clutter(name) || isConflictCopy(name) {
		return false
	}
	if d.Type().IsRegular() {
		return true
	}
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := f.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// walk visits what lies below a folder, folders before their entries, in the order of names. It does not enter dot
// folders, clutter and links. Folders that cannot be read are logged, listed and passed over; the first is an error.
func (f *folder) walk(dir string, visit func(name string, d fs.DirEntry)) (unread []string, err error) {
	entries, err := readDir(f.root, dir)
	if err != nil {
		return nil, explain(f.root, "readdir", dir, dir, err)
	}
	for _, d := range entries {
		name := path.Join(dir, d.Name())
		visit(name, d)
		if !d.IsDir() || clutter(d.Name()) {
			continue
		}
		below, err := f.walk(name, visit)
		if ignoreMissing(err) != nil {
			f.log.Warn("folder not read", "name", name, "err", err)
			below = append(below, name)
		}
		unread = append(unread, below...)
	}
	return unread, nil
}

// learn takes the files below a folder into the index.
func (f *folder) learn(dir string) error {
	_, err := f.walk(dir, func(name string, d fs.DirEntry) {
		if f.indexable(name, d) {
			f.index.add(name)
		}
	})
	return err
}
