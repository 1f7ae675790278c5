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

// mover moves and copies files.
type mover struct{ *folder }

// Move renames a file. It never overwrites: when the new name is taken the error matches fs.ErrExist, except
// when it holds the same bytes, then the old name is removed. A move that is repeated after it succeeded succeeds.
// Between file systems the file is copied durably first. A folder is moved by one rename, within one file system, and
// only to a name that nothing has. A cancelled ctx moves nothing.
func (m *mover) Move(ctx context.Context, pass policy.Pass) error {
	from, err := m.admit(pass, policy.Move)
	if err == nil {
		err = m.straight(pass.To())
	}
	if err != nil {
		return fmt.Errorf("move: %w", err)
	}
	return m.rename(ctx, from, pass.To())
}

// rename is Move without the permission.
func (m *mover) rename(ctx context.Context, from, to string) error {
	if err := errors.Join(vault.CheckName(from), vault.ValidName(to)); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	written := path.Base(to)
	from, to = m.actual(from), m.actual(to)
	if from == to && path.Base(from) == written {
		return nil
	}
	if from == to {
		return m.respell(ctx, from, path.Join(path.Dir(from), written))
	}
	folder := m.isFolder(from) || m.isFolder(to)
	move := m.move
	if folder {
		move = m.moveFolder
	}
	if err := move(ctx, from, to); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	m.index.remove(from)
	if folder {
		return m.learn(to)
	}
	m.index.add(to)
	return nil
}

// respell changes the case or Unicode form of a name.
func (m *mover) respell(ctx context.Context, from, to string) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.root.Rename(from, to); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	folder := m.isFolder(to)
	m.index.remove(from)
	if err := m.syncDir(path.Dir(to)); err != nil || folder {
		return errors.Join(err, m.learn(to))
	}
	m.index.add(to)
	return nil
}

func (m *mover) moveFolder(ctx context.Context, from, to string) error {
	_, err := m.root.Lstat(from)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if _, err := m.root.Lstat(to); err == nil {
		if missing {
			return nil // an earlier call got this far
		}
		return fs.ErrExist
	}
	if vault.Within(vault.Fold(to), vault.Fold(from)) {
		return fmt.Errorf("a folder cannot be moved into itself: %w", fs.ErrInvalid)
	}
	if err := m.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := m.root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	if err := m.root.Rename(from, to); err != nil { // refuses a folder that was filled meanwhile
		return err
	}
	return errors.Join(m.syncDir(path.Dir(to)), m.syncDir(path.Dir(from)))
}

func (m *mover) move(ctx context.Context, from, to string) error {
	source, info, err := m.digestOf(from)
	if err != nil {
		return err
	}
	target, have, err := m.digestOf(to)
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
	if err := m.makeFolder(path.Dir(to)); err != nil {
		return err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if have != nil {
		return m.removeSame(from, source)
	}
	err = m.place(from, to)
	if crossDevice(err) {
		err = m.carry(ctx, from, to, info)
	}
	return errors.Join(err, m.syncDir(path.Dir(from)))
}

// carry moves a file to another file system: copy, sync, name, remove.
func (m *mover) carry(ctx context.Context, from, to string, info fs.FileInfo) error {
	file, err := openRead(m.root, from)
	if err != nil {
		return err
	}
	defer file.Close()
	temp, err := m.fill(path.Dir(to), info, func(f *os.File) error {
		_, err := copyContext(ctx, f, file)
		return err
	})
	if err != nil {
		return err
	}
	if err := m.place(temp, to); err != nil {
		return errors.Join(err, ignoreMissing(m.root.Remove(temp)))
	}
	if err := m.root.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		m.log.Debug("time of change not kept", "name", to, "err", err)
	}
	return m.root.Remove(from)
}
