package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/vault"
)

func TestFS_isAFileSystem(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "a.md", "sub/b.md", "sub/deep/c.png", ".obsidian/app.json")
	if err := fstest.TestFS(v.FS(), "a.md", "sub/b.md", "sub/deep/c.png"); err != nil {
		t.Error(err)
	}
	got, err := fs.Glob(v.FS(), "sub/*.md")
	must(t, err)
	if diff := cmp.Diff([]string{"sub/b.md"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFS_staysInside(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "vault/in.md", "vault/sub/x.md", "secret.md")
	_ = v
	root := filepath.Join(dir, "vault")
	for link, target := range map[string]string{
		"climbs": "../secret.md", "absolute": filepath.Join(dir, "secret.md"), "folder": "..", "good": "in.md", "gone": "nowhere",
		"loop": "loop", "sub/chain": "../climbs", "sub/up": "../in.md",
	} {
		must(t, os.Symlink(target, filepath.Join(root, link)))
	}
	v = open(t, root, Options{})
	for name, words := range map[string]string{
		"../secret.md": "could leave the vault", "/etc/passwd": "absolute path", "a/../../x": "could leave the vault",
		"climbs": `the link "climbs" leads out of the vault`, "folder/secret.md": `the link "folder" leads out of the vault`,
		"absolute": `the link "absolute" is absolute`, "sub/chain": `the link "sub/chain" leads out`,
	} {
		for verb, err := range reads(v, name) {
			if !errors.Is(err, vault.ErrOutside) || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), dir) {
				t.Errorf("%s %q: got %v, want …%s… and no path of this machine", verb, name, err, words)
			}
		}
	}
	for name, want := range map[string]error{"gone": fs.ErrNotExist, "missing": fs.ErrNotExist, "good": nil, "sub/up": nil, "loop": syscall.ELOOP} {
		for verb, err := range reads(v, name) {
			if !errors.Is(err, want) {
				t.Errorf("%s %q: got %v, want %v", verb, name, err, want)
			}
		}
	}
}

func reads(v *Vault, name string) map[string]error {
	_, stat := fs.Stat(v.FS(), name)
	_, file := fs.ReadFile(v.FS(), name)
	_, _, read := v.Read(name, 0)
	f, open := v.OpenFile(name)
	if open == nil {
		f.Close()
	}
	return map[string]error{"stat": stat, "read file": file, "read": read, "open": open}
}

func TestFS_refusesPipes(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	mkfifo(t, filepath.Join(dir, "pipe.md"))
	for verb, err := range reads(v, "pipe.md") { // would block for ever
		if verb != "stat" && (err == nil || !strings.Contains(err.Error(), "named pipe")) {
			t.Errorf("%s: got %v", verb, err)
		}
	}
	for verb, err := range reads(v, "pipe.md/note.md") {
		if err == nil {
			t.Errorf("%s of a file in a pipe", verb)
		}
	}
	if err := v.write(t.Context(), "pipe.md", nil, ""); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("write: got %v", err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Notes/Today.md", "Cafe\u0301.md")
	for _, name := range []string{"Notes/Today.md", "notes/TODAY.md", "Café.md"} {
		data, sum, err := v.Read(name, 100)
		if err != nil || sum != vault.Digest(data) || len(data) == 0 {
			t.Errorf("read %q: %q %q %v", name, data, sum, err)
		}
	}
	if _, _, err := v.Read("Notes/Today.md", 3); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	put(t, dir, "exact.md", "123")
	if _, _, err := v.Read("exact.md", 3); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, _, err := v.Read("Notes", 0); err == nil {
		t.Error("a folder was read")
	}
	for name, want := range map[string]bool{"notes/today.md": true, "Notes": true, "nope.md": false} {
		if got, err := exists(v, name); got != want || err != nil {
			t.Errorf("exists %q: %v %v", name, got, err)
		}
	}
	f, err := v.OpenFile("Notes/Today.md")
	must(t, err)
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != "Notes/Today.md" {
		t.Errorf("open file: %q %v", data, err)
	}
}

// exists reports whether a file or a folder has this name, in any spelling.
func exists(v *Vault, name string) (bool, error) {
	_, err := v.root.Lstat(v.actual(name))
	return err == nil, ignoreMissing(err)
}
