package journal_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

func TestMain(m *testing.M) {
	journal.Impatient()
	os.Exit(m.Run())
}

// other is another program with the database open, such as a backup.
func other(t *testing.T, dir string, statements ...string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0)
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return c
}

// busy checks that an error names the cause in plain words and says what to do.
func busy(t *testing.T, what string, err error) {
	t.Helper()
	f := failure.Of(err)
	if !errors.Is(err, journal.ErrBusy) || f.Code != failure.State || f.Hint == "" || f.Hint == failure.HintTransient {
		t.Errorf("%s: %v (%+v), want ErrBusy with advice", what, err, f)
	}
}

// A database that another program keeps locked says so, to writers and to readers, and what met it is tried again.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	backup := other(t, dir, "BEGIN IMMEDIATE")
	err := j.Imports.Gone(t.Context(), "Workflow")
	busy(t, "a write", err)
	if !failure.IsTransient(err) {
		t.Errorf("%v does not pass, so the run would fail", err)
	}
	if _, err := j.Approvals.Open(t.Context(), ""); err != nil {
		t.Errorf("a read beside it: %v", err)
	}
	if _, err := backup.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := backup.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Imports.Gone(t.Context(), "Workflow"); err != nil {
		t.Errorf("after the backup: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	other(t, dir, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE")
	_, err = journal.OpenReader(t.Context(), dir)
	busy(t, "a reader", err)
	_, err = journal.Open(t.Context(), dir)
	busy(t, "a start", err)
}

// Whatever the folder's mode and the umask were, others cannot read what is below it.
func TestOpen_closesTheStateToOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // whatever the umask
		t.Fatal(err)
	}
	j := open(t, dir)
	if _, err := j.Blobs.Put(t.Context(), []byte("a blob")); err != nil {
		t.Fatal(err)
	}
	if list := openToOthers(t, dir); len(list) > 0 {
		t.Errorf("a new state: others may use %v", list)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, os.Chmod(path, 0o755))
		}
		return os.Chmod(path, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if list := openToOthers(t, dir); len(list) > 0 {
		t.Errorf("after a reader of an old state: others may use %v", list)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "state.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if list := openToOthers(t, dir); len(list) > 0 {
		t.Errorf("after a start: others may use %v", list)
	}
}

func openToOthers(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			list = append(list, info.Mode().String()+" "+path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
