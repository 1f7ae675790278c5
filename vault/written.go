package vault

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

// Written resolves the links that people write into workflows. It finds what [Links] finds, then what paths of older bundles
// mean (see [Actual]), then the only note with an alias. Links inside notes know neither, as in Obsidian.
type Written struct {
	links   Links
	files   Lister
	version func() int64
	fsys    fs.FS

	mu      sync.Mutex
	known   map[string]aliased  // by note, guarded by mu
	aliases map[string][]string // the notes of each folded alias; nil before the first look, guarded by mu
	read    int64               // version of the files that aliases are of, guarded by mu
}

// aliased are the folded aliases of a note with this size and time.
type aliased struct {
	size     int64
	modified time.Time
	names    []string
}

var _ Links = (*Written)(nil)

// NewWritten returns links over these files. version returns another number once files may have changed: until then, they are not
// looked at again. The folder is the vault.
func NewWritten(links Links, files Lister, version func() int64, fsys fs.FS) *Written {
	return &Written{links: links, files: files, version: version, fsys: fsys, known: map[string]aliased{}}
}

// Locate implements [Links]. If several notes have an alias, nothing is found, and they are Near.
func (w *Written) Locate(linkpath, from string) Location {
	loc := w.links.Locate(linkpath, from)
	if loc.Found {
		return loc
	}
	if former := w.former(linkpath, from); former.Found {
		return former
	}
	switch names := w.named(linkpath); len(names) {
	case 0:
		return loc
	case 1:
		return Location{Name: names[0], Found: true}
	default:
		return Location{Near: slices.Clone(names[:min(len(names), 5)])}
	}
}

// former finds the file that a link to a file of an older bundle means now: its note by the manifest beside it.
func (w *Written) former(linkpath, from string) Location {
	dir, base := path.Split(linkpath)
	stem := strings.TrimSuffix(base, ".md")
	var beside string
	var mean func(name string) string
	switch {
	case dir == "":
		return Location{}
	case strings.EqualFold(stem+".md", FormerNote):
		beside, mean = ManifestFile, func(name string) string { return BundleNote(w.fsys, path.Dir(name)) }
	case isPage(path.Join(dir, stem), ""):
		beside, mean = stem+".txt", func(name string) string {
			if NewBundles(w.fsys).IsPageText(name) {
				return name
			}
			return ""
		}
	default:
		return Location{}
	}
	loc := w.links.Locate(dir+beside, from)
	if !loc.Found {
		return Location{}
	}
	for i, name := range loc.Ambiguous {
		loc.Ambiguous[i] = mean(name)
	}
	loc.Name = mean(loc.Name)
	loc.Found = loc.Name != "" && there(w.fsys, loc.Name)
	return loc
}

// named returns the notes that have an alias.
func (w *Written) named(alias string) []string {
	if alias = Fold(strings.TrimSpace(alias)); alias == "" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if version := w.version(); w.aliases == nil || version != w.read {
		w.look()
		w.read = version
	}
	return w.aliases[alias]
}

// look reads the aliases of notes that are new or have changed.
func (w *Written) look() {
	w.aliases = nil
	notes, _, err := w.files.List(func(name string) bool { return strings.HasSuffix(name, ".md") })
	if err != nil {
		return
	}
	w.aliases = map[string][]string{}
	now := make(map[string]aliased, len(notes))
	for _, note := range notes {
		a, ok := w.known[note.Name]
		if !ok || a.size != note.Size || !a.modified.Equal(note.Modified) {
			a = aliased{note.Size, note.Modified, aliasesOf(w.fsys, note.Name)}
		}
		now[note.Name] = a
		for _, name := range a.names {
			if named := w.aliases[name]; len(named) == 0 || named[len(named)-1] != note.Name {
				w.aliases[name] = append(named, note.Name)
			}
		}
	}
	w.known = now
}

// maxProperties is as much of a note as is read for its aliases.
const maxProperties = 64 << 10

// aliasesOf returns the folded aliases in the properties of a note.
func aliasesOf(fsys fs.FS, name string) []string {
	file, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 4))
	if err != nil || !bytes.HasPrefix(head, []byte("---")) {
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(file, maxProperties))
	if err != nil {
		return nil
	}
	front, _, found := strings.Cut("\n"+strings.ReplaceAll(string(rest), "\r\n", "\n"), "\n---")
	var properties struct {
		Aliases yaml.Node `yaml:"aliases"`
		Alias   yaml.Node `yaml:"alias"`
	}
	if !found || yaml.Unmarshal([]byte(front), &properties) != nil {
		return nil
	}
	var names []string
	for _, n := range []yaml.Node{properties.Aliases, properties.Alias} {
		switch n.Kind {
		case yaml.SequenceNode:
			for _, c := range n.Content {
				names = append(names, Fold(c.Value))
			}
		case yaml.ScalarNode:
			for value := range strings.SplitSeq(n.Value, ",") {
				names = append(names, Fold(strings.TrimSpace(value)))
			}
		}
	}
	return names
}
