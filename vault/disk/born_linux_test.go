package disk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBorn(t *testing.T) {
	t.Parallel()
	before := time.Now().Add(-time.Second) // file systems keep time coarsely
	v, dir := tempVault(t, "a.md", "sub/b.md", "folder/")
	put(t, filepath.Dir(dir), "outside.md", "secret")
	must(t, os.Symlink("../outside.md", filepath.Join(dir, "out.md")))
	first, ok := v.Born("a.md")
	if !ok {
		t.Skip("this file system keeps no birth times")
	}
	if first.Before(before) || first.After(time.Now().Add(time.Second)) {
		t.Errorf("born at %v, made after %v", first, before)
	}
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(dir, "a.md"), old, old))
	must(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("longer than before"), 0o644))
	if again, ok := v.Born("a.md"); !ok || !again.Equal(first) {
		t.Errorf("a change of the content changes the birth from %v to %v", first, again)
	}
	if _, ok := v.Born("sub/b.md"); !ok {
		t.Error("a file in a folder has no birth")
	}
	for _, name := range []string{"gone.md", "folder", "out.md", "../outside.md", "/etc/passwd", "", ".", "a.md\x00"} {
		if at, ok := v.Born(name); ok || !at.IsZero() {
			t.Errorf("%q was born at %v", name, at)
		}
	}
}
