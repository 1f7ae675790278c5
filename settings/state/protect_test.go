package state_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/settings/state"
)

func TestProtect_closesWhatIsOursWhateverTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "st[a]te * ?")
	outside := filepath.Join(t.TempDir(), "outside")
	for _, path := range []string{
		filepath.Join(dir, "state.db"), filepath.Join(dir, "state.db-wal"), filepath.Join(dir, "lock"), filepath.Join(dir, "blobs", "ab", "cd"), filepath.Join(dir, "artifacts", "files", "x"),
		filepath.Join(dir, "trust.json"), filepath.Join(dir, "web-token"), filepath.Join(dir, "control.sock"), filepath.Join(dir, "somebody's own.txt"), outside,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "blobs", "link")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	for range 2 {
		if open, err := state.Protect(dir); err != nil || len(open) > 0 {
			t.Fatal(open, err)
		}
	}
	for path, want := range map[string]fs.FileMode{dir: 0o755, filepath.Join(dir, "somebody's own.txt"): 0o644, outside: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is not ours and has now mode %v, want %v", path, info.Mode(), want)
		}
	}
	open := openFiles(t, dir)
	if len(open) != 1 || filepath.Base(open[0]) != "somebody's own.txt" {
		t.Errorf("others may read %v", open)
	}
	if _, err := state.Protect(filepath.Join(dir, "none")); err != nil {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// openFiles lists what other users may read, change or enter below a folder.
func openFiles(t *testing.T, dir string) (open []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return open
}
