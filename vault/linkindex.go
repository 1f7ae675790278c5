package vault

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// LinkIndex finds files by what links call them, as Obsidian does. The rules, as observed: the name as written, then with .md; ./
// and ../ lead from the note's folder; a path from the vault's root wins; then a file in the note's own folder; then the shortest path. Case,
// Unicode form and no-break spaces do not count. Of several equally short paths the first in alphabetical order is taken and all are
// listed as Ambiguous. An empty linkpath is the note itself. Aliases resolve no links. It must not be changed while others read it.
type LinkIndex struct {
	byPath map[string][]IndexedName // by folded name; more than one where a disk distinguishes case or Unicode forms
	byBase map[string][]IndexedName // by folded last part
}

var _ Links = (*LinkIndex)(nil)

// IndexedName is a file of a [LinkIndex].
type IndexedName struct {
	Name   string
	Length int // in characters, as Obsidian counts paths

	folded string
}

// NewLinkIndex returns an index of files.
func NewLinkIndex(names ...string) *LinkIndex {
	ix := &LinkIndex{byPath: map[string][]IndexedName{}, byBase: map[string][]IndexedName{}}
	for _, name := range names {
		ix.Add(name)
	}
	return ix
}

// Add adds a file. One that is known changes nothing.
func (ix *LinkIndex) Add(name string) {
	e := IndexedName{Name: name, folded: Fold(name), Length: utf8.RuneCountInString(norm.NFC.String(name))}
	if slices.ContainsFunc(ix.byPath[e.folded], func(o IndexedName) bool { return o.Name == name }) {
		return
	}
	ix.byPath[e.folded] = append(ix.byPath[e.folded], e)
	base := path.Base(e.folded)
	ix.byBase[base] = append(ix.byBase[base], e)
}

// Remove forgets a file, or all files below a folder.
func (ix *LinkIndex) Remove(name string) {
	folded := Fold(name)
	if _, ok := ix.byPath[folded]; ok {
		ix.drop(folded, name)
		return
	}
	for below, entries := range ix.byPath {
		if Within(below, folded) {
			for _, e := range slices.Clone(entries) {
				if Within(e.Name, name) {
					ix.drop(below, e.Name)
				}
			}
		}
	}
}

func (ix *LinkIndex) drop(folded, name string) {
	without := func(m map[string][]IndexedName, key string) {
		m[key] = slices.DeleteFunc(m[key], func(e IndexedName) bool { return e.Name == name })
		if len(m[key]) == 0 {
			delete(m, key)
		}
	}
	without(ix.byPath, folded)
	without(ix.byBase, path.Base(folded))
}

// Bases returns the files by the folded last part of their names.
func (ix *LinkIndex) Bases() iter.Seq2[string, []IndexedName] {
	return func(yield func(string, []IndexedName) bool) {
		for base, files := range ix.byBase {
			if !yield(base, files) {
				return
			}
		}
	}
}

// Locate implements [Links]. linkpath is the link's text before `|` and `#` (of a Markdown destination: decoded).
func (ix *LinkIndex) Locate(linkpath, from string) Location {
	link, rooted := NormaliseLink(linkpath)
	if link == "" {
		return pick(ix.exact(from))
	}
	for _, candidate := range []string{link, link + ".md"} {
		if loc := ix.try(candidate, from, rooted); loc.Found {
			return loc
		}
	}
	return Location{}
}

// NormaliseLink converts a linkpath to the form of a name, as Obsidian's normalizePath does; rooted when it began with a slash.
func NormaliseLink(linkpath string) (link string, rooted bool) {
	link = PlainSpaces(strings.ReplaceAll(linkpath, `\`, "/"))
	link = norm.NFC.String(strings.TrimSpace(link))
	rooted = strings.HasPrefix(link, "/")
	for strings.Contains(link, "//") {
		link = strings.ReplaceAll(link, "//", "/")
	}
	return strings.Trim(link, "/"), rooted
}

func (ix *LinkIndex) try(link, from string, rooted bool) Location {
	if !rooted && (strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../")) {
		return pick(ix.exact(path.Join(path.Dir(from), link)))
	}
	if found := ix.exact(link); len(found) > 0 || rooted {
		return pick(found)
	}
	found := ix.ending(link)
	beside := path.Join(path.Dir(from), link)
	if own := spelled(beside, foldedAs(found, Fold(beside))); len(own) > 0 {
		return pick(own)
	}
	return pick(found)
}

// exact returns the file with this path, compared without case; the one that is spelled alike if there are several.
func (ix *LinkIndex) exact(linkpath string) []IndexedName {
	return spelled(linkpath, sorted(ix.byPath[Fold(linkpath)]))
}

// spelled returns, of entries that differ in spelling, the one that is spelled so, byte for byte if there is one, or else all.
func spelled(name string, entries []IndexedName) []IndexedName {
	for _, form := range []func(string) string{strings.Clone, norm.NFC.String} {
		for _, e := range entries {
			if form(e.Name) == name {
				return []IndexedName{e}
			}
		}
	}
	return entries
}

// foldedAs returns the entries with a folded name, in their order.
func foldedAs(entries []IndexedName, folded string) []IndexedName {
	return slices.DeleteFunc(slices.Clone(entries), func(e IndexedName) bool { return e.folded != folded })
}

// ending returns the files whose path ends with this one at a slash.
func (ix *LinkIndex) ending(linkpath string) []IndexedName {
	folded := Fold(linkpath)
	var found []IndexedName
	for _, e := range ix.byBase[path.Base(folded)] {
		if e.folded == folded || strings.HasSuffix(e.folded, "/"+folded) {
			found = append(found, e)
		}
	}
	return sorted(found)
}

// sorted orders by length, then by name.
func sorted(entries []IndexedName) []IndexedName {
	out := slices.Clone(entries)
	slices.SortFunc(out, func(a, b IndexedName) int {
		return cmp.Or(cmp.Compare(a.Length, b.Length), strings.Compare(a.Name, b.Name))
	})
	return out
}

// pick takes the first of entries that are sorted by length, and lists those that are as short.
func pick(found []IndexedName) Location {
	if len(found) == 0 {
		return Location{}
	}
	loc := Location{Name: found[0].Name, Found: true, Longer: found[len(found)-1].Length > found[0].Length}
	for _, e := range found {
		if e.Length == found[0].Length {
			loc.Ambiguous = append(loc.Ambiguous, e.Name)
		}
	}
	if len(loc.Ambiguous) == 1 {
		loc.Ambiguous = nil
	}
	return loc
}
