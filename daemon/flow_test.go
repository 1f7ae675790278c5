package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

// Runs ask the gate of the whole vault: one without the status note let workflows write over it.
func TestDeps_gateIsTheVaults(t *testing.T) {
	t.Parallel()
	dir, stateDir := t.TempDir(), t.TempDir()
	ownVault(t, dir, stateDir)
	text := "engine:\n  status_note: Status.md\nvault:\n  workflows_dir: Flows\n  import_dir: In\n  imported_dir: Out\n"
	if err := os.WriteFile(filepath.Join(dir, "settings.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := openTest(t, Options{Dir: dir, StateDir: stateDir})
	d, err := a.deps(stores{Blobs: blank{}, Memory: blank{}}, a.Models, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Gate; got != a.gate() || got.StatusNote != "Status.md" || got != d.Changes.Gate {
		t.Errorf("gate %+v, changes %+v, want %+v", got, d.Changes.Gate, a.gate())
	}
}
