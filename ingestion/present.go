package ingestion

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// Lacks reports whether another attempt at the file of a bundle may add to it: the file or a page was not read, or the user has
// removed the note. Bundles around other files stay as they are: some of these files are the user's by now.
func Lacks(fsys fs.FS, bundle string) bool {
	m, ok := bundleAt(fsys, bundle)
	return ok && len(m.Children)+len(m.Members) == 0 && (m.Again() || noteOf(fsys, bundle, m) == "")
}

// NoteGone reports whether the user has removed the note of a bundle.
func NoteGone(fsys fs.FS, bundle string) bool {
	m, ok := bundleAt(fsys, bundle)
	return ok && noteOf(fsys, bundle, m) == ""
}

func bundleAt(fsys fs.FS, bundle string) (manifest.Manifest, bool) {
	data, err := fs.ReadFile(fsys, path.Join(bundle, manifest.File))
	if err != nil {
		return manifest.Manifest{}, false
	}
	m, err := manifest.Parse(data)
	return m, err == nil
}

// present is the manifest of a bundle with the name that its note has now: users rename notes.
func present(im *Importer, bundle string) (manifest.Manifest, bool) {
	m, ok := im.manifest(bundle)
	was := m.NoteName()
	if now := noteOf(im.Files.FS(), bundle, m); ok && now != "" && now != was {
		m.Note = now
		if digests, ok := m.Generated[was]; ok {
			delete(m.Generated, was)
			m.Generated[now] = digests
		}
	}
	return m, ok
}

// noteOf returns the name of a bundle's note: that in its manifest, or that of the only other note there with a generated part. It
// returns "" if there is none.
func noteOf(fsys fs.FS, bundle string, m manifest.Manifest) string {
	if _, err := fs.Stat(fsys, path.Join(bundle, m.NoteName())); err == nil {
		return m.NoteName()
	}
	entries, err := fs.ReadDir(fsys, bundle)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || path.Ext(name) != ".md" || name == m.Source.Name || slices.ContainsFunc(m.Members, func(f manifest.Member) bool { return f.Path == name }) {
			continue
		}
		data, err := fs.ReadFile(fsys, path.Join(bundle, name))
		if err != nil || !strings.Contains(string(data), indexnote.Begin) || !strings.Contains(string(data), indexnote.End) {
			continue
		}
		if found != "" {
			return "" // nothing shows which of them it is
		}
		found = name
	}
	return found
}
