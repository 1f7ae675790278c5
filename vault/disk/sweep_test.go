package disk

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSweep_takesWhatAKilledWriteLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.md", "Notes/.vaultflow-abc.tmp", "Notes/b.tmp", "Import/.vaultflow-x.tmp", ".vaultflow/.vaultflow-y.tmp", ".git/.vaultflow-no.tmp", "Imported/.vaultflow-id/page.png"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if n, err := v.Sweep(); n != 3 || err != nil {
		t.Errorf("Sweep = %d, %v; want 3", n, err)
	}
	for name, want := range map[string]bool{
		"a.md": true, "Notes/b.tmp": true, "Notes/.vaultflow-abc.tmp": false, "Import/.vaultflow-x.tmp": false, ".vaultflow/.vaultflow-y.tmp": false,
		".git/.vaultflow-no.tmp": true, "Imported/.vaultflow-id/page.png": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
