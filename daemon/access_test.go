package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A state directory that is gone is not made again by a session: serve waits for it.
func TestAccessStore_waitsForTheStateDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	change := func([]byte) ([]byte, error) { return []byte("[]"), nil }
	if err := (accessStore{dir: dir}).Update("sessions.json", change); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the directory: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
	if err := (accessStore{dir: dir, make: true}).Update("tokens.json", change); err != nil {
		t.Errorf("for a command: %v", err)
	}
}

// Writers come one after the other, in one process or in two, and lose nothing.
func TestAccessStore_losesNoUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				err := (accessStore{dir: dir}).Update("x", func(old []byte) ([]byte, error) { return append(old, '.'), nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	data, err := (accessStore{dir: dir}).Load("x")
	if err != nil || len(data) != 40 {
		t.Errorf("%q %v", data, err)
	}
}

func TestSourceOf(t *testing.T) {
	t.Parallel()
	const project = "https://github.com/vaultflow/vaultflow"
	for version, want := range map[string]string{
		"dev": project, "": project, "v1.2.0": project + "/tree/v1.2.0", "v1.2.0-dirty": project + "/tree/v1.2.0",
		"v1.2.0-14-g0a1b2c3": project + "/tree/0a1b2c3", "0a1b2c3d": project + "/tree/0a1b2c3d", "0a1b2c3d-dirty": project + "/tree/0a1b2c3d",
	} {
		if got := sourceOf(version, ""); got != want {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
	if got := sourceOf("dev", "https://example.org/x"); got != "https://example.org/x" {
		t.Error(got)
	}
}
