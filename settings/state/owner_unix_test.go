//go:build unix

package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/settings/state"
)

// In a folder that others may write, what they put there is not believed.
func TestRead_refusesWhatAnotherUserPutThere(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	for _, name := range []string{"trust.json", "web-token", "secret"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 32), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := state.Read(dir, name); err != nil {
			t.Errorf("our own %s: %v", name, err)
		}
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := state.Read(dir, name); err == nil {
			t.Errorf("%s of another user was read", name)
		}
		if _, err := state.Protect(dir); err == nil {
			t.Errorf("the state directory was taken with %s of another user in it", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := state.Secret(dir); err != nil {
		t.Error(err)
	}
}
