package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/settings/state"
)

// A session does not recreate a state directory that is gone: serve waits for it.
func TestStore_waitsForTheStateDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	change := func([]byte) ([]byte, error) { return []byte("[]"), nil }
	if err := (Store{Dir: dir}).update("sessions.json", change); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the directory: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
	if err := (Store{Dir: dir, Make: true}).update("tokens.json", change); err != nil {
		t.Errorf("for a command: %v", err)
	}
}

// Updates are serialized, within a process and across processes.
func TestStore_losesNoUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				err := (Store{Dir: dir}).update("x", func(old []byte) ([]byte, error) { return append(old, '.'), nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	data, err := state.Read(dir, "x")
	if err != nil || len(data) != 40 {
		t.Errorf("%q %v", data, err)
	}
}
