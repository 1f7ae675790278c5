package workflow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Loaded is one workflow of a vault with its diagnostics.
type Loaded struct {
	Plan        *Plan             `json:"plan"` // never nil
	Diagnostics []diag.Diagnostic `json:"diagnostics,omitempty"`
}

// Valid reports whether the workflow may run.
func (l Loaded) Valid() bool { return !diag.HasErrors(l.Diagnostics) }

// Load reads every workflow below a folder, at any depth, in natural order of their names. Files and folders whose name
// starts with `_` or `.` are skipped. A file that cannot be read or understood is listed with its diagnostics and does not
// stop the others. A missing folder has no workflows; the error is for one that cannot be listed.
func Load(fsys fs.FS, dir string) ([]Loaded, error) { return load(fsys, dir, parseLoaded) }

// parsing makes a plan of a note's bytes.
type parsing func(name, file string, src []byte) Loaded

func parseLoaded(name, file string, src []byte) Loaded {
	plan, list := Parse(name, file, src)
	return Loaded{plan, list}
}

func load(fsys fs.FS, dir string, parse parsing) ([]Loaded, error) {
	var all []Loaded
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == dir {
				return err
			}
			all = append(all, unreadable(name, dir, err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if base := path.Base(name); name != dir && (base[0] == '_' || base[0] == '.') {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() && strings.EqualFold(path.Ext(name), ".md") {
			all = append(all, loadFile(fsys, name, dir, parse))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workflows in %q: %w", dir, err)
	}
	sortLoaded(all)
	return all, nil
}

// LoadFile reads one workflow like [Load].
func LoadFile(fsys fs.FS, file, dir string) Loaded { return loadFile(fsys, file, dir, parseLoaded) }

func loadFile(fsys fs.FS, name, dir string, parse parsing) Loaded {
	file, err := fsys.Open(name)
	if err != nil {
		return unreadable(name, dir, err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return unreadable(name, dir, err)
	}
	return parse(NameOf(name, dir), name, src)
}

func unreadable(name, dir string, err error) Loaded {
	at := Position{File: name, Line: 1, Column: 1}
	if !utf8.ValidString(name) {
		return Loaded{
			Plan:        &Plan{Name: NameOf(name, dir), File: name, Meta: defaults()},
			Diagnostics: []diag.Diagnostic{directives.At(at, directives.CodeUnreadable, "rename the file", "the file's name is not UTF-8 text")},
		}
	}
	return Loaded{
		Plan:        &Plan{Name: NameOf(name, dir), File: name, Meta: defaults()},
		Diagnostics: []diag.Diagnostic{directives.At(at, directives.CodeUnreadable, "", "cannot read the file: %v", err)},
	}
}
