package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/q3.pdf")
	b, err := v.stage("Imported/sub", "job-1")
	must(t, err)
	must(t, b.WriteFile("pages/page_0001.png", []byte("png")))
	put(t, dir, b.dir+"/pages/.vaultflow-killed.tmp", "half")
	if _, err := os.Stat(filepath.Join(dir, "Imported/sub/q3")); err == nil {
		t.Error("the bundle shows before it is published")
	}
	// The process is killed here, and another goes on.
	b, err = v.stage("Imported/sub", "job-1")
	must(t, err)
	if got, err := fs.ReadFile(b.FS(), "pages/page_0001.png"); err != nil || string(got) != "png" {
		t.Errorf("resumed: %q %v", got, err)
	}
	must(t, b.WriteFile("index.md", []byte("v1")))
	must(t, b.WriteFile("index.md", []byte("note")))
	must(t, b.publish("Imported/sub/q3"))
	for name, want := range map[string]string{"index.md": "note", "pages/page_0001.png": "png"} {
		if got := content(t, dir, "Imported/sub/q3/"+name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := leftovers(t, dir); got != nil {
		t.Errorf("left over: %v", got)
	}
	if got := v.Locate("page_0001.png", ""); !got.Found {
		t.Error("the index does not know the published page")
	}
}

func TestBundle_neverReplaces(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Imported/Q3/mine.md", "Imported/empty/")
	b, err := v.stage("Imported", "job-2")
	must(t, err)
	must(t, b.WriteFile("index.md", []byte("x")))
	for _, target := range []string{"Imported/Q3", "imported/q3", "Imported/empty"} {
		if err := b.publish(target); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got %v", target, err)
		}
	}
	if got := content(t, dir, "Imported/Q3/mine.md"); got != "Imported/Q3/mine.md" {
		t.Errorf("overwritten: %q", got)
	}
	must(t, b.publish("Imported/Q3 (2)"))
	if err := b.WriteFile("late.md", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written after publishing: %v", err)
	}
}

func TestBundle_discard(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "keep.md")
	b, err := v.stage("Imported", "job-3")
	must(t, err)
	must(t, b.WriteFile("a/b.md", []byte("x")))
	for range 2 {
		must(t, b.Discard())
	}
	if got := leftovers(t, dir); got != nil {
		t.Errorf("left over: %v", got)
	}
}

func TestBundle_refuses(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "a.md")
	for _, id := range []string{"", "../x", "a/b", "a.b"} {
		if _, err := v.stage("Imported", id); !errors.Is(err, vault.ErrName) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if _, err := v.stage(".hidden", "x"); !errors.Is(err, vault.ErrHidden) {
		t.Errorf("hidden folder: %v", err)
	}
	b, err := v.stage("Imported", "x")
	must(t, err)
	for name, want := range map[string]error{"../out.md": vault.ErrOutside, "/x": vault.ErrOutside, ".x": vault.ErrHidden, "a?b": vault.ErrName} {
		if err := b.WriteFile(name, nil); !errors.Is(err, want) {
			t.Errorf("write %q: got %v, want %v", name, err, want)
		}
	}
	if err := b.publish("../out"); !errors.Is(err, vault.ErrOutside) {
		t.Errorf("publish outside: %v", err)
	}
}

// movable returns a vault's folder and a bundle in it whose open folder can be moved.
func movable(t *testing.T) (string, *Bundle) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open folder is not moved here")
	}
	v, dir := tempVault(t, "Imported/")
	b, err := v.stage("Imported", "job")
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return dir, b
}

// A page is looked at several times while its document is imported. A look begins in the bundle, not in the vault's folder: each step
// down would open a folder.
func TestBundle_staysOpen(t *testing.T) {
	t.Parallel()
	dir, b := movable(t)
	must(t, b.WriteFile("pages/1.png", []byte("png")))
	must(t, os.Rename(filepath.Join(dir, "Imported"), filepath.Join(dir, "Elsewhere")))
	if got, err := fs.ReadFile(b.FS(), "pages/1.png"); err != nil || string(got) != "png" {
		t.Errorf("the open bundle holds %q, %v", got, err)
	}
}

// What a person does to the hidden folder meanwhile is noticed: nothing is written where it would be lost.
func TestBundle_movedOrReplaced(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(hidden string) error{
		"removed": os.RemoveAll,
		"moved":   func(hidden string) error { return os.Rename(hidden, hidden+"-mine") },
		"replaced": func(hidden string) error {
			return errors.Join(os.Rename(hidden, hidden+"-mine"), os.Mkdir(hidden, 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, b := movable(t)
			must(t, b.WriteFile("1.png", []byte("png")))
			must(t, meanwhile(filepath.Join(dir, b.dir)))
			for what, err := range map[string]error{
				"write": b.WriteFile("2.png", nil), "remove": b.RemoveFile("1.png"), "publish": b.publish("Imported/book"),
			} {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "Imported/book")); err == nil {
				t.Error("another folder was published")
			}
		})
	}
}
