package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/vault"
)

// straighten renames a file of the import folder whose name is no text, which no journal, note or link can hold, and
// gives its new name: what cannot be read of it becomes `_`. Of the parts of the name those before the first bad one
// stay. It never overwrites. Folders that are empty then are removed.
func (v *Vault) straighten(name string) (string, error) {
	parts := strings.Split(name, "/")
	bad := false
	for i, part := range parts {
		if bad = bad || !utf8.ValidString(part); bad {
			parts[i] = vault.SafeName(part, vault.MaxPartBytes)
		}
	}
	target := path.Join(parts...)
	dir := v.actual(path.Dir(target))
	if err := v.makeFolder(dir); err != nil {
		return "", fmt.Errorf("rename: %w", err)
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	for i := range maxNumber {
		candidate := v.actual(vault.Numbered(path.Join(dir, path.Base(target)), i+1))
		err := v.place(name, candidate)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("rename: %w", err)
		}
		for dir := path.Dir(name); !utf8.ValidString(dir) && v.root.Remove(dir) == nil; { // refuses folders that hold anything
			dir = path.Dir(dir)
		}
		return candidate, nil
	}
	return "", fmt.Errorf("rename to %q: %w", target, fs.ErrExist)
}

// nameless deals with a file that is ready but for its name.
func (s *session) nameless(f finding, now time.Time) {
	name, err := s.v.straighten(f.name)
	if err != nil {
		f.err = err
		s.tracker.checked(f, now)
		return
	}
	s.w.report(Report{Code: "renamed", Name: name, Message: fmt.Sprintf("the name %q was not text (UTF-8)", f.name)})
	s.lost(f.name, now)
	s.touch(name, now)
}
