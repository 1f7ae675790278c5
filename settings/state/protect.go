package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// dirMode is the mode of every folder in a state directory.
const dirMode fs.FileMode = 0o700

// owned lists vaultflow's names in a state directory. Other files there keep their modes, and so does the directory.
var owned = []string{
	"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "lock", "blobs", "received", "artifacts", "worker", "office",
	"*.sock", "*.lock", "*.json*", "secret", "web-token", "sessions*", "tokens*",
}

// Protect closes vaultflow's part of a state directory to other users: files become 0600 and folders 0700, whatever the
// directory's mode and the umask. It does not look below a folder that others cannot enter, and does not follow links. It
// returns the paths that remain open because their file system has no modes. A file that another user put there is an error.
func Protect(dir string) (open []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	p := &protection{}
	for _, pattern := range owned {
		paths, err := filepath.Glob(filepath.Join(escaped(dir), pattern))
		if err != nil {
			return nil, fmt.Errorf("close the state directory to other users: %w", err)
		}
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && planted(dir, info) {
				return nil, notOurs(path)
			}
			if err := p.path(path); err != nil {
				return nil, fmt.Errorf("close the state directory to other users: %w", err)
			}
		}
	}
	return p.open, nil
}

// notOurs refuses a file that another user put into a state directory that others can write.
func notOurs(path string) error {
	return fmt.Errorf("%s belongs to another user; inspect it, remove it, and close the folder to others (chmod 700)", path)
}

// protection closes files and remembers those that it could not close.
type protection struct{ open []string }

// escaped quotes a path's special characters for filepath.Glob.
func escaped(path string) string {
	var b []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}

// path closes a file, or a folder with everything in it.
func (p *protection) path(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a file that came and went
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case !info.IsDir():
		return p.close(path, info, FileMode)
	case info.Mode().Perm()&^dirMode == 0:
		return nil // nobody can get below it
	}
	below, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range below {
		if err := p.path(filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return p.close(path, info, dirMode)
}

func (p *protection) close(path string, info fs.FileInfo, mode fs.FileMode) error {
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	err := os.Chmod(path, info.Mode().Perm()&mode)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		p.open = append(p.open, path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if now, err := os.Lstat(path); err == nil && now.Mode().Perm()&^mode != 0 {
			p.open = append(p.open, path) // accepted, but without effect
		}
	}
	return nil
}
