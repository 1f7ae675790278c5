package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// writer writes and removes files.
type writer struct{ *folder }

// Write puts data into a note when the note still is what the writer read: base is the SHA-256 from Read, or empty
// when there must be no such file. Otherwise nothing is written and the error is a ConflictError. A write whose content
// is there already succeeds and touches nothing.
//
// The data goes to a temporary file in the same folder, is synced, compared with base once more and renamed over the
// note; then the folder is synced. The note's mode is kept; its inode and birth time change, as with every editor that
// saves safely. Missing folders are made. Dot folders are refused, so are notes that are links, and new names that not
// every system can hold. A cancelled ctx writes nothing. Two writers in this process never pass each other; one in
// another process has a few microseconds between comparing and renaming.
//
// The pass is for this file: one to create it takes no base. Links that appeared on the way since it was made are refused.
func (w *writer) Write(ctx context.Context, pass policy.Pass, data []byte, base string) error {
	name, err := w.admit(pass, policy.Create, policy.Change)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if pass.Action() == policy.Create && base != "" {
		return fmt.Errorf("write %q: the permission is for a new file: %w", name, fs.ErrExist)
	}
	return w.write(ctx, name, data, base)
}

// write is Write without the permission.
func (w *writer) write(ctx context.Context, name string, data []byte, base string) error {
	if err := vault.CheckName(name); err != nil && name != policy.IdentityFile {
		return fmt.Errorf("write: %w", err)
	}
	name, sum := w.actual(name), vault.Digest(data)
	info, done, err := w.compare(name, base, sum)
	if done || err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	if info == nil {
		if err := w.prepareNew(name); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	temp, err := w.fill(path.Dir(name), info, func(f *os.File) error { _, err := f.Write(data); return err })
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	if err := w.commit(ctx, temp, name, base, sum); err != nil {
		return errors.Join(err, ignoreMissing(w.root.Remove(temp)))
	}
	w.index.add(name)
	return nil
}

// commit looks at the target a last time and renames.
func (w *writer) commit(ctx context.Context, temp, name, base, sum string) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	info, done, err := w.compare(name, base, sum)
	switch {
	case err != nil:
		return err
	case done:
		return w.root.Remove(temp)
	case info == nil:
		return w.commitNew(temp, name)
	}
	if err := w.root.Rename(temp, name); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return w.syncDir(path.Dir(name))
}

func (w *writer) commitNew(temp, name string) error {
	err := w.place(temp, name)
	if errors.Is(err, fs.ErrExist) {
		have, _, digestErr := w.digestOf(name)
		return errors.Join(&vault.ConflictError{Name: name, Have: have}, digestErr)
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return nil
}

// compare looks at what a name holds: done when it is the new content already, an error when it is neither that nor
// the base. info is nil when there is no file.
func (w *writer) compare(name, base, sum string) (info fs.FileInfo, done bool, err error) {
	have, info, err := w.digestOf(name)
	switch {
	case err != nil:
		return nil, false, err
	case info != nil && have == sum:
		return info, true, nil
	case have != base:
		return nil, false, &vault.ConflictError{Name: name, Want: base, Have: have}
	}
	return info, false, nil
}

// prepareNew checks the name of a file that is to be made, and makes its folder.
func (w *writer) prepareNew(name string) error {
	if reason := vault.PartFault(path.Base(name)); reason != "" {
		return &vault.NameError{Name: name, Reason: reason}
	}
	if len(name) > vault.MaxNameBytes {
		return vault.ValidName(name)
	}
	return w.makeFolder(path.Dir(name))
}

// Remove removes a file that has the bytes with the given SHA-256. One that is gone is no error; one that has other bytes
// now stays, and the error is a *ConflictError. A cancelled ctx removes nothing.
func (w *writer) Remove(ctx context.Context, pass policy.Pass, sha256 string) error {
	name, err := w.admit(pass, policy.Delete)
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return w.remove(ctx, name, sha256)
}

// remove is Remove without the permission.
func (w *writer) remove(ctx context.Context, name, sha256 string) error {
	if err := vault.CheckName(name); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	name = w.actual(name)
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.removeSame(name, sha256); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	w.index.remove(name)
	return nil
}
