package disk

import (
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/vault"
)

// List implements [vault.Lister].
func (v *Vault) List(match func(name string) bool) (files []vault.File, unread []string, err error) {
	unread, err = v.walk(".", func(name string, d fs.DirEntry) {
		if d.IsDir() || v.filter.inImport(name) || !match(name) || !v.indexable(name, d) {
			return
		}
		info, err := v.root.Stat(name)
		if err != nil {
			return // gone since, or a link whose file is
		}
		files = append(files, vault.File{Name: name, Size: info.Size(), Modified: info.ModTime()})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list files: %w", err)
	}
	return files, unread, nil
}

// Look implements [vault.Lister]. Files above hashLimit get no digest.
func (v *Vault) Look(name string) (vault.File, error) {
	for range 3 {
		f := v.look(request{name: name, force: true, limit: hashLimit})
		switch {
		case f.gone:
			return vault.File{}, &fs.PathError{Op: "look", Path: name, Err: fs.ErrNotExist}
		case f.err != nil:
			return vault.File{}, fmt.Errorf("read %q: %w", name, f.err)
		case !f.changed:
			return vault.File{Name: name, SHA256: f.digest, Size: f.found.size, Modified: f.found.mod}, nil
		}
	}
	return vault.File{}, fmt.Errorf("read %q: it is being written", name)
}
