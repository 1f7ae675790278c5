package vault

import (
	"io/fs"
	"strings"
)

// Fitting returns the files with an extension whose names end like a link, which has the extension or not. Older versions of documents
// do not count.
func Fitting(files Lister, fsys fs.FS, link, ext string) ([]string, error) {
	ending := Fold("/" + strings.TrimSuffix(link, ext) + ext)
	found, _, err := files.List(func(name string) bool {
		return strings.HasSuffix(Fold("/"+name), ending) && !IsFormerVersion(fsys, name)
	})
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Name
	}
	return names, err
}

// LinkTarget returns the target of a wikilink, without its heading and shown text; ok reports whether the text is one.
func LinkTarget(written string) (target string, ok bool) {
	inner, opens := strings.CutPrefix(strings.TrimPrefix(written, "!"), "[[")
	inner, closes := strings.CutSuffix(inner, "]]")
	if !opens || !closes {
		return "", false
	}
	inner, _, _ = strings.Cut(inner, "|")
	inner, _, _ = strings.Cut(inner, "#")
	return strings.TrimSpace(inner), true
}
