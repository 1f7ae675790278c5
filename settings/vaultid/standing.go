package vaultid

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Standing is how a vault and a state directory belong together.
type Standing string

// The standings. The zero value is none of them.
const (
	New      Standing = "new"      // the state directory records no vault: the first work does
	Own      Standing = "own"      // this vault, at its recorded place
	Moved    Standing = "moved"    // this vault, which was elsewhere before
	Replaced Standing = "replaced" // another folder at the recorded place, without the recorded id
	Copied   Standing = "copied"   // a copy: the original is at the recorded place
	Foreign  Standing = "foreign"  // another vault
)

// standing compares a vault with a record. look returns what is at the recorded place now, and whether it is the vault's folder.
func (r Record) standing(v Vault, look func(path string) (other Vault, same bool, err error)) Standing {
	switch {
	case r.Path == "":
		return New
	case v.Path == r.Path:
		return r.inPlace(v)
	}
	other, same, err := look(r.Path)
	switch {
	case same:
		return Own // a second path to one folder: a bind mount, or another case
	case !r.knows(v) && (v.ID != "" || r.ID() != "" || err == nil):
		return Foreign
	case err == nil && r.knows(other) && !r.has(v.ID):
		return Foreign // a folder is at one place only: two disks that were formatted in one moment have the same numbers
	case err == nil && r.knows(other):
		return Copied
	}
	return Moved
}

// inPlace judges a vault at the recorded path. With the recorded id it is the same vault: restored from a backup, or its disk mounted
// again. Without, the folder must be the same one; inode numbers are reused, so a folder without a birth time proves nothing against
// another id.
func (r Record) inPlace(v Vault) Standing {
	switch {
	case r.knows(v), v.Folder == r.Folder && (v.ID == "" || r.ID() == ""):
		return Own
	}
	return Replaced
}

// knows reports whether a vault is the recorded one beyond doubt, wherever it is. Of a vault without an id, only its folder proves that.
func (r Record) knows(v Vault) bool { return r.has(v.ID) || sameFolder(v, r) }

// sameFolder reports whether a vault's folder is the recorded one beyond doubt. A device's number changes with a mount.
func sameFolder(v Vault, r Record) bool {
	_, now, _ := strings.Cut(v.Folder, ":")
	_, before, _ := strings.Cut(r.Folder, ":")
	return now == before && strings.Contains(now, "@")
}

// lookAt looks at a recorded place from a vault.
func lookAt(v Vault) func(path string) (Vault, bool, error) {
	return func(path string) (Vault, bool, error) {
		there, err := os.Stat(path)
		if err == nil && !there.IsDir() {
			err = fs.ErrNotExist
		}
		if err != nil {
			return Vault{}, false, err
		}
		other, err := Look(path)
		here, hereErr := os.Stat(v.Path)
		return other, hereErr == nil && os.SameFile(there, here), errors.Join(err, hereErr)
	}
}
