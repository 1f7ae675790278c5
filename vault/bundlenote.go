package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The names of files in the bundle of an import. Package ingestion/manifest describes the whole bundle.
const (
	ManifestFile = "manifest.json"
	FormerNote   = "index.md" // the note of bundles that were made before notes had their document's name
	TextDir      = "text"     // of the pages
	ChaptersDir  = "chapters" // notes of chapters
)

// manifestHead is as much of a manifest as is read for its note's name, which comes second.
const manifestHead = 4 << 10

// BundleNote returns the name of a bundle's note, or "" if the folder is no bundle or its note is called index.md.
func BundleNote(fsys fs.FS, dir string) string { return headOf(fsys, dir).note }

// Bundles recognises files of bundles by their names and the manifests beside them. It reads each manifest once, and is thus for one
// look at the vault. It must not be used by several goroutines at once.
type Bundles struct {
	fsys  fs.FS
	heads map[string]bundleHead // by folder
}

// bundleHead is the beginning of a manifest: the name of the note, as [BundleNote] returns it, and the kind of the source, or "".
type bundleHead struct{ note, kind string }

// NewBundles returns the bundles of a vault.
func NewBundles(fsys fs.FS) *Bundles { return &Bundles{fsys: fsys, heads: map[string]bundleHead{}} }

func (b *Bundles) head(dir string) bundleHead {
	head, known := b.heads[dir]
	if !known {
		head = headOf(b.fsys, dir)
		b.heads[dir] = head
	}
	return head
}

func headOf(fsys fs.FS, dir string) bundleHead {
	file, err := fsys.Open(path.Join(dir, ManifestFile))
	if err != nil {
		return bundleHead{}
	}
	defer file.Close()
	dec := json.NewDecoder(io.LimitReader(file, manifestHead))
	for _, want := range []json.Token{json.Delim('{'), "version", 1.0, "note"} {
		if got, err := dec.Token(); err != nil || got != want {
			return bundleHead{}
		}
	}
	token, err := dec.Token()
	name, ok := token.(string)
	if err != nil || !ok || !fs.ValidPath(name) || strings.Contains(name, "/") {
		return bundleHead{}
	}
	var source struct {
		Kind string `json:"kind"`
	}
	if token, err := dec.Token(); err == nil && token == "source" {
		_ = dec.Decode(&source) // without it, the kind is not known
	}
	return bundleHead{path.Join(dir, name), source.Kind}
}

// Actual returns the name of the file that a written name means. Paths of older bundles still work: `<bundle>/index.md` is the
// note that the bundle's manifest names, and `<bundle>/text/page_0001.md` the text file of the page. A file with the written name
// wins. A name that means nothing is returned as it is.
func Actual(fsys fs.FS, name string) string {
	now := ""
	switch {
	case !fs.ValidPath(name):
	case strings.EqualFold(path.Base(name), FormerNote) && !there(fsys, name):
		now = BundleNote(fsys, path.Dir(name))
	case isPage(name, ".md") && !there(fsys, name) && BundleNote(fsys, path.Dir(path.Dir(name))) != "":
		now = strings.TrimSuffix(name, ".md") + ".txt"
	}
	if now != "" && there(fsys, now) {
		return now
	}
	return name
}

// DocumentOf returns the folder of the bundle whose note a name means, or else the name.
func DocumentOf(fsys fs.FS, name string) string {
	dir, actual := path.Dir(name), Actual(fsys, name)
	if actual == BundleNote(fsys, dir) || strings.EqualFold(path.Base(actual), FormerNote) && isBundle(fsys, dir) {
		return dir
	}
	return actual
}

// Former returns the name that a file would have in an older bundle, or "" if it has none. [Actual] leads from there to the file.
func (b *Bundles) Former(name string) string {
	former := ""
	switch {
	case !fs.ValidPath(name):
	case b.IsPageText(name):
		former = strings.TrimSuffix(name, ".txt") + ".md"
	case strings.HasSuffix(name, ".md") && b.head(path.Dir(name)).note == name:
		former = path.Join(path.Dir(name), FormerNote)
	}
	if former == name || former != "" && there(b.fsys, former) {
		return ""
	}
	return former
}

// Fits reports whether a file is meant by a glob, under its own name or the one in older bundles. match is the glob. The text of a
// page, which is no note any more, is meant by a glob that names it, such as `*/text/*.md`, and not by one for any note.
func (b *Bundles) Fits(match func(name string) bool, name string) bool {
	if match(name) {
		return true
	}
	dir, other := path.Dir(name), FormerNote
	if isPage(name, ".txt") {
		other = strings.TrimSuffix(path.Base(name), ".txt") + ".md"
		if match(path.Join(path.Dir(dir), "note.md")) {
			return false
		}
	}
	return (strings.HasSuffix(name, ".md") || isPage(name, ".txt")) && match(path.Join(dir, other)) && b.Former(name) != ""
}

// IsPageText reports whether a file is the text of a page, whose note or chapter note has the same text.
func (b *Bundles) IsPageText(name string) bool {
	return isPage(name, ".txt") && b.head(path.Dir(path.Dir(name))).note != ""
}

// ChapterOf returns the note of the document that a chapter note belongs to, or "". A folder of this name in an export of notes holds
// other notes.
func (b *Bundles) ChapterOf(name string) string {
	if dir := path.Dir(name); path.Base(dir) == ChaptersDir && strings.HasSuffix(name, ".md") {
		if head := b.head(path.Dir(dir)); head.kind != "archive" {
			return head.note
		}
	}
	return ""
}

// asideName is the name of the folder in which the version of a bundle before is kept: the first part is the bundle's.
var asideName = regexp.MustCompile(`^(.+) \(version \d+\)( \(\d+\))?$`)

// IsFormerVersion reports whether a file is in a bundle that a newer version has replaced, and that is kept beside it.
func IsFormerVersion(fsys fs.FS, name string) bool {
	if !strings.Contains(name, " (version ") {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		parts := asideName.FindStringSubmatch(path.Base(dir))
		if parts != nil && isBundle(fsys, dir) && isBundle(fsys, path.Join(path.Dir(dir), parts[1])) {
			return true
		}
	}
	return false
}

func isBundle(fsys fs.FS, dir string) bool {
	info, err := fs.Stat(fsys, path.Join(dir, ManifestFile))
	return err == nil && info.Mode().IsRegular()
}

// isPage reports whether a name is that of a page's text, with this extension.
func isPage(name, ext string) bool {
	number, ok := strings.CutPrefix(path.Base(name), "page_")
	number, has := strings.CutSuffix(number, ext)
	return ok && has && number != "" && strings.Trim(number, "0123456789") == "" && path.Base(path.Dir(name)) == TextDir
}

// there reports whether a name is taken. One that cannot be looked at counts as taken.
func there(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// RenameNote returns a manifest that names another note. It changes nothing else.
func RenameNote(manifest []byte, note string) ([]byte, bool) {
	dec := json.NewDecoder(bytes.NewReader(manifest))
	for _, want := range []json.Token{json.Delim('{'), "version", 1.0, "note"} {
		if got, err := dec.Token(); err != nil || got != want {
			return nil, false
		}
	}
	start := dec.InputOffset()
	if token, err := dec.Token(); err != nil || token == nil {
		return nil, false
	}
	start += int64(bytes.IndexByte(manifest[start:], '"'))
	name, err := json.Marshal(note)
	if err != nil {
		return nil, false
	}
	return slices.Concat(manifest[:start], name, manifest[dec.InputOffset():]), true
}
