package step

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/vault"
)

// noteLinks are the links of the vault's notes, as one run found them.
type noteLinks struct {
	mu     sync.Mutex
	run    string                // guarded by mu
	byName map[string][]noteLink // by the last part of what they name, folded; guarded by mu
}

// noteLink is a link in a note.
type noteLink struct{ target, from string }

// maxNoteLinks is how many links with one name are looked at.
const maxNoteLinks = 50

// to returns the links that may lead to a file. The notes are read once in a run.
func (l *noteLinks) to(fsys fs.FS, run, name string) []noteLink {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName == nil || l.run != run || run == previewRun {
		l.run, l.byName = run, linksOf(fsys)
	}
	return l.byName[linkName(name)]
}

func linkName(name string) string { return vault.Fold(strings.TrimSuffix(path.Base(name), ".md")) }

func linksOf(fsys fs.FS) map[string][]noteLink {
	all := map[string][]noteLink{}
	//nolint:errcheck // the walker returns no error
	fs.WalkDir(fsys, ".", func(from string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // an unreadable folder has no links that anybody sees
		case d.IsDir() && from != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.EqualFold(path.Ext(from), ".md"):
			return nil
		}
		data, err := fs.ReadFile(fsys, from)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		for _, m := range anyLink.FindAllStringSubmatch(string(data), -1) {
			target := strings.TrimSpace(strings.TrimSuffix(m[1]+strings.ReplaceAll(m[2], "%20", " "), `\`))
			if name := linkName(target); len(all[name]) < maxNoteLinks {
				all[name] = append(all[name], noteLink{target, from})
			}
		}
		return nil
	})
	return all
}

// takesOver warns when links to a note would lead to a new one of the same name, because links without a folder go to the shortest path
// and to the note's own folder. Links to a file that leaves follow it.
func (o Outputs) takesOver(run, name, leaves string) string {
	if o.Links == nil || !strings.EqualFold(path.Ext(name), ".md") {
		return ""
	}
	before := o.Links.Locate(strings.TrimSuffix(path.Base(name), path.Ext(name)), "")
	if !before.Found || before.Name == name || linkName(before.Name) != linkName(name) {
		return ""
	}
	was, first, more := "", noteLink{}, 0
	for _, l := range o.noteLinks.to(o.FS, run, name) {
		loc := o.Links.Locate(l.target, l.from)
		shorter := utf8.RuneCountInString(name) <= utf8.RuneCountInString(loc.Name) || path.Dir(l.from) == path.Dir(name)
		switch {
		case !loc.Found || loc.Name == name || loc.Name == leaves || !shorter || path.Dir(loc.Name) == path.Dir(l.from) || !meantBy(l.target, name):
		case vault.Fold(strings.TrimSuffix(loc.Name, ".md")) == vault.Fold(strings.TrimSuffix(l.target, ".md")): // the whole path
		case was == "":
			was, first = loc.Name, l
		default:
			more++
		}
	}
	if was == "" {
		return ""
	}
	also := ""
	if more > 0 {
		also = fmt.Sprintf(" (and %d more)", more)
	}
	return fmt.Sprintf("%s has the name of %s: [[%s]] in %s%s will lead to it; choose another name for the output, or link to [[%s]]",
		name, was, first.target, first.from, also, strings.TrimSuffix(was, ".md"))
}

// meantBy reports whether a link can lead to a file: its path ends like the file's.
func meantBy(target, name string) bool {
	target, name = vault.Fold(strings.TrimSuffix(target, ".md")), vault.Fold(strings.TrimSuffix(name, ".md"))
	return name == target || strings.HasSuffix(name, "/"+target)
}
