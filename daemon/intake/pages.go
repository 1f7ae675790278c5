package intake

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// pages finds saved web pages that arrive with the folder of their files. Files whose page is still being received wait for it.
func (j *judging) pages() {
	for _, name := range slices.Sorted(maps.Keys(j.left)) {
		if p, ok := j.left[name]; ok && export.IsPage(name) && !j.amongNotes(name) {
			j.page(p.Arrival)
		}
	}
	for _, page := range j.receiving {
		if export.IsPage(page) {
			maps.DeleteFunc(j.left, func(name string, _ pending) bool { return export.OfPage(page, name) })
		}
	}
}

// amongNotes reports whether a file came in an archive, or in a dropped folder that holds notes, which is judged as a whole.
func (j *judging) amongNotes(name string) bool {
	top, contained := j.folder(name)
	if top == "" || contained {
		return contained
	}
	isNote := func(other string) bool { return strings.HasPrefix(other, top+"/") && export.IsNote(other) }
	for other := range j.left {
		if isNote(other) {
			return true
		}
	}
	return slices.ContainsFunc(j.receiving, isNote)
}

// page judges a page.
func (j *judging) page(a disk.Arrival) {
	made := group{dir: path.Dir(a.Name), zip: strings.TrimSuffix(a.Name, path.Ext(a.Name)) + ".zip", files: []disk.Arrival{a}}
	for _, name := range slices.Sorted(maps.Keys(j.left)) {
		if export.OfPage(a.Name, name) {
			made.files = append(made.files, j.left[name].Arrival)
		}
	}
	if coming := slices.ContainsFunc(j.receiving, func(name string) bool { return export.OfPage(a.Name, name) }); !coming {
		switch {
		case len(made.files) == 1:
			return // a page alone
		case !j.fits(made) || j.written(made):
			j.singles = append(j.singles, made.files...)
		default:
			j.made = append(j.made, made)
		}
	}
	for _, f := range made.files {
		delete(j.left, f.Name)
	}
}

// savedWith returns the folder of a page on this machine, and the page and the files that were saved with it below that; nil if the page
// is alone.
func savedWith(page string) (root string, names []string) {
	if !export.IsPage(page) {
		return "", nil
	}
	root, base := filepath.Split(page)
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", nil
	}
	for _, e := range entries {
		if !e.IsDir() || !export.OfPage(base, e.Name()+"/x") {
			continue
		}
		below, err := visibleIn(filepath.Join(root, e.Name()), func(error) {})
		if err != nil {
			continue
		}
		for _, name := range below {
			names = append(names, e.Name()+"/"+name)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	return root, append([]string{base}, names...)
}
