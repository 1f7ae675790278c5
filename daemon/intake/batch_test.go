package intake

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// A batch starts a few imports ahead, handles each in order, and takes up files that were unpacked meanwhile.
func TestBatch_order(t *testing.T) {
	t.Parallel()
	var asked []string
	broken := errors.New("broken")
	b := NewBatch([]control.ImportOrder{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"}}, func(_ context.Context, o control.ImportOrder) (string, error) {
		asked = append(asked, o.Name)
		if o.Name == "b" {
			return "", broken
		}
		return "run " + o.Name, nil
	})
	var handled []string
	for i, s := range b.All(t.Context()) {
		if i == 0 {
			if len(asked) != ahead {
				t.Errorf("%d imports were started before the first was handled, want %d", len(asked), ahead)
			}
			b.Add(control.ImportOrder{Name: "member"})
		}
		if (s.Err != nil) != (s.Order.Name == "b") {
			t.Errorf("%s: %v", s.Order.Name, s.Err)
		}
		handled = append(handled, s.Order.Name)
		if s.Order.Name == "f" {
			break
		}
	}
	if want := []string{"a", "b", "c", "d", "e", "f"}; !slices.Equal(handled, want) || b.Len() != 7 {
		t.Errorf("handled %v of %d, want %v of 7", handled, b.Len(), want)
	}
	if want := []string{"a", "b", "c", "d", "e", "f", "member"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

// A folder keeps its structure below its own name. Hidden files, links and what cannot be read are left out.
func TestOrdersIn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "scans")
	for _, name := range []string{"a.pdf", "deep/b.pdf", ".hidden/c.pdf", ".d.pdf"} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)))
	}
	if err := os.Symlink(filepath.Join(dir, "a.pdf"), filepath.Join(dir, "link.pdf")); err != nil {
		t.Skip(err)
	}
	names := func(given string) []string {
		t.Helper()
		orders, err := OrdersIn(given, control.ImportHow{Pages: "1"}, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, o := range orders {
			if o.Pages != "1" || o.Walked != (given == dir) {
				t.Errorf("%s: %+v", o.Name, o)
			}
			list = append(list, o.Name)
		}
		return list
	}
	if got := names(dir); !slices.Equal(got, []string{"scans/a.pdf", "scans/deep/b.pdf"}) {
		t.Errorf("the folder has %v", got)
	}
	if got := names(filepath.Join(dir, "link.pdf")); !slices.Equal(got, []string{"link.pdf"}) {
		t.Errorf("the link is %v", got)
	}
	if _, err := OrdersIn(filepath.Join(dir, "none"), control.ImportHow{}, nil); err == nil {
		t.Error("a file that does not exist was listed")
	}
}

// Only empty folders that the import made are removed.
func TestRemoveMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{".obsidian", "Import/mine"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	v, err := disk.Open(dir, disk.Options{ImportDir: "Import", ImportedDir: "Imported"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	before := FoldersIn(v, "Import")
	if err := os.MkdirAll(filepath.Join(dir, "Import", "made", "deep"), 0o750); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "Import", "full", "a.txt"))
	files := vault.NewFiles(v, policy.Gate{ImportDir: "Import", ImportedDir: "Imported"}, policy.ByDrop)
	if err := RemoveMade(v, files, "Import", before); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"mine": true, "made": false, "full": true} {
		if _, err := os.Stat(filepath.Join(dir, "Import", name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func writeFile(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
}
