package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/engine/journal"
)

// later does something when it is asked first whether it has ended, once it is armed.
type later struct {
	context.Context
	armed bool
	do    func()
}

// Err implements context.Context.
func (l *later) Err() error {
	if l.armed {
		l.armed = false
		l.do()
	}
	return l.Context.Err()
}

// What is copied is the database of the moment at which nobody can write, and nothing that was written after it.
func TestCopy_oneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	count := func(piece string) {
		if _, err := j.Attempts.Attempt(t.Context(), piece, 0); err != nil {
			t.Error(err)
		}
	}
	count("before")
	after := &later{t.Context(), false, func() { count("after") }}
	stranger, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db")+"?_pragma=busy_timeout(0)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	to := filepath.Join(t.TempDir(), "state.db")
	err = journal.Copy(after, dir, to, func() error {
		if tx, err := stranger.BeginTx(t.Context(), nil); err == nil {
			t.Error("somebody can write at the moment of the copy")
			return tx.Rollback()
		}
		after.armed = true
		return nil
	})
	if err != nil || after.armed {
		t.Fatal(err, after.armed)
	}
	copied, err := journal.OpenReader(t.Context(), filepath.Dir(to))
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	for piece, want := range map[string]int{"before": 1, "after": 0} {
		if n, err := copied.Attempts.Attempts(t.Context(), piece); n != want || err != nil {
			t.Errorf("%s: %d in the copy, %v, want %d", piece, n, err, want)
		}
	}
	if n, err := j.Attempts.Attempts(t.Context(), "after"); n != 1 || err != nil {
		t.Error("nothing was written while the database was copied", err)
	}
	stop := errors.New("stop")
	if err := journal.Copy(t.Context(), dir, to+"-2", func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of what belongs to the copy", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), "*")); len(left) > 1 {
		t.Errorf("left behind: %v", left)
	}
}
