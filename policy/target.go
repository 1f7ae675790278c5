package policy

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Target is a name in a vault, with what the gate needs to know about it. [Look] returns one.
type Target struct {
	Name   string // slash path from the vault's root
	Exists bool   // something has the name, perhaps in another case or Unicode form
	Link   string // the first link on the way, or the file itself if it is one; empty: none
	Short  bool   // looks like a Windows short name, which may mean another file
	Bundle string // the folder of the import that contains the file; empty: none
	Kept   bool   // it belongs to the import: manifest, original, pages, pictures, text

	Document bool // it is the folder of an import
	Original bool // it is the file that was imported
}

// Look examines what is at a name. It only reads. A vault that does not report links is treated as having none.
func Look(vault fs.FS, name string) Target {
	p := Target{Name: name}
	if !fs.ValidPath(name) || name == "." {
		return p
	}
	p.Name, p.Exists, p.Link = walk(vault, name)
	p.Short = shortName(p.Name) && !p.Exists
	if p.Exists && shortName(p.Name) {
		p.Short = !listed(vault, p.Name)
	}
	if p.Link == "" {
		p.Bundle, p.Kept, p.Original = bundle(vault, p.Name)
		p.Document = p.Bundle == "" && p.Exists && isManifest(vault, path.Join(p.Name, "manifest.json")) != nil
	}
	return p
}

// walk follows a name part by part. A part that exists in another spelling counts, as it does for the vault.
func walk(vault fs.FS, name string) (found string, exists bool, link string) {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		next := path.Join(found, part)
		info, err := lstat(vault, next)
		if err != nil {
			twin := twin(vault, found, part)
			if twin == "" {
				return path.Join(found, path.Join(parts[i:]...)), false, ""
			}
			if info, err = lstat(vault, twin); err != nil {
				return path.Join(found, path.Join(parts[i:]...)), false, ""
			}
			next = twin
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return path.Join(next, path.Join(parts[i+1:]...)), true, next
		}
		found = next
	}
	return found, true, ""
}

func lstat(vault fs.FS, name string) (fs.FileInfo, error) {
	if links, ok := vault.(fs.ReadLinkFS); ok {
		return links.Lstat(name)
	}
	return fs.Stat(vault, name)
}

// twin returns the entry of a folder whose name differs only in case or Unicode form.
func twin(vault fs.FS, dir, part string) string {
	entries, err := fs.ReadDir(vault, path.Join(".", dir))
	if err != nil {
		return ""
	}
	want, found := FoldName(part), ""
	for _, e := range entries {
		if FoldName(e.Name()) == want {
			if found != "" {
				return ""
			}
			found = path.Join(dir, e.Name())
		}
	}
	return found
}

// FoldName returns the form in which a vault compares names: NFC, lower case, no-break spaces as plain ones. Names with the
// same form mean the same file, so it folds less than [Fold].
func FoldName(name string) string { return strings.ToLower(blanks.Replace(norm.NFC.String(name))) }

var blanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

func listed(vault fs.FS, name string) bool {
	entries, err := fs.ReadDir(vault, path.Dir(name))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == path.Base(name) {
			return true
		}
	}
	return false
}

// manifestBytes is how much of a manifest is read: the source is at its start.
const manifestBytes = 1 << 20

// bundle finds the import that contains a file, and reports whether the file belongs to the import, and whether it is what was imported. Only notes directly in
// the bundle's folder may be changed by users and runs, except an original that is a note.
func bundle(vault fs.FS, name string) (dir string, kept, original bool) {
	if Fold(path.Base(name)) == "manifest.json" && isManifest(vault, name) != nil {
		return path.Dir(name), true, false
	}
	for dir = path.Dir(name); dir != "."; dir = path.Dir(dir) {
		m := isManifest(vault, path.Join(dir, "manifest.json"))
		if m == nil {
			continue
		}
		note := path.Dir(name) == dir && (strings.HasSuffix(Fold(name), ".md") || strings.HasSuffix(Fold(name), ".markdown"))
		original = path.Dir(name) == dir && Fold(path.Base(name)) == Fold(m.Source.Name)
		return dir, !note || original || Fold(path.Base(name)) == "manifest.json", original
	}
	return "", false, false
}

// manifest has the fields that distinguish an import's manifest from other files of that name.
type manifest struct {
	Version int `json:"version"`
	Source  struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"source"`
}

// isManifest reads an import's manifest, or returns nil. One that is too large or broken counts, because its files may belong
// to an import.
func isManifest(vault fs.FS, name string) *manifest {
	file, err := vault.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	var m manifest
	if err := json.NewDecoder(io.LimitReader(file, manifestBytes)).Decode(&m); err != nil {
		return &m
	}
	if m.Version == 0 && m.Source.SHA256 == "" {
		return nil
	}
	return &m
}

// fault returns what is wrong with the name itself, or "". Existing files may have any name.
func (p Target) fault() string {
	switch {
	case p.Name == "" || !utf8.ValidString(p.Name) || !fs.ValidPath(p.Name) || p.Name == ".":
		return "is not a path in the vault"
	case !p.Exists && strings.Contains(p.Name, `\`):
		return "contains a backslash"
	case !p.Exists && strings.ContainsFunc(p.Name, unicode.IsControl):
		return "contains a control character"
	case p.Short:
		return "looks like a Windows short name, which may mean another file"
	}
	return ""
}

// hidden reports whether a part of a name starts with a dot on any system: some drop invisible characters.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(shapes(part), ".") {
			return true
		}
	}
	return false
}

// settingsFile reports whether a folded name is that of settings or keys, which are at the vault's root.
func settingsFile(same string) bool {
	return slices.Contains(SettingsFiles(), same)
}

// SettingsFiles returns the names of settings and keys at the vault's root. Models neither read nor write them.
func SettingsFiles() []string {
	return []string{"settings.yaml", "settings.yml", "secrets.yaml", "secrets.yml"}
}

// Fold returns the form in which the gate compares names with protected ones: equal for all names that any file system could
// treat as the same. It goes further than any single one.
func Fold(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		part = shapes(part)
		if before, _, stream := strings.Cut(part, ":"); stream && before != "" {
			part = before // NTFS: a stream of the file before the colon
		}
		parts[i] = strings.TrimRight(part, ". ")
	}
	return strings.Join(parts, "/")
}

// shapes returns a text in one case and one form, without invisible characters.
func shapes(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, norm.NFC.String(s))
	return norm.NFC.String(cases.Fold().String(s))
}

// shortName reports whether a part of a name could be a generated Windows short name: SETTIN~1.YAM.
func shortName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		stem, ext, _ := strings.Cut(part, ".")
		before, number, tilde := strings.Cut(stem, "~")
		if tilde && before != "" && len(stem) <= 8 && len(ext) <= 3 && number != "" && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	return false
}

// atOrBelow reports whether a folded name is a folder or below it.
func atOrBelow(same, dir string) bool { return same == dir || below(same, dir) }

func below(same, dir string) bool { return strings.HasPrefix(same, dir+"/") }
