package intake

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/intake/packing"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// documents finds documents of Pages, Numbers and Keynote that are folders.
func (j *judging) documents() {
	for _, name := range slices.Sorted(maps.Keys(j.left)) {
		folder := path.Dir(name)
		if _, ok := j.left[name]; !ok || path.Base(name) != documentPart || !isDocumentFolder(folder) || j.amongNotes(name) {
			continue
		}
		in := func(other string) bool { return strings.HasPrefix(other, folder+"/") }
		made := group{dir: path.Dir(folder), zip: strings.TrimSuffix(folder, path.Ext(folder)) + ".zip"}
		for _, other := range slices.Sorted(maps.Keys(j.left)) {
			if in(other) {
				made.files = append(made.files, j.left[other].Arrival)
			}
		}
		j.take(made, slices.ContainsFunc(j.receiving, in))
	}
}

// documentPart is in each document that is a folder.
const documentPart = "Index.zip"

// isDocumentFolder reports whether a folder has the name of a document.
func isDocumentFolder(name string) bool {
	return slices.Contains([]string{".pages", ".numbers", ".key"}, strings.ToLower(path.Ext(name)))
}

// take makes a group of files that belong together, unless some of them are still being received.
func (j *judging) take(made group, coming bool) {
	switch {
	case coming:
	case j.remains(made):
		made.done = true
		j.made = append(j.made, made)
	case !j.fits(made) || j.written(made):
		j.singles = append(j.singles, made.files...)
	default:
		j.made = append(j.made, made)
	}
	for _, f := range made.files {
		delete(j.left, f.Name)
	}
}

// pages finds saved web pages that arrive with the folder of their files. Files whose page is still being received wait for it.
func (j *judging) pages() {
	for _, name := range slices.Sorted(maps.Keys(j.left)) {
		if p, ok := j.left[name]; ok && export.IsPage(name) && !j.amongNotes(name) {
			j.page(p)
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

// page judges a page. It waits for the files that it names, until none has come for a while.
func (j *judging) page(p pending) {
	a, news := p.Arrival, p.since
	made := group{dir: path.Dir(a.Name), zip: strings.TrimSuffix(a.Name, path.Ext(a.Name)) + ".zip", files: []disk.Arrival{a}}
	for _, name := range slices.Sorted(maps.Keys(j.left)) {
		if export.OfPage(a.Name, name) {
			made.files = append(made.files, j.left[name].Arrival)
			if last := j.last[path.Dir(name)]; last.After(news) {
				news = last
			}
		}
	}
	coming := slices.ContainsFunc(j.receiving, func(name string) bool { return export.OfPage(a.Name, name) }) || j.busy[made.zip] > 0
	j.more[made.zip] = j.more[made.zip] || j.busy[made.zip] > 0
	itself := packing.Source{Open: func(string) (fs.File, error) { return j.vault.FS().Open(a.Name) }}
	switch {
	case coming || j.remains(made):
		j.take(made, coming)
	case time.Since(news) < j.settings.Vault.StallPeriod.Std() && j.lacks(a.Name, itself, made.files):
		for _, f := range made.files {
			j.wait(f.Name, "waits for the files that the page names")
		}
	case len(made.files) > 1:
		j.take(made, false)
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
		below, err := packing.VisibleIn(filepath.Join(root, e.Name()), func(error) {})
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
