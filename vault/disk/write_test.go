package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "old.md")
	ctx := t.Context()
	must(t, v.write(ctx, "deep/er/new.md", []byte("one"), ""))
	if got := content(t, dir, "deep/er/new.md"); got != "one" {
		t.Errorf("got %q", got)
	}
	must(t, os.Chmod(filepath.Join(dir, "old.md"), 0o640))
	must(t, v.write(ctx, "old.md", []byte("two"), vault.Digest([]byte("old.md"))))
	info, err := os.Stat(filepath.Join(dir, "old.md"))
	must(t, err)
	if got := content(t, dir, "old.md"); got != "two" || info.Mode().Perm() != 0o640 {
		t.Errorf("got %q with mode %v", got, info.Mode())
	}
	if got := leftovers(t, dir); got != nil {
		t.Errorf("left over: %v", got)
	}
}

func TestWrite_sameContentTouchesNothing(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md")
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	must(t, os.Chtimes(filepath.Join(dir, "a.md"), long, long))
	for _, base := range []string{"", "stale", vault.Digest([]byte("a.md"))} {
		must(t, v.write(t.Context(), "a.md", []byte("a.md"), base))
	}
	info, err := os.Stat(filepath.Join(dir, "a.md"))
	must(t, err)
	if !info.ModTime().Equal(long) {
		t.Errorf("changed at %v, want %v", info.ModTime(), long)
	}
}

func TestWrite_conflicts(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md", "Day.md")
	have := vault.Digest([]byte("a.md"))
	for _, tc := range []struct {
		name, base string
		want       vault.ConflictError
	}{
		{"a.md", "", vault.ConflictError{Name: "a.md", Have: have}},
		{"a.md", "stale", vault.ConflictError{Name: "a.md", Want: "stale", Have: have}},
		{"gone.md", "read", vault.ConflictError{Name: "gone.md", Want: "read"}},
		{"day.MD", "", vault.ConflictError{Name: "Day.md", Have: vault.Digest([]byte("Day.md"))}},
	} {
		err := v.write(t.Context(), tc.name, []byte("mine"), tc.base)
		got, ok := errors.AsType[*vault.ConflictError](err)
		if !ok || !errors.Is(err, vault.ErrConflict) {
			t.Errorf("%s: got %v, want a conflict", tc.name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, *got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	if got := content(t, dir, "a.md"); got != "a.md" {
		t.Errorf("a person's text was overwritten: %q", got)
	}
	if got := leftovers(t, dir); got != nil {
		t.Errorf("left over: %v", got)
	}
}

// A person saves between the first comparison and the rename.
func TestWrite_comparesJustBeforeRenaming(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md")
	base, data := vault.Digest([]byte("a.md")), []byte("mine")
	temp, err := v.fill(".", nil, func(f *os.File) error { _, err := f.Write(data); return err })
	must(t, err)
	put(t, dir, "a.md", "a person's words")
	if err := v.commit(t.Context(), temp, "a.md", base, vault.Digest(data)); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("existing file: got %v, want a conflict", err)
	}
	put(t, dir, "b.md", "a person's words")
	if err := v.commitNew(temp, "b.md"); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("new file: got %v, want a conflict", err)
	}
	for _, name := range []string{"a.md", "b.md"} {
		if got := content(t, dir, name); got != "a person's words" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWrite_usesTheSpellingThatIsThere(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Notes/Cafe\u0301.md", "Notes/Today.md")
	for asked, spelled := range map[string]string{"notes/Café.md": "Notes/Cafe\u0301.md", "NOTES/today.md": "Notes/Today.md"} {
		_, sum, err := v.Read(asked, 0)
		must(t, err)
		must(t, v.write(t.Context(), asked, []byte("new"), sum))
		if got := content(t, dir, spelled); got != "new" {
			t.Errorf("%q: %q", asked, got)
		}
	}
	must(t, v.write(t.Context(), "notes/Fresh.md", []byte("x"), ""))
	content(t, dir, "Notes/Fresh.md")
}

func TestWrite_refuses(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	v, dir := tempVault(t, "real.md", "file", "odd: name.md")
	must(t, os.Symlink(outside, filepath.Join(dir, "exit")))
	must(t, os.Symlink("real.md", filepath.Join(dir, "link.md")))
	for name, want := range map[string]error{
		"../x.md": vault.ErrOutside, "/x.md": vault.ErrOutside, "exit/x.md": vault.ErrOutside,
		".obsidian/app.json": vault.ErrHidden, "a/.b/c.md": vault.ErrHidden, ".vaultflow-x/y": vault.ErrHidden,
		"a:b.md": vault.ErrName, "dir?/x.md": vault.ErrName, "nul.md": vault.ErrName, "x.": vault.ErrName, "": vault.ErrName,
		"link.md": nil, "file/x.md": nil, ".": nil,
	} {
		err := v.write(t.Context(), name, []byte("x"), "")
		if err == nil || (want != nil && !errors.Is(err, want)) {
			t.Errorf("%q: got %v, want %v", name, err, want)
		}
	}
	must(t, v.write(t.Context(), "odd: name.md", []byte("new"), vault.Digest([]byte("odd: name.md"))))
	if entries, _ := os.ReadDir(outside); len(entries) > 0 || content(t, dir, "real.md") != "real.md" {
		t.Error("something was written through a link")
	}
}

func TestWrite_cancelled(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.write(ctx, "deep/a.md", []byte("x"), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
}

func TestWrite_oneOfManyWins(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md")
	base := vault.Digest([]byte("a.md"))
	var wg sync.WaitGroup
	won := make(chan string, 8)
	for i := range cap(won) {
		wg.Go(func() {
			text := fmt.Sprint("writer ", i)
			err := v.write(t.Context(), "a.md", []byte(text), base)
			if err == nil {
				won <- text
			} else if !errors.Is(err, vault.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 || <-won != content(t, dir, "a.md") {
		t.Errorf("%d more writers won over the same base", len(won))
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/q3.pdf", "Import/same.pdf", "Import/other.pdf", "Done/Other.pdf")
	put(t, dir, "Done/same.pdf", "Import/same.pdf")
	ctx := t.Context()
	for range 2 { // again after a crash
		must(t, v.rename(ctx, "Import/q3.pdf", "Imported/q3/q3.pdf"))
		must(t, v.rename(ctx, "Import/same.pdf", "Done/same.pdf"))
	}
	if got := content(t, dir, "Imported/q3/q3.pdf"); got != "Import/q3.pdf" {
		t.Errorf("got %q", got)
	}
	for _, to := range []string{"Done/Other.pdf", "done/OTHER.pdf"} {
		if err := v.rename(ctx, "Import/other.pdf", to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("onto another file: %v", err)
		}
	}
	if got := content(t, dir, "Done/Other.pdf"); got != "Done/Other.pdf" {
		t.Errorf("overwritten: %q", got)
	}
	if err := v.rename(ctx, "Import/nothing", "Done/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to move: %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "Import"))
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left in the import folder: %v", entries)
	}
	if got := v.Locate("q3.pdf", ""); got.Name != "Imported/q3/q3.pdf" {
		t.Errorf("the index has %+v", got)
	}
	if err := v.rename(ctx, "Import/other.pdf", "../x"); !errors.Is(err, vault.ErrOutside) {
		t.Errorf("out of the vault: %v", err)
	}
}

func TestMove_folder(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Imported/q3/index.md", "Imported/q3/pages/p.png", "Imported/taken/mine.md", "Imported/empty/", "file")
	ctx := t.Context()
	for range 2 { // again after a crash
		must(t, v.rename(ctx, "Imported/q3", "Imported/old/q3"))
	}
	if got := content(t, dir, "Imported/old/q3/pages/p.png"); got != "Imported/q3/pages/p.png" {
		t.Errorf("got %q", got)
	}
	if got := v.Locate("p.png", ""); got.Name != "Imported/old/q3/pages/p.png" {
		t.Errorf("the index has %+v", got)
	}
	for _, to := range []string{"Imported/taken", "imported/TAKEN", "Imported/empty", "file"} {
		if err := v.rename(ctx, "Imported/old", to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("onto %s: %v", to, err)
		}
	}
	if err := v.rename(ctx, "file", "Imported/taken"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file onto a folder: %v", err)
	}
	if err := v.rename(ctx, "Imported/old", "Imported/old/deeper"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("into itself: %v", err)
	}
	content(t, dir, "Imported/taken/mine.md")
}

func TestDrop(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	for _, tc := range []struct{ name, text, want string }{
		{"q3.pdf", "one", "Import/q3.pdf"},
		{"q3.pdf", "one", "Import/q3.pdf"},
		{"Q3.pdf", "two", "Import/Q3 (2).pdf"},
		{"../../etc/[[x]].pdf", "three", "Import/etc/x.pdf"},
		{`C:\scans\a?.pdf`, "four", "Import/C-/scans/a-.pdf"},
		{"", "five", "Import/untitled"},
	} {
		got, sum, err := v.drop(t.Context(), strings.NewReader(tc.text), tc.name)
		if err != nil || got != tc.want || sum != vault.Digest([]byte(tc.text)) {
			t.Errorf("drop %q: got %q %q %v, want %q", tc.name, got, sum, err, tc.want)
			continue
		}
		if text := content(t, dir, got); text != tc.text {
			t.Errorf("drop %q holds %q", tc.name, text)
		}
	}
	if _, _, err := v.drop(t.Context(), strings.NewReader("x"), "x.part"); err == nil || !strings.Contains(err.Error(), "ignores") {
		t.Errorf("a name that the watcher ignores: %v", err)
	}
	broken := readerFunc(func([]byte) (int, error) { return 0, errors.New("torn") })
	if _, _, err := v.drop(t.Context(), broken, "torn.pdf"); err == nil {
		t.Error("a torn upload was taken")
	}
	if got := leftovers(t, dir); got != nil {
		t.Errorf("left over: %v", got)
	}
}

func TestRemoveEmptyFolders(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/a/b/c/", "Import/a/keep.pdf", "Other/empty/", "Import/gone/", "Import/mine/box/in/")
	must(t, os.Remove(filepath.Join(dir, "Import/gone")))
	for _, name := range []string{"Import/a/b/c", "Other/empty", "Import", "Import/gone/deeper"} {
		must(t, v.removeEmptyFolders(name, "Import"))
	}
	must(t, v.removeEmptyFolders("Import/mine/box/in", "Import/mine/box"))
	for name, want := range map[string]bool{"Import/a/b": false, "Import/a": true, "Import": true, "Other/empty": true, "Import/mine/box": false, "Import/mine": true} {
		if got, err := exists(v, name); got != want || err != nil {
			t.Errorf("%s: there is %v %v, want %v", name, got, err, want)
		}
	}
}

// The id of a vault is hidden from links, and written like any other file.
func TestWrite_identity(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	files := vault.NewFiles(v, policy.Gate{}, policy.ByIdentity)
	must(t, files.Write(t.Context(), policy.IdentityFile, []byte("one"), ""))
	must(t, files.Write(t.Context(), policy.IdentityFile, []byte("two"), vault.Digest([]byte("one"))))
	if got := content(t, dir, policy.IdentityFile); got != "two" {
		t.Errorf("got %q", got)
	}
	if got := v.Locate("vault.json", ""); got.Name != "" {
		t.Errorf("a link leads to %s", got.Name)
	}
}
