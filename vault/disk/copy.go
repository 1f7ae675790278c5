package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Copy makes a new file, named by the pass, of the first size bytes of another one. It never overwrites: when the new name is
// taken the error matches fs.ErrExist, except when it holds these bytes already. When the bytes do not have the given
// SHA-256 nothing is made, and the error is a *ConflictError. A cancelled ctx copies nothing.
func (v *Vault) Copy(ctx context.Context, pass policy.Pass, from, sha256 string, size int64) error {
	to, err := v.admit(pass, policy.Create)
	if err == nil {
		err = errors.Join(vault.CheckName(from), vault.ValidName(to))
	}
	if err == nil {
		err = v.copy(ctx, v.actual(from), v.actual(to), sha256, size)
	}
	if err != nil {
		return fmt.Errorf("copy %q: %w", from, err)
	}
	v.index.add(v.actual(to))
	return nil
}

func (v *Vault) copy(ctx context.Context, from, to, sha256 string, size int64) error {
	switch have, info, err := v.digestOf(to); {
	case err != nil:
		return errors.Join(fs.ErrExist, err)
	case info != nil && have == sha256:
		return nil // an earlier call got this far
	case info != nil:
		return fs.ErrExist
	}
	file, err := openRead(v.root, from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := v.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	temp, err := v.fill(path.Dir(to), info, func(f *os.File) error {
		_, err := copyContext(ctx, f, io.NewSectionReader(file, 0, size))
		return err
	})
	if err != nil {
		return err
	}
	if err := v.settle(ctx, temp, to, from, sha256, info); err != nil {
		return errors.Join(err, ignoreMissing(v.root.Remove(temp)))
	}
	return nil
}

// settle gives a copy its name if it has the bytes that it should have.
func (v *Vault) settle(ctx context.Context, temp, to, from, sha256 string, like fs.FileInfo) error {
	have, _, err := v.digestOf(temp)
	if err != nil {
		return err
	}
	if have != sha256 {
		return &vault.ConflictError{Name: from, Want: sha256, Have: have}
	}
	if err := v.root.Chtimes(temp, like.ModTime(), like.ModTime()); err != nil {
		v.log.Debug("time of change not kept", "name", to, "err", err)
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return v.place(temp, to)
}

// Supplant moves a file over a copy of it, by one rename: the copy's name then has the file that programs may still have open.
// Both must have the given SHA-256, otherwise nothing changes and the error is a *ConflictError. Between file systems the
// copy stays and the file is removed. A cancelled ctx changes nothing.
func (v *Vault) Supplant(ctx context.Context, pass policy.Pass, sha256 string) error {
	from, err := v.admit(pass, policy.Move)
	if err == nil {
		err = v.straight(pass.To())
	}
	if err == nil {
		err = errors.Join(vault.CheckName(from), vault.CheckName(pass.To()))
	}
	if err == nil {
		err = v.supplant(ctx, v.actual(from), v.actual(pass.To()), sha256)
	}
	if err != nil {
		return fmt.Errorf("move %q over %q: %w", from, pass.To(), err)
	}
	v.index.remove(v.actual(from))
	return nil
}

func (v *Vault) supplant(ctx context.Context, from, to, sha256 string) error {
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, name := range []string{to, from} { // from last: a program may write to it at any time
		have, _, err := v.digestOf(name)
		if err != nil {
			return err
		}
		if have != sha256 {
			return &vault.ConflictError{Name: name, Want: sha256, Have: have}
		}
	}
	err := v.root.Rename(from, to)
	if crossDevice(err) {
		return v.removeSame(from, sha256)
	}
	if err != nil {
		return err
	}
	return errors.Join(v.syncDir(path.Dir(to)), v.syncDir(path.Dir(from)))
}
