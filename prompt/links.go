package prompt

import (
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
)

// linker finds the files that links mean, and warns where a link is ambiguous.
type linker struct {
	links  vault.Links // nil: a target is a vault name or a name beside the note
	fs     fs.FS
	strict bool // an ambiguous link is an error
	out    *outline
}

// locate resolves a target, and says so when it could be several files.
func (l linker) locate(target, from string, line int) (vault.Location, error) {
	var loc vault.Location
	if l.links != nil {
		loc = l.links.Locate(target, from)
	} else {
		loc = l.beside(target, from)
	}
	if !loc.Found || len(loc.Ambiguous) == 0 {
		return loc, nil
	}
	if l.strict {
		return loc, &AmbiguousError{Note: from, Line: line, Target: target, Names: loc.Ambiguous}
	}
	l.out.warn(Warning{Note: from, Line: line, Target: target, Near: loc.Ambiguous, Message: "the link matches several files; " + loc.Name + " is used"})
	return loc, nil
}

// beside tries a vault path, then a path beside the note. It replaces a missing index.
func (l linker) beside(target, from string) vault.Location {
	for _, name := range []string{strings.Trim(target, "/"), path.Join(path.Dir(from), target)} {
		for _, try := range []string{name, name + ".md"} {
			if !fs.ValidPath(try) {
				continue
			}
			if info, err := fs.Stat(l.fs, try); err == nil && info.Mode().IsRegular() {
				return vault.Location{Name: try, Found: true}
			}
		}
	}
	return vault.Location{}
}
