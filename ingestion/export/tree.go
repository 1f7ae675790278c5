// Package export keeps a tree of Markdown notes together, as Notion, Joplin and Obsidian export it: it chooses a name for each file that
// every system accepts, and finds what the links of the notes mean, so that they still lead there.
package export

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
)

// nameBytes is the longest part of a name, and nameTotal the longest name within the tree.
const (
	nameBytes = 120
	nameTotal = 700
)

// PackComment is the comment of an archive into which vaultflow has packed files. If it holds one note with its pictures, the bundle
// keeps the note's file as the original, and not the archive.
const PackComment = "packed by vaultflow"

// File is a file of a tree.
type File struct {
	From string // slash path in the source
	To   string // slash path in the bundle; empty until the file is placed
}

// Tree is the files of an export. It is not changed once it is placed, and several goroutines may then use it.
type Tree struct {
	Files []File
	whole map[string]int // by source path
	exact map[string]int // by folded source path
	ends  map[string]int // by each end of a source path and of a folded one, the shortest path
	ids   map[string]int // by Joplin's id
	top   string         // the folder that holds everything, with a slash, or ""
}

// New returns the tree of source paths, which are clean slash paths that do not climb. If two are equal, links mean the first.
func New(from []string) *Tree {
	t := &Tree{whole: map[string]int{}, exact: map[string]int{}, ends: map[string]int{}, ids: map[string]int{}}
	order := make([]int, len(from))
	for i, name := range from {
		t.Files = append(t.Files, File{From: name})
		order[i] = i
		first(t.whole, name, i)
		first(t.exact, key(name), i)
		if id, ok := idOf(name); ok {
			if at, known := t.ids[id]; !known || IsNote(from[at]) && !IsNote(name) { // a note of the same name describes the file
				t.ids[id] = i
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(from[a]), len(from[b])), strings.Compare(from[a], from[b]))
	})
	for _, form := range []func(string) string{func(s string) string { return s }, key} {
		for _, i := range order {
			end := form(from[i])
			for deeper := true; deeper; _, end, deeper = strings.Cut(end, "/") {
				first(t.ends, end, i)
			}
		}
	}
	t.top = topOf(from)
	return t
}

func first(of map[string]int, name string, i int) {
	if _, known := of[name]; !known {
		of[name] = i
	}
}

var joplinID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// idOf returns the id of a file in a raw export of Joplin, which is its name there.
func idOf(name string) (string, bool) {
	base := path.Base(name)
	id := strings.TrimSuffix(base, path.Ext(base))
	return id, joplinID.MatchString(id)
}

// topOf returns the folder that holds all files, with a slash, or "".
func topOf(from []string) string {
	top := ""
	for i, name := range from {
		dir, _, deeper := strings.Cut(name, "/")
		if !deeper || i > 0 && dir+"/" != top {
			return ""
		}
		top = dir + "/"
	}
	return top
}

// key is the form in which paths are compared: a link may be written in another case or Unicode form than the file's name.
func key(name string) string { return vault.Fold(vault.PlainSpaces(name)) }

// IsNote reports whether a file is a Markdown note, by its name.
func IsNote(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return true
	}
	return false
}

// isDocument reports whether a file is one that is read when it is imported by itself.
func isDocument(name string) bool {
	switch filetype.KindOf(filetype.ByName(name)) {
	case filetype.KindPDF, filetype.KindOffice, filetype.KindEmail:
		return true
	}
	return false
}

// Together reports whether the files belong together: there are notes, and no fewer than documents that none of them mentions. So one
// README among hundreds of PDF files does not keep these from being read.
func (t *Tree) Together(mentioned map[int]bool) bool {
	notes, alone := 0, 0
	for i, f := range t.Files {
		switch {
		case IsNote(f.From):
			notes++
		case isDocument(f.From):
			if _, ok := mentioned[i]; !ok {
				alone++
			}
		}
	}
	return notes > 0 && alone <= notes
}

// Single returns the only note of the tree if it shows all other files, or reports that this is not so.
func (t *Tree) Single(mentioned map[int]bool) (note int, ok bool) {
	notes := 0
	for i, f := range t.Files {
		switch {
		case IsNote(f.From):
			note = i
			notes++
		case !mentioned[i]:
			return 0, false
		}
	}
	return note, notes == 1
}

// PlaceSingle chooses the names of the files of such a tree in the bundle of the note: its text is a page, and what it shows an asset.
func (t *Tree) PlaceSingle(note int, page string) {
	t.Place()
	for i := range t.Files {
		if t.Files[i].To != "" {
			t.Files[i].To = "assets/" + t.Files[i].To
		}
	}
	t.Files[note].To = page
}

// Place chooses the name of each file in the bundle: as in the source, made safe, no two of them equal but for case. Names in reserved
// belong to the bundle. No file of the tree is called manifest.json, which would make its folder look like a bundle. Files whose
// names would be too long stay without one.
func (t *Tree) Place(reserved ...string) {
	taken, folders := map[string]bool{}, map[string]bool{}
	for _, name := range reserved {
		taken[key(name)] = true
	}
	safe := make([]string, len(t.Files))
	for i, f := range t.Files {
		safe[i] = safePath(f.From, taken)
		for dir := path.Dir(safe[i]); dir != "."; dir = path.Dir(dir) {
			folders[key(dir)] = true
		}
	}
	free := func(name string) bool {
		return !taken[key(name)] && !folders[key(name)] && !strings.EqualFold(path.Base(name), "manifest.json")
	}
	for i := range t.Files {
		name := safe[i]
		if len(name) > nameTotal {
			continue
		}
		for n := 2; !free(name); n++ {
			name = vault.Numbered(safe[i], n)
		}
		taken[key(name)] = true
		t.Files[i].To = name
	}
}

// unlinkable are characters and words that a link or the rules for foreign text change.
var unlinkable = strings.NewReplacer("`", "'", "$$", "$", "![", "!", "$=", "$ ")

func safePath(from string, reserved map[string]bool) string {
	parts := strings.Split(from, "/")
	for i, part := range parts {
		if i == len(parts)-1 && strings.EqualFold(path.Ext(part), ".markdown") {
			part = strings.TrimSuffix(part, path.Ext(part)) + ".md"
		}
		parts[i] = vault.SafeName(unlinkable.Replace(part), nameBytes)
	}
	if len(parts) > 1 && reserved[key(parts[0])] {
		parts[0] += " (2)"
	}
	return path.Join(parts...)
}
