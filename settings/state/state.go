// Package state keeps vaultflow's private files in a vault's state directory: the secret behind marks and sessions, the
// user's grants, tokens. Only the user may read them, whatever the directory's own mode. It knows nothing of the journal,
// which keeps its own files there.
package state

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FileMode is the mode of every file in a state directory.
const FileMode fs.FileMode = 0o600

// maxFile bounds what Read returns, in bytes.
const maxFile = 16 << 20

// Write replaces a file of the state directory: whole or not at all, on the disk when it returns, readable by the user
// alone. A missing directory is created. Concurrent writers do not mix; the last one wins.
func Write(dir, name string, data []byte) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := os.CreateTemp(dir, "."+name+"-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder makes a rename last. A file system that cannot sync folders is no error: the rename has happened.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every file system supports it
	return d.Close()
}

// Read returns a file of the state directory. The error matches fs.ErrNotExist if there is none. Read first closes the file
// to other users. It refuses a file that is not regular or that another user put there.
func Read(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: it is not a regular file", path)
	case planted(dir, info):
		return nil, notOurs(path)
	case info.Mode().Perm()&^FileMode != 0:
		if err := os.Chmod(path, FileMode); err != nil {
			return nil, fmt.Errorf("close %s to other users: %w", path, err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("read %s: it is larger than 16 MiB", path)
	}
	return data, err
}

const (
	secretName  = "secret"
	secretBytes = 32
)

// Secret returns the random secret of a state directory, 32 bytes, and makes it the first time. A key derived from it must
// name its purpose, so that no use can replace another: hmac(secret, "purpose\x00" + data). It is never printed.
func Secret(dir string) ([]byte, error) {
	secret, err := Read(dir, secretName)
	if err == nil && len(secret) == secretBytes {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		return nil, fmt.Errorf("%s is damaged; remove it: open approvals get new marks, and people sign in again", filepath.Join(dir, secretName))
	}
	secret = make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return first(dir, secret)
}

// Known returns the secret if there is one, and nil otherwise. It makes none.
func Known(dir string) ([]byte, error) {
	if _, err := os.Lstat(filepath.Join(dir, secretName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return Secret(dir)
}

// first stores a secret unless another process was faster: then it returns the other one.
func first(dir string, secret []byte) ([]byte, error) {
	f, err := os.CreateTemp(dir, ".secret-*")
	if err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(secret)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	err = os.Link(f.Name(), filepath.Join(dir, secretName)) // unlike a rename, it never replaces
	switch {
	case errors.Is(err, fs.ErrExist):
		return Read(dir, secretName)
	case err != nil: // no hard links here: the rename is as good for all but two first starts at once
		if err := os.Rename(f.Name(), filepath.Join(dir, secretName)); err != nil {
			return nil, fmt.Errorf("make a secret: %w", err)
		}
	}
	return secret, syncFolder(dir)
}
