package disk

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/vault"

	"golang.org/x/text/unicode/norm"
)

// finder finds files by what links call them, and those that are watched.
type finder struct{ *folder }

// Locate finds the file that a link means. linkpath is the link's text before `|` and `#` (of a Markdown destination:
// decoded); from is the note in which it stands. The rules are Obsidian's, as observed: the name as written, then with
// .md; ./ and ../ lead from the note's folder; a path from the vault's root wins; then a file in the note's own folder;
// then the shortest path. Case, Unicode form and no-break spaces do not count. Of several equally short paths the first
// in alphabetical order is taken and all are listed as Ambiguous. An empty linkpath is the note itself.
//
// Aliases resolve no links. Dot folders and clutter are never found. When no watcher runs, a link that finds nothing,
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

func (ix *index) locate(linkpath, from string) vault.Location {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	link, rooted := normalise(linkpath)
	if link == "" {
		return pick(ix.exact(from))
	}
	for _, candidate := range []string{link, link + ".md"} {
		if loc := ix.try(candidate, from, rooted); loc.Found {
			return loc
		}
	}
	return vault.Location{}
}

// normalise converts a linkpath to the form of a name, as Obsidian's normalizePath does; rooted when it began with a slash.
func normalise(linkpath string) (link string, rooted bool) {
	link = vault.PlainSpaces(strings.ReplaceAll(linkpath, `\`, "/"))
	link = norm.NFC.String(strings.TrimSpace(link))
	rooted = strings.HasPrefix(link, "/")
	for strings.Contains(link, "//") {
		link = strings.ReplaceAll(link, "//", "/")
	}
	return strings.Trim(link, "/"), rooted
}

func (ix *index) try(link, from string, rooted bool) vault.Location {
	if !rooted && (strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../")) {
		return pick(ix.exact(path.Join(path.Dir(from), link)))
	}
	if found := ix.exact(link); len(found) > 0 || rooted {
		return pick(found)
	}
	found := ix.ending(link)
	beside := path.Join(path.Dir(from), link)
	if own := spelled(beside, foldedAs(found, vault.Fold(beside))); len(own) > 0 {
		return pick(own)
	}
	return pick(found)
}

// pick takes the first of entries that are sorted by length, and lists those that are as short.
func pick(found []entry) vault.Location {
	if len(found) == 0 {
		return vault.Location{}
	}
	loc := vault.Location{Name: found[0].name, Found: true, Longer: found[len(found)-1].length > found[0].length}
	for _, e := range found {
		if e.length == found[0].length {
			loc.Ambiguous = append(loc.Ambiguous, e.name)
		}
	}
	if len(loc.Ambiguous) == 1 {
		loc.Ambiguous = nil
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
