package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

func TestVault_contract(t *testing.T) {
	t.Parallel()
	vaulttest.Exercise(t, func(t *testing.T, texts map[string]string) vaulttest.Vault {
		dir := t.TempDir()
		for name, text := range texts {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		v, err := disk.Open(dir, disk.Options{ImportDir: vaulttest.ImportDir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { v.Close() })
		return v
	})
}
