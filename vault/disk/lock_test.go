package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	link := dir + " by another path"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	one, two := open(t, dir, Options{}), open(t, link, Options{})
	release, err := one.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Lock(); !errors.Is(err, ErrInUse) {
		t.Errorf("a second lock: got %v, want %v", err, ErrInUse)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, err = two.Lock()
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the locks left %v in the vault, %v", entries, err)
	}
}

func TestThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir, Options{})
	if err := v.There(); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
	if err := os.Rename(dir, dir+" moved"); err != nil {
		t.Fatal(err)
	}
	if err := v.There(); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a folder that was moved: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := v.There(); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("an empty folder in its place: %v", err)
	}
}
