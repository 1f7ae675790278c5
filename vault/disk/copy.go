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
func (m *mover) Copy(ctx context.Context, pass policy.Pass, from, sha256 string, size int64) error {
	to, err := m.admit(pass, policy.Create)
	if err == nil {
		err = errors.Join(vault.CheckName(from), vault.ValidName(to))
	}
	if err == nil {
		err = m.copy(ctx, m.actual(from), m.actual(to), sha256, size)
	}
	if err != nil {
		return fmt.Errorf("copy %q: %w", from, err)
	}
	m.index.add(m.actual(to))
	return nil
}

func (m *mover) copy(ctx context.Context, from, to, sha256 string, size int64) error {
	switch have, info, err := m.digestOf(to); {
	case err != nil:
		return errors.Join(fs.ErrExist, err)
	case info != nil && have == sha256:
		return nil // an earlier call got this far
	case info != nil:
		return fs.ErrExist
	}
	file, err := openRead(m.root, from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := m.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	temp, err := m.fill(path.Dir(to), info, func(f *os.File) error {
		_, err := copyContext(ctx, f, io.NewSectionReader(file, 0, size))
		return err
	})
	if err != nil {
		return err
	}
	if err := m.settle(ctx, temp, to, from, sha256, info); err != nil {
		return errors.Join(err, ignoreMissing(m.root.Remove(temp)))
	}
	return nil
}

// settle renames a copy to its name if it has the right bytes.
func (m *mover) settle(ctx context.Context, temp, to, from, sha256 string, like fs.FileInfo) error {
	have, _, err := m.digestOf(temp)
	if err != nil {
		return err
	}
	if have != sha256 {
		return &vault.ConflictError{Name: from, Want: sha256, Have: have}
	}
	if err := m.root.Chtimes(temp, like.ModTime(), like.ModTime()); err != nil {
		m.log.Debug("time of change not kept", "name", to, "err", err)
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.place(temp, to)
}

// Supplant moves a file over a copy of it, by one rename: the copy's name then has the file that programs may still have open.
// Both must have the given SHA-256, otherwise nothing changes and the error is a *ConflictError. Between file systems the
// copy stays and the file is removed. A cancelled ctx changes nothing.
func (m *mover) Supplant(ctx context.Context, pass policy.Pass, sha256 string) error {
	from, err := m.admit(pass, policy.Move)
	if err == nil {
		err = m.straight(pass.To())
	}
	if err == nil {
		err = errors.Join(vault.CheckName(from), vault.CheckName(pass.To()))
	}
	if err == nil {
		err = m.supplant(ctx, m.actual(from), m.actual(pass.To()), sha256)
	}
	if err != nil {
		return fmt.Errorf("move %q over %q: %w", from, pass.To(), err)
	}
	m.index.remove(m.actual(from))
	return nil
}

func (m *mover) supplant(ctx context.Context, from, to, sha256 string) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, name := range []string{to, from} { // from last: a program may write to it at any time
		have, _, err := m.digestOf(name)
		if err != nil {
			return err
		}
		if have != sha256 {
			return &vault.ConflictError{Name: name, Want: sha256, Have: have}
		}
	}
	err := m.root.Rename(from, to)
	if crossDevice(err) {
		return m.removeSame(from, sha256)
	}
	if err != nil {
		return err
	}
	return errors.Join(m.syncDir(path.Dir(to)), m.syncDir(path.Dir(from)))
}
