package disk

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/vault"
)

// index holds the names of all visible files, to be found as Obsidian finds them.
type index struct {
	mu     sync.RWMutex
	byPath map[string][]entry // by folded name; more than one where a disk distinguishes case or Unicode forms
	byBase map[string][]entry // by folded last part
	read   time.Time          // when the disk was last read
	live   bool               // a watcher keeps it current
	edits  int64              // how often files were added, changed or removed
}

type entry struct {
	name   string
	folded string
	length int // in characters, as Obsidian counts paths
}

func newIndex() *index {
	return &index{byPath: map[string][]entry{}, byBase: map[string][]entry{}}
}

// add adds a file that is new or has changed. One of no interest changes nothing.
func (ix *index) add(name string) {
	if clutter(name) || isConflictCopy(name) {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.edits++
	ix.insert(name)
}

func (ix *index) insert(name string) {
	e := entry{name: name, folded: vault.Fold(name), length: utf8.RuneCountInString(norm.NFC.String(name))}
	if slices.ContainsFunc(ix.byPath[e.folded], func(o entry) bool { return o.name == name }) {
		return
	}
	ix.byPath[e.folded] = append(ix.byPath[e.folded], e)
	base := path.Base(e.folded)
	ix.byBase[base] = append(ix.byBase[base], e)
}

// remove forgets a file, or all files below a folder.
func (ix *index) remove(name string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.edits++
	folded := vault.Fold(name)
	if _, ok := ix.byPath[folded]; ok {
		ix.drop(folded, name)
		return
	}
	for below, entries := range ix.byPath {
		if vault.Within(below, folded) {
			for _, e := range slices.Clone(entries) {
				if vault.Within(e.name, name) {
					ix.drop(below, e.name)
				}
			}
		}
	}
}

func (ix *index) drop(folded, name string) {
	without := func(m map[string][]entry, key string) {
		m[key] = slices.DeleteFunc(m[key], func(e entry) bool { return e.name == name })
		if len(m[key]) == 0 {
			delete(m, key)
		}
	}
	without(ix.byPath, folded)
	without(ix.byBase, path.Base(folded))
}

// replace takes the result of a new reading of the disk.
func (ix *index) replace(names []string) {
	fresh := newIndex()
	for _, name := range names {
		fresh.insert(name)
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.byPath, ix.byBase, ix.read = fresh.byPath, fresh.byBase, time.Now()
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

// exact returns the file with this path, compared without case; the one that is spelled alike if there are several.
func (ix *index) exact(linkpath string) []entry {
	return spelled(linkpath, sorted(ix.byPath[vault.Fold(linkpath)]))
}

// spelled returns, of entries that differ in spelling, the one that is spelled so, byte for byte if there is one, or else all.
func spelled(name string, entries []entry) []entry {
	for _, form := range []func(string) string{strings.Clone, norm.NFC.String} {
		for _, e := range entries {
			if form(e.name) == name {
				return []entry{e}
			}
		}
	}
	return entries
}

// foldedAs returns the entries with a folded name, in their order.
func foldedAs(entries []entry, folded string) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.folded != folded })
}

// ending returns the files whose path ends with this one at a slash.
func (ix *index) ending(linkpath string) []entry {
	folded := vault.Fold(linkpath)
	var found []entry
	for _, e := range ix.byBase[path.Base(folded)] {
		if e.folded == folded || strings.HasSuffix(e.folded, "/"+folded) {
			found = append(found, e)
		}
	}
	return sorted(found)
}

// sorted orders by length, then by name.
func sorted(entries []entry) []entry {
	out := slices.Clone(entries)
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.length, b.length), strings.Compare(a.name, b.name))
	})
	return out
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
