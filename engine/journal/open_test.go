package journal_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

func open(t testing.TB, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // a test may have closed it
	return j
}

func TestOpen_lockedByAnother(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "with blank & ?mark")
	held := 0
	locked := func() error {
		held++
		if _, err := os.Lstat(filepath.Join(dir, "state.db")); err == nil {
			t.Error("there is a database before its owner is recorded")
		}
		return nil
	}
	refused := errors.New("refused")
	if _, err := journal.Open(t.Context(), dir, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v, want the error of the callback", err)
	}
	first, err := journal.Open(t.Context(), dir, locked)
	if err != nil || held != 1 {
		t.Fatalf("first Open: %v, told of the lock %d times", err, held)
	}
	_, err = journal.Open(t.Context(), dir, locked)
	if held != 1 {
		t.Error("second Open: told of a lock that it has not got")
	}
	if !errors.Is(err, journal.ErrLocked) || failure.Of(err).Hint == "" || failure.Of(err).Code != failure.State {
		t.Fatalf("second Open: got %v, want ErrLocked with a hint", err)
	}
	reader, err := journal.OpenReader(t.Context(), dir)
	if err != nil {
		t.Fatalf("OpenReader beside a writer: %v", err)
	}
	if err := reader.Imports.Gone(t.Context(), ""); err == nil {
		t.Error("a reader could write")
	}
	if err := errors.Join(reader.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestOpen_brokenOrNewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  error
	}{
		{"no database", func(t *testing.T, path string) { write(t, path, []byte("this is a shopping list, not a database\n")) }, journal.ErrCorrupt},
		{"broken pages", func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(raw); i++ {
				raw[i] ^= 0x5a
			}
			write(t, path, raw)
		}, journal.ErrCorrupt},
		{"newer", func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}, journal.ErrNewer},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := open(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, filepath.Join(dir, "state.db"))
			_, err := journal.Open(t.Context(), dir)
			if !errors.Is(err, c.want) || failure.Of(err).Hint == "" {
				t.Errorf("got %v (hint %q), want %v with a hint", err, failure.Of(err).Hint, c.want)
			}
		})
	}
}

func TestOpenReader_nothingThere(t *testing.T) {
	t.Parallel()
	if _, err := journal.OpenReader(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// A reader that comes while the first serve is still making its database finds nothing, and no fault.
func TestOpenReader_databaseBeingMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "state.db"), nil)
	if _, err := journal.OpenReader(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	digest, err := j.Blobs.Put(t.Context(), []byte("an answer"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := j.Blobs.Put(t.Context(), []byte("an answer")); again != digest || err != nil {
		t.Errorf("second Put: %s, %v; want %s", again, err, digest)
	}
	if got, err := j.Blobs.Get(t.Context(), digest); string(got) != "an answer" || err != nil {
		t.Errorf("Get: %q, %v", got, err)
	}
	for _, bad := range []string{"", "../../../etc/passwd", "00", digest[:63] + "0", "A" + digest[1:]} {
		if _, err := j.Blobs.Get(t.Context(), bad); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("Get(%q): %v, want ErrNotFound", bad, err)
		}
	}
	write(t, filepath.Join(dir, "blobs", digest[:2], digest), []byte("an Answer"))
	if _, err := j.Blobs.Get(t.Context(), digest); err == nil {
		t.Error("a changed blob was returned")
	}
}
