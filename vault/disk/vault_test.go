package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tempVault makes a vault of files; a name that ends in a slash is a folder, every file holds its own name.
func tempVault(t testing.TB, names ...string) (*Vault, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		put(t, dir, name, name)
	}
	return open(t, dir, Options{}), dir
}

func open(t testing.TB, dir string, opt Options) *Vault {
	t.Helper()
	v, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if strings.HasSuffix(name, "/") {
		must(t, os.MkdirAll(path, 0o755))
		return
	}
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	must(t, err)
	return string(data)
}

// leftovers lists our temporary files and folders anywhere below a folder.
func leftovers(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "file", "")
	put(t, dir, "v/Import/", "")
	put(t, dir, "linked/Import/deep/", "")
	must(t, os.Symlink("Import/deep", filepath.Join(dir, "linked", "Imported")))
	for _, tc := range []struct {
		name, dir string
		opt       Options
		want      string
	}{
		{"unset", "", Options{}, "no folder is set"},
		{"missing", filepath.Join(dir, "nowhere"), Options{}, "there is no such folder"},
		{"a file", filepath.Join(dir, "file"), Options{}, "this is a file"},
		{"circle", filepath.Join(dir, "v"), Options{ImportedDir: "Import/done"}, "imported again"},
		{"circle in other case", filepath.Join(dir, "v"), Options{ImportedDir: "import/done"}, "imported again"},
		{"circle through a link", filepath.Join(dir, "linked"), Options{}, "imported again"},
		{"climbing", filepath.Join(dir, "v"), Options{ImportDir: "../x"}, "could leave the vault"},
		{"hidden", filepath.Join(dir, "v"), Options{ImportDir: ".in"}, "begins with a dot"},
		{"bad pattern", filepath.Join(dir, "v"), Options{Ignore: []string{"[x"}}, "malformed"},
	} {
		_, err := Open(tc.dir, tc.opt)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want …%s…", tc.name, err, tc.want)
		}
	}
	// The other way round is fine: importing from below the folder of imports.
	open(t, filepath.Join(dir, "v"), Options{ImportDir: "A/In", ImportedDir: "A"})
}

func TestOpen_removesOldTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/.vaultflow-old.tmp", "a/.vaultflow-new.tmp", "a/.other.tmp", "a/.vaultflow-bundle/x"} {
		put(t, dir, name, "")
		if !strings.Contains(name, "new") {
			old := time.Now().Add(-2 * staleAfter)
			must(t, os.Chtimes(filepath.Join(dir, name), old, old))
		}
	}
	open(t, dir, Options{})
	for name, want := range map[string]bool{
		"a/.vaultflow-old.tmp": false, "a/.vaultflow-new.tmp": true, "a/.other.tmp": true, "a/.vaultflow-bundle/x": true,
	} {
		_, err := os.Lstat(filepath.Join(dir, name))
		if got := !errors.Is(err, os.ErrNotExist); got != want {
			t.Errorf("%s: there is %v, want %v", name, got, want)
		}
	}
}
