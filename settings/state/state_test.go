package state_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/settings/state"
)

func TestWrite_isPrivateInAnOpenFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := state.Write(dir, "grants", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := state.Read(dir, "grants"); err != nil || string(got) != text {
			t.Fatalf("read %q, %v, want %q", got, err, text)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "grants")); err != nil || info.Mode().Perm() != state.FileMode {
		t.Errorf("mode %v, %v, want %v", info.Mode(), err, state.FileMode)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestRead_closesAndRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	if err := os.WriteFile(path, []byte("t"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Read(dir, "token"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != state.FileMode {
		t.Errorf("mode %v, %v: other users may still read it", info.Mode(), err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Read(dir, "link"); err == nil {
		t.Error("a link was read")
	}
	if _, err := state.Read(dir, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
}

func TestSecret_isOneForAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if secret, err := state.Known(dir); secret != nil || err != nil {
		t.Errorf("before there is one: %x, %v", secret, err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking for it made its folder: %v", err)
	}
	var wait sync.WaitGroup
	secrets := make([][]byte, 16)
	for i := range secrets {
		wait.Go(func() { secrets[i], _ = state.Secret(dir) })
	}
	wait.Wait()
	for _, s := range secrets {
		if len(s) != 32 || !bytes.Equal(s, secrets[0]) {
			t.Fatalf("secrets differ, or have %d bytes", len(s))
		}
	}
	if known, err := state.Known(dir); err != nil || !bytes.Equal(known, secrets[0]) {
		t.Errorf("known: %x, %v", known, err)
	}
	other, err := state.Secret(t.TempDir())
	if err != nil || bytes.Equal(other, secrets[0]) {
		t.Errorf("two state directories share a secret, or %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Secret(dir); err == nil {
		t.Error("a damaged secret was taken")
	}
}
