package disk

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Remove removes a file that has the bytes with the given SHA-256. One that is gone is no error; one that has other bytes
// now stays, and the error is a *ConflictError. A cancelled ctx removes nothing.
func (v *Vault) Remove(ctx context.Context, pass policy.Pass, sha256 string) error {
	name, err := v.admit(pass, policy.Delete)
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return v.remove(ctx, name, sha256)
}

// remove is Remove without the permission.
func (v *Vault) remove(ctx context.Context, name, sha256 string) error {
	if err := vault.CheckName(name); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	name = v.actual(name)
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := v.removeSame(name, sha256); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	v.index.remove(name)
	return nil
}

// Takes says whether a file of a name below the import folder would be imported: false for clutter, for files that
// programs are still writing, and for what the settings ignore.
func (v *Vault) Takes(name string) bool {
	return v.filter.inImport(name) && v.filter.arrival(name) == take
}
