package ingestion

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// childrenOf assigns a bundle folder, inside the parent's bundle, to each file that is imported by itself. No two differ only in
// case, none is a folder that holds others, and none has the name of a file of the bundle.
func (pl places) childrenOf(names []string) []manifest.Child {
	taken := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			taken[strings.ToLower(dir)] = true
		}
	}
	children := make([]manifest.Child, 0, len(names))
	for _, name := range names {
		plain := path.Join(path.Dir(name), pl.bundleOf(path.Base(name)))
		bundle := plain
		for n := 2; taken[strings.ToLower(bundle)] || pl.takenHere(bundle); n++ {
			bundle = numbered(plain, n)
		}
		taken[strings.ToLower(bundle)] = true
		children = append(children, manifest.Child{Name: name, Bundle: bundle})
	}
	return children
}

// takenHere reports whether a file of the job's own bundle has this name.
func (pl places) takenHere(name string) bool {
	return strings.EqualFold(name, pl.original()) || slices.ContainsFunc(reservedNames, func(r string) bool { return strings.EqualFold(r, name) })
}

// container returns what the job's file came in: the bundle of the archive or message whose files were put into this part of the
// import folder, and the file's name in it.
func (pl places) container() (bundle string, m manifest.Manifest, name string) {
	rel, ok := strings.CutPrefix(pl.job.Source, pl.set.ImportDir+"/")
	if !ok {
		return "", m, ""
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if bundle, m, ok := unpackedInto(pl.im, pl.set.ImportedDir, dir); ok {
			return bundle, m, strings.TrimPrefix(rel, dir+"/")
		}
	}
	return "", m, ""
}

// unpackedInto returns the bundle of the archive or message whose files were put into this folder below the import folder.
func unpackedInto(im *Importer, importedDir, dir string) (bundle string, m manifest.Manifest, ok bool) {
	for _, name := range manifest.UnpackedFrom(dir) {
		bundle = path.Join(importedDir, name)
		if m, ok = im.manifest(bundle); ok && len(m.Children) > 0 {
			return bundle, m, true
		}
	}
	return "", m, false
}

// home returns where the note of an archive or message links to for the job's file, or "" if the file came in none.
func (pl places) home() string {
	bundle, m, name := pl.container()
	for _, c := range m.Children {
		if c.Name == name {
			return path.Join(bundle, c.Bundle)
		}
	}
	return ""
}

// fromArchive reports whether the job's file came in an archive.
func (pl places) fromArchive() bool {
	_, m, _ := pl.container()
	return m.Source.Kind == filetype.KindArchive && pl.home() != ""
}

// address returns the name of the job's bundle if nothing else has it, and the names that are reserved for others: an archive's note
// links to the bundles of its files before they exist, in whatever order they are imported.
func (pl places) address() (name string, kept map[string]bool) {
	name, kept = orElse(pl.home(), pl.moved()), map[string]bool{}
	bundle, m, _ := pl.container()
	for _, c := range m.Children {
		if other := path.Join(bundle, c.Bundle); other != name {
			kept[other] = true
		}
	}
	return name, kept
}

// moved returns the name of the job's bundle: where a run has moved the version before, else that in the folder of imports.
func (pl places) moved() string {
	name := pl.bundle()
	for _, now := range []string{name, pl.im.moved(name)} {
		if m, ok := pl.im.manifest(now); ok && m.Source.Path == pl.job.Source {
			return now
		}
	}
	return name
}

// published finds the bundle of this import by its name alone, or returns "".
func (pl places) published() string {
	name, kept := pl.address()
	for n := 1; n <= maxNumber; n++ {
		candidate := numbered(name, n)
		if kept[candidate] {
			continue
		}
		if !pl.im.exists(candidate) {
			return ""
		}
		if pl.holds(candidate) {
			return candidate
		}
	}
	return ""
}

// duplicate returns a bundle of the same bytes and settings from another import. An empty file has nothing in common with another
// one of another name.
func (pl places) duplicate(ctx context.Context) (id, bundle string, err error) {
	im, j := pl.im, pl.job
	home := pl.home() // a link leads there, so a bundle elsewhere does not count
	same := func(bundle string) (string, bool) {
		m, ok := im.manifest(bundle)
		ok = ok && (home == "" || home == bundle)
		ok = ok && m.Source.SHA256 == j.SHA256 && m.Import.Settings == j.Hash() && m.Import.ID != j.ID
		ok = ok && (j.Size > 0 || m.Source.Path == j.Source)
		return m.Import.ID, ok
	}
	if im.Imported != nil {
		_, bundle, err := im.Imported(ctx, j.SHA256, j.Hash())
		if err != nil {
			return "", "", fmt.Errorf("look for earlier imports of %s: %w", j.Source, err)
		}
		if id, ok := same(bundle); ok {
			return id, bundle, nil
		}
	}
	// The journal may be younger than the vault.
	name, kept := pl.address()
	for n := 1; n <= maxNumber; n++ {
		candidate := numbered(name, n)
		if kept[candidate] {
			continue
		}
		if !im.exists(candidate) {
			return "", "", nil
		}
		if id, ok := same(candidate); ok {
			return id, candidate, nil
		}
	}
	return "", "", nil
}

// Why members stay in their archive, where that is looked at.
const (
	whyIgnored = "ignored" // it means nothing on other machines
	whyHidden  = "it is hidden"
)

// drive is the first part of an absolute name of Windows. "A: first.md" is a name like any other.
var drive = regexp.MustCompile(`^[A-Za-z]:($|[^ ])`)

// memberParts returns the parts of an archive member's name, or why it stays in the archive.
func memberParts(m archive.Member) (parts []string, why string) {
	parts = strings.Split(strings.ReplaceAll(m.Name, `\`, "/"), "/")
	for i, part := range parts {
		switch {
		case part == ".." || i == 0 && (part == "" || drive.MatchString(part)):
			return nil, "its name leads out of the archive"
		case part == "__MACOSX" || part == ".DS_Store" || part == "Thumbs.db" || part == "desktop.ini" || strings.HasPrefix(part, "._"):
			return nil, whyIgnored
		}
	}
	parts = slices.DeleteFunc(append(strings.Split(m.Folder, "/"), parts...), func(p string) bool { return p == "" || p == "." })
	switch {
	case m.Special != "":
		return nil, "it is " + m.Special
	case m.Locked:
		return nil, "it is encrypted; unpack it and drop the files"
	case len(parts) == 0 || len(parts) > archive.MaxFolders:
		return nil, "it lies too deep"
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") }):
		return nil, whyHidden
	}
	return parts, ""
}

// memberName returns the safe name of an archive member below the collection's folder, or why it stays in the archive.
func (pl places) memberName(m archive.Member, taken map[string]bool) (name, why string) {
	parts, why := memberParts(m)
	if why != "" {
		return "", why
	}
	if pl.takenHere(parts[0]) && len(parts) > 1 {
		parts[0] += " (2)" // the bundle has a file of this name
	}
	for i, part := range parts {
		parts[i] = vault.SafeName(part, nameBytes)
	}
	name = path.Join(parts...)
	if why := pl.untaken(name); why != "" {
		return "", why
	}
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = vault.Numbered(path.Join(parts...), n)
	}
	return name, ""
}

// untaken returns why the import folder would not take a member of this name, or "".
func (pl places) untaken(name string) string {
	if pl.im.Takes != nil && !pl.im.Takes(path.Join(pl.inbox(pl.bundle()), name)) {
		return "the import folder ignores files of this name"
	}
	return ""
}

// volume is the name of one of several archives in which Notion packs the files of one export.
var volume = regexp.MustCompile(`(?i)-part-\d+/$`)

// treeName returns the path of an archive member in its tree, as the archive has it, or why it stays in the archive.
func (pl places) treeName(m archive.Member) (name, why string) {
	if volume.MatchString(m.Folder) {
		m.Folder = ""
	}
	parts, why := memberParts(m)
	if why != "" {
		return "", why
	}
	return path.Join(parts...), pl.untaken(path.Join(parts...))
}

// inbox returns the folder below the import folder that receives the members, so that their bundles are placed inside the
// archive's own. If a file has the folder's name, as a mailbox without an extension has, the folder gets another one.
func (pl places) inbox(bundle string) string {
	name := path.Join(pl.set.ImportDir, strings.TrimPrefix(bundle, pl.set.ImportedDir+"/"))
	if info, err := fs.Stat(pl.im.Files.FS(), name); err == nil && !info.IsDir() {
		name += manifest.Unpacked
	}
	return name
}
