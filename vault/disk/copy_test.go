package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

func TestCopy(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	put(t, dir, "Import/a.csv", "one\ntwo\n")
	put(t, dir, "Imported/taken.csv", "other")
	one := vault.Digest([]byte("one\n"))
	for range 2 { // of the first bytes; repeated it succeeds
		must(t, v.copy(t.Context(), "Import/a.csv", "Imported/a/a.csv", one, 4))
	}
	if got := content(t, dir, "Imported/a/a.csv"); got != "one\n" {
		t.Errorf("the copy holds %q", got)
	}
	var conflict *vault.ConflictError
	if err := v.copy(t.Context(), "Import/a.csv", "Imported/b.csv", one, 8); !errors.As(err, &conflict) {
		t.Errorf("other bytes: %v", err)
	}
	if err := v.copy(t.Context(), "Import/a.csv", "Imported/taken.csv", one, 4); !errors.Is(err, fs.ErrExist) || content(t, dir, "Imported/taken.csv") != "other" {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := v.copy(t.Context(), "Import/none.csv", "Imported/c.csv", one, 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.copy(ended, "Import/a.csv", "Imported/d.csv", one, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled copy: %v", err)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("left over: %v", left)
	}
	for _, name := range []string{"Imported/b.csv", "Imported/c.csv", "Imported/d.csv"} {
		if there, err := exists(v, name); there || err != nil {
			t.Errorf("%s was made: %v", name, err)
		}
	}
}

// A program that has the file open writes to the file of the copy's name afterwards.
func TestSupplant(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	put(t, dir, "Import/a.csv", "one\n")
	put(t, dir, "Imported/a.csv", "one\n")
	put(t, dir, "Imported/other.csv", "other")
	f, err := os.OpenFile(filepath.Join(dir, "Import/a.csv"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	one := vault.Digest([]byte("one\n"))
	for _, c := range []struct{ to, sum string }{
		{"Imported/other.csv", one}, {"Imported/none.csv", one}, {"Imported/a.csv", vault.Digest([]byte("other"))},
	} {
		var conflict *vault.ConflictError
		if err := v.supplant(t.Context(), "Import/a.csv", c.to, c.sum); !errors.As(err, &conflict) {
			t.Errorf("over %s: %v", c.to, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.supplant(ended, "Import/a.csv", "Imported/a.csv", one); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, v.supplant(t.Context(), "Import/a.csv", "Imported/a.csv", one))
	grows(t, f, "two\n")
	if got := content(t, dir, "Imported/a.csv"); got != "one\ntwo\n" {
		t.Errorf("the writer's file is not the one at the copy's name: %q", got)
	}
	if there, err := exists(v, "Import/a.csv"); there || err != nil || content(t, dir, "Imported/other.csv") != "other" {
		t.Errorf("it is still there: %v", err)
	}
}

func TestShowsEnd(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"%PDF-1.7\n": true, "PK\x03\x04": true, "\x89PNG\r\n\x1a\n": true, "": false, "month,sum\n": false, "From: a@example.org\r\n": false, "ID3\x04": false,
	} {
		if got := ShowsEnd([]byte(head)); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}
