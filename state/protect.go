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

// owned are the names that vaultflow has in a state directory. The directory may be one that holds other things too: these
// keep their modes, and so does the directory.
var owned = []string{
	"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "lock", "blobs", "received", "artifacts", "worker", "office",
	"*.sock", "*.lock", "*.json*", "secret", "web-token", "sessions*", "tokens*",
}

// Protect closes what vaultflow has in a state directory to other users: files are 0600, folders 0700, whatever the mode of
// the directory and whoever made them with which umask. What is closed costs nothing more: below a folder that others cannot
// enter nothing is looked at. A file system without modes is no error. Links are not followed.
func Protect(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	var errs []error
	for _, pattern := range owned {
		paths, err := filepath.Glob(filepath.Join(escaped(dir), pattern))
		errs = append(errs, err)
		for _, path := range paths {
			errs = append(errs, protect(path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the state directory to other users: %w", err)
	}
	return nil
}

// escaped is a path whose special characters filepath.Glob takes as they are.
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

func protect(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a file that came and went
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case !info.IsDir():
		return closeTo(path, info, FileMode)
	case info.Mode().Perm()&^dirMode == 0:
		return nil // nobody gets below it
	}
	below, err := os.ReadDir(path)
	for _, entry := range below {
		err = errors.Join(err, protect(filepath.Join(path, entry.Name())))
	}
	return errors.Join(err, closeTo(path, info, dirMode))
}

func closeTo(path string, info fs.FileInfo, mode fs.FileMode) error {
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	err := os.Chmod(path, info.Mode().Perm()&mode)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
