package policy

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Target is a name in a vault, with what the gate needs to know of it. [Look] fills one in.
type Target struct {
	Name   string // slash path from the vault's root
	Exists bool   // something has the name, in any spelling that differs in case or Unicode form only
	Link   string // the first link on the way, or the file itself when it is one; empty: none
	Short  bool   // looks like a short name of Windows, which may stand for another file
	Bundle string // the folder of the import that the file lies in; empty: none
	Kept   bool   // it is what an import keeps: manifest, original, pages, pictures, text
}

// Look finds out what stands at a name. It only reads. A vault that cannot tell of links is taken to have none.
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
		p.Bundle, p.Kept = bundle(vault, p.Name)
	}
	return p
}

// walk follows a name part by part. A part that is there in another spelling counts, as it does for the vault.
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

// twin is the entry of a folder whose name differs in case or Unicode form only.
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

// manifestBytes is as much of a manifest as is read: the source stands at its beginning.
const manifestBytes = 1 << 20

// bundle finds the import that a file lies in, and says whether the file is one that the import keeps. Only notes directly
// in the bundle's folder are for people and runs to write; an original that is a note is none of them.
func bundle(vault fs.FS, name string) (dir string, kept bool) {
	if Fold(path.Base(name)) == "manifest.json" && isManifest(vault, name) != nil {
		return path.Dir(name), true
	}
	for dir = path.Dir(name); dir != "."; dir = path.Dir(dir) {
		m := isManifest(vault, path.Join(dir, "manifest.json"))
		if m == nil {
			continue
		}
		note := path.Dir(name) == dir && (strings.HasSuffix(Fold(name), ".md") || strings.HasSuffix(Fold(name), ".markdown"))
		return dir, !note || Fold(path.Base(name)) == Fold(m.Source.Name) || Fold(path.Base(name)) == "manifest.json"
	}
	return "", false
}

// manifest is what tells an import's manifest from other files of that name.
type manifest struct {
	Version int `json:"version"`
	Source  struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"source"`
}

// isManifest reads the manifest of an import; nil when there is none. One that is too large or broken counts: what cannot
// be told is kept.
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

// fault says what is wrong with the name itself; empty when nothing is. Files that are there may have any name.
func (p Target) fault() string {
	switch {
	case p.Name == "" || !utf8.ValidString(p.Name) || !fs.ValidPath(p.Name) || p.Name == ".":
		return "is no path in the vault"
	case !p.Exists && strings.Contains(p.Name, `\`):
		return "holds a backslash"
	case !p.Exists && strings.ContainsFunc(p.Name, unicode.IsControl):
		return "holds a control character"
	case p.Short:
		return "looks like a short name of Windows, which may stand for another file"
	}
	return ""
}

// hidden says whether a part of a name begins with a dot on any system: some leave out characters without a shape.
func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(shapes(part), ".") {
			return true
		}
	}
	return false
}

// settingsFile says whether a folded name is that of settings or keys: files at the vault's root.
func settingsFile(same string) bool {
	switch same {
	case "settings.yaml", "settings.yml", "secrets.yaml", "secrets.yml":
		return true
	}
	return false
}

// Fold is the form in which the gate compares names with those that it protects: equal for all names that any file system
// a vault may lie on could take for one. It goes further than any of them.
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

// shapes is a text in one case and one form, without characters that have no shape.
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

// shortName says whether a part of a name could be a short one that Windows makes up: SETTIN~1.YAM.
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

// atOrBelow says whether a folded name is a folder or lies below it.
func atOrBelow(same, dir string) bool { return same == dir || below(same, dir) }

func below(same, dir string) bool { return strings.HasPrefix(same, dir+"/") }
