package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFSWithout_hidesTheFolder(t *testing.T) {
	t.Parallel()
	_, dir := tempVault(t, "a.md", "Workflows/w.md", "Workflows/_approvals/r1.md", "Workflows/_approvals/old/r0.md", "Workflows/_approvals2/x.md")
	for link, target := range map[string]string{
		"folder": "Workflows/_approvals", "Workflows/note.md": "_approvals/r1.md", "twice": "folder", "around": "Workflows", "good.md": "a.md",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	v := open(t, dir, Options{})
	closed := v.FSWithout("Workflows/_Approvals")
	for _, name := range []string{
		"Workflows/_approvals", "Workflows/_approvals/r1.md", "Workflows/_approvals/old/r0.md", "workflows/_APPROVALS/r1.md", "Workflows/_approvals/none.md",
		"folder", "folder/r1.md", "Workflows/note.md", "twice/old/r0.md", "around/_approvals/r1.md", "around/_approvals",
	} {
		_, errOpen := closed.Open(name)
		_, errRead := fs.ReadFile(closed, name)
		_, errStat := fs.Stat(closed, name)
		_, errDir := fs.ReadDir(closed, name)
		_, errLstat := closed.(fs.ReadLinkFS).Lstat(name)
		for verb, err := range map[string]error{"open": errOpen, "read": errRead, "stat": errStat, "list": errDir, "lstat": errLstat} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s %s: %v, want it closed", verb, name, err)
			}
		}
	}
	var seen []string
	must(t, fs.WalkDir(closed, ".", func(name string, d fs.DirEntry, err error) error {
		if !errors.Is(err, ErrClosed) && !d.IsDir() && d.Type().IsRegular() {
			seen = append(seen, name)
		}
		return err
	}))
	if diff := cmp.Diff([]string{"Workflows/_approvals2/x.md", "Workflows/w.md", "a.md"}, seen); diff != "" {
		t.Errorf("walked (-want +got):\n%s", diff)
	}
	for _, dir := range []string{"Workflows", "around"} {
		f, err := closed.Open(dir)
		must(t, err)
		entries, err := f.(fs.ReadDirFile).ReadDir(-1)
		must(t, err)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "_approvals" }) && dir == "Workflows" {
			t.Errorf("%s lists the folder", dir)
		}
		must(t, f.Close())
	}
	if data, err := fs.ReadFile(closed, "good.md"); err != nil || len(data) == 0 {
		t.Errorf("a link to something else: %q, %v", data, err)
	}
	if _, err := fs.ReadFile(v.FS(), "Workflows/_approvals/r1.md"); err != nil {
		t.Errorf("the whole vault: %v", err)
	}
}

// Several names are left out, files too, at the vault's root too.
func TestFSWithout_hidesFiles(t *testing.T) {
	t.Parallel()
	_, dir := tempVault(t, "a.md", "settings.yaml", "Notes/settings.yaml", "Workflows/_Approvals/r1.md", "Workflows/w.md")
	must(t, os.Symlink("settings.yaml", filepath.Join(dir, "link.md")))
	closed := open(t, dir, Options{}).FSWithout("Workflows/_Approvals", "settings.yaml")
	for name, want := range map[string]bool{
		"settings.yaml": true, "Settings.YAML": true, "link.md": true, "Workflows/_Approvals/r1.md": true, "Notes/settings.yaml": false, "a.md": false,
	} {
		if _, err := fs.ReadFile(closed, name); errors.Is(err, ErrClosed) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	root, err := fs.ReadDir(closed, ".")
	if must(t, err); slices.ContainsFunc(root, func(e fs.DirEntry) bool { return e.Name() == "settings.yaml" }) {
		t.Errorf("the root lists it: %v", root)
	}
}

func TestFSWithout_isAFileSystem(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "a.md", "Workflows/w.md", "Workflows/_approvals/r1.md")
	if err := fstest.TestFS(v.FSWithout("Workflows/_approvals"), "a.md", "Workflows/w.md"); err != nil {
		t.Error(err)
	}
}
