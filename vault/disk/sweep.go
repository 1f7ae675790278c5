package disk

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// Sweep removes the temporary files that a killed process left beside the notes it was writing, and returns how many.
// Only the one process that works on the vault may call it, before it writes anything itself. Folders of other programs are
// not entered; those of bundles are kept, since their imports resume in them.
func (v *Vault) Sweep() (int, error) {
	swept := 0
	var faults []error
	err := fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			faults = append(faults, err)
			return nil
		case d.IsDir() && name != "." && name != path.Dir(policy.IdentityFile) && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		case d.Type().IsRegular() && temporary(path.Base(name)):
			if err := v.root.Remove(filepath.FromSlash(name)); err != nil {
				faults = append(faults, err)
				return nil
			}
			swept++
		}
		return nil
	})
	return swept, errors.Join(append(faults, err)...)
}
