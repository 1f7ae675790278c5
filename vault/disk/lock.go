package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// ErrInUse means that another process uses the vault.
var ErrInUse = errors.New("another vaultflow uses this vault, with another state directory")

// Lock takes the vault for this process, until release or the end of the process. The lock is one on the folder itself,
// so that nothing is written into the vault, which may be synced or read-only, and so that every path to the folder leads to the same
// lock. Where folders cannot be locked (Windows, some network file systems) nothing is locked and the error is nil.
func (v *Vault) Lock() (release func() error, err error) {
	lock := flock.New(v.path, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryLock()
	if err != nil {
		v.log.Debug("folder not locked; two vaultflows on this vault would not know of each other", "err", err)
		return func() error { return nil }, nil
	}
	if !free {
		return nil, ErrInUse
	}
	return lock.Unlock, nil
}

// There returns nil if the opened folder is still in its place, or an error with what is there now.
// A disk that was unmounted, and a folder that was moved, must not look as if all notes had been deleted.
func (v *Vault) There() error {
	now, err := os.Stat(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the vault's folder %s is gone", v.path)
	}
	if err != nil {
		return fmt.Errorf("look at the vault's folder: %w", err)
	}
	opened, err := v.root.Stat(".")
	if err != nil {
		return fmt.Errorf("look at the vault's folder: %w", err)
	}
	if !os.SameFile(now, opened) {
		return fmt.Errorf("another folder is in the place of the vault's folder %s", v.path)
	}
	return nil
}
