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

// Move gives a file a new name. It never overwrites: when the new name is taken the error matches fs.ErrExist, except
// when it holds the same bytes, then the old name is removed. A move that is repeated after it succeeded succeeds.
// Between file systems the file is copied durably first. A folder is moved by one rename, within one file system, and
// only to a name that nothing has. A cancelled ctx moves nothing.
func (v *Vault) Move(ctx context.Context, pass policy.Pass) error {
	from, err := v.admit(pass, policy.Move)
	if err == nil {
		err = v.straight(pass.To())
	}
	if err != nil {
		return fmt.Errorf("move: %w", err)
	}
	return v.rename(ctx, from, pass.To())
}

// rename is Move without the permission.
func (v *Vault) rename(ctx context.Context, from, to string) error {
	if err := errors.Join(vault.CheckName(from), vault.ValidName(to)); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	from, to = v.actual(from), v.actual(to)
	if from == to {
		return nil
	}
	folder := v.isFolder(from) || v.isFolder(to)
	move := v.move
	if folder {
		move = v.moveFolder
	}
	if err := move(ctx, from, to); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	v.index.remove(from)
	if folder {
		return v.learn(to)
	}
	v.index.add(to)
	return nil
}

func (v *Vault) isFolder(name string) bool {
	info, err := v.root.Lstat(name)
	return err == nil && info.IsDir()
}

func (v *Vault) moveFolder(ctx context.Context, from, to string) error {
	_, err := v.root.Lstat(from)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if _, err := v.root.Lstat(to); err == nil {
		if missing {
			return nil // an earlier call got this far
		}
		return fs.ErrExist
	}
	if within(vault.Fold(to), vault.Fold(from)) {
		return fmt.Errorf("a folder cannot be moved into itself: %w", fs.ErrInvalid)
	}
	if err := v.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := v.root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	if err := v.root.Rename(from, to); err != nil { // refuses a folder that was filled meanwhile
		return err
	}
	return errors.Join(v.syncDir(path.Dir(to)), v.syncDir(path.Dir(from)))
}

func (v *Vault) move(ctx context.Context, from, to string) error {
	source, info, err := v.digestOf(from)
	if err != nil {
		return err
	}
	target, have, err := v.digestOf(to)
	switch {
	case err != nil:
		return errors.Join(fs.ErrExist, err)
	case info == nil && have == nil:
		return fs.ErrNotExist
	case info == nil:
		return nil // an earlier call got this far
	case have != nil && source != target:
		return fs.ErrExist
	}
	if err := v.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if have != nil {
		return v.removeSame(from, source)
	}
	err = v.place(from, to)
	if crossDevice(err) {
		err = v.carry(ctx, from, to, info)
	}
	return errors.Join(err, v.syncDir(path.Dir(from)))
}

// removeSame removes a file whose bytes are safe elsewhere, unless it changed meanwhile.
func (v *Vault) removeSame(name, sum string) error {
	have, _, err := v.digestOf(name)
	if err != nil || have == "" {
		return err
	}
	if have != sum {
		return &vault.ConflictError{Name: name, Want: sum, Have: have}
	}
	return errors.Join(v.root.Remove(name), v.syncDir(path.Dir(name)))
}

// carry moves a file to another file system: copy, sync, name, remove.
func (v *Vault) carry(ctx context.Context, from, to string, info fs.FileInfo) error {
	file, err := openRead(v.root, from)
	if err != nil {
		return err
	}
	defer file.Close()
	temp, err := v.fill(path.Dir(to), info, func(f *os.File) error {
		_, err := copyContext(ctx, f, file)
		return err
	})
	if err != nil {
		return err
	}
	if err := v.place(temp, to); err != nil {
		return errors.Join(err, ignoreMissing(v.root.Remove(temp)))
	}
	if err := v.root.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		v.log.Debug("time of change not kept", "name", to, "err", err)
	}
	return v.root.Remove(from)
}
