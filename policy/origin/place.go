package origin

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules define what is foreign without a record. The zero value has the folders Imported and Import.
type Rules struct {
	ImportedDir string   // imported bundles are below it
	ImportDir   string   // files wait here to be imported, and failed ones remain below it
	Globs       []string // policy.untrusted, such as Clippings/**
	Properties  []string // policy.untrusted_properties: notes with one of these properties
}

// Place returns why files with a name are foreign, whatever their content, or "". It ignores case, as some file systems do.
func (r Rules) Place(name string) string {
	key := Key(name)
	for _, f := range []struct{ dir, standard, why string }{
		{r.ImportedDir, "Imported", "imported"}, {r.ImportDir, "Import", "waits to be imported"},
	} {
		dir := Key(strings.Trim(f.dir, "/"))
		if dir == "" {
			dir = Key(f.standard)
		}
		if key == dir || strings.HasPrefix(key, dir+"/") {
			return f.why
		}
	}
	for _, glob := range r.Globs {
		if ok, err := doublestar.Match(Key(glob), key); err == nil && ok {
			return "policy.untrusted: " + glob
		}
	}
	return ""
}

// hasProperties reports whether a note may have properties.
func hasProperties(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("---"))
}

// property returns the property by which a note is foreign, or "".
func (r Rules) property(text []byte) string {
	if len(r.Properties) == 0 {
		return ""
	}
	if !hasProperties(text) {
		return ""
	}
	lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	if string(bytes.TrimRight(lines[0], " \t\r")) != "---" {
		return ""
	}
	for i, line := range lines[1:] {
		if s := string(bytes.TrimRight(line, " \t\r")); s == "---" || s == "..." {
			break
		}
		key, value, isProperty := strings.Cut(string(line), ":")
		if !isProperty || strings.TrimLeft(key, " \t") != key {
			continue
		}
		value = strings.Trim(value, " \t\r\"'")
		listed := i+2 < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[i+2], " \t"), []byte("- "))
		for _, wanted := range r.Properties {
			if strings.EqualFold(strings.Trim(strings.TrimSpace(key), `"'`), wanted) && (value != "" && value != "null" && value != "[]" || listed) {
				return wanted
			}
		}
	}
	return ""
}

// maxManifest bounds the manifest of an import, in bytes.
const maxManifest = 64 << 20

// bundle returns the origin of a file in an imported bundle, wherever the user has filed it, or "".
func bundle(files fs.FS, name string) string {
	dir := path.Dir(name)
	for range 20 { // pages/ and text/ are next to the manifest, the folders of an export below it
		if o := manifest(files, path.Join(dir, "manifest.json")); o != "" {
			return o
		}
		if dir == "." {
			break
		}
		dir = path.Dir(dir)
	}
	return ""
}

func manifest(files fs.FS, name string) string {
	f, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	var m struct {
		Version int `json:"version"`
		Source  struct {
			Name   string `json:"name"`
			SHA256 string `json:"sha256"`
		} `json:"source"`
		Import struct {
			ID string `json:"id"`
		} `json:"import"`
	}
	if json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&m) != nil || m.Version < 1 || m.Source.SHA256 == "" {
		return ""
	}
	return OfImport(m.Import.ID, m.Source.Name)
}
