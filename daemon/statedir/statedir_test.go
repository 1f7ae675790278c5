package statedir_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// trusted makes a vault with a state directory that trusts it.
func trusted(t *testing.T, vault, state string) {
	t.Helper()
	if err := os.Mkdir(vault, 0o755); err != nil {
		t.Fatal(err)
	}
	st := find(t, vault, state)
	if _, err := statedir.StartOver(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	store, err := trust.Open(state, vault)
	if err == nil {
		err = store.Change(func(s *trust.State) { s.Decide(trust.Own, time.Now()) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, vault, state string) vaultid.State {
	t.Helper()
	st, err := statedir.Find(vault, state)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// stopped ends after n questions whether it has.
type stopped struct {
	context.Context
	n int
}

func (s *stopped) Err() error {
	if s.n--; s.n < 0 {
		return context.Canceled
	}
	return s.Context.Err()
}

// A move that stops between its steps is completed by the next one, and trust is not lost.
func TestTakeOver_stopped(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		home := t.TempDir()
		first, second, state := filepath.Join(home, "first"), filepath.Join(home, "second"), filepath.Join(home, "state")
		trusted(t, first, state)
		if err := os.Rename(first, second); err != nil {
			t.Fatal(err)
		}
		_, _, err := statedir.TakeOver(&stopped{t.Context(), n}, find(t, second, state))
		if err == nil {
			if n == 0 {
				t.Fatal("it never stopped")
			}
			return
		}
		if st := find(t, second, state); st.Standing != vaultid.Moved {
			t.Fatalf("stopped after %d steps: %s, so nobody completes it", n, st.Standing)
		}
		st, follows, err := statedir.TakeOver(t.Context(), find(t, second, state))
		if err != nil || st.Standing != vaultid.Own || runtime.GOOS == "linux" && !follows {
			t.Errorf("after %d steps, the second move: %s, trusted %v, %v", n, st.Standing, follows, err)
		}
	}
}

// Nothing is changed, in the vault or in its state, while another process works with the state.
func TestStartOver_stateInUse(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	vault, state := filepath.Join(home, "vault"), filepath.Join(home, "state")
	if err := os.Mkdir(vault, 0o755); err != nil {
		t.Fatal(err)
	}
	release, _, err := journal.Lock(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	st := find(t, vault, state)
	if _, err := statedir.StartOver(t.Context(), st); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if _, err := os.Lstat(filepath.Join(vault, policy.IdentityFile)); err == nil {
		t.Error("the vault has got an id")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := statedir.StartOver(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	if _, err := statedir.StartOver(t.Context(), st); err == nil {
		t.Error("what was found before another process changed it was taken for the present")
	}
}

// A history that was lost knows the imports again, and what is foreign by them, also after a start that was stopped; no workflow starts by them.
func TestRecover(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	vault := fstest.MapFS{"Imported/torn/manifest.json": {Data: []byte("{")}, ".trash/manifest.json": {Data: bundle(t, "r0", false)}}
	for n, where := range []string{"Imported/a", "Papers/2026/b", "Imported/c"} {
		vault[where+"/manifest.json"] = &fstest.MapFile{Data: bundle(t, fmt.Sprint("r", n+1), n == 2)}
		vault[where+"/index.md"] = &fstest.MapFile{Data: []byte("A sentence that somebody else has written in a long letter.\n")}
	}
	book := &origin.Book{FS: vault, Store: j.Origins}
	st := vaultid.State{Record: vaultid.Record{Begins: time.Now()}}
	for _, ctx := range []context.Context{&stopped{t.Context(), 5}, t.Context(), t.Context()} {
		statedir.Recover(ctx, st, j, vault, book, slog.New(slog.DiscardHandler))
	}
	list, err := j.Imports.List(t.Context(), journal.ImportFilter{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v; want three imports", list, err)
	}
	for _, r := range list {
		if partial := r.ID == "r3"; r.Source != "Import/"+r.ID+".pdf" || r.Note != r.Bundle+"/index.md" || r.Pages != 2 || (r.State == engine.ImportPartial) != partial {
			t.Errorf("%+v", r)
		}
		if known, err := j.Origins.Content(t.Context(), r.SHA256); err != nil || !known.Foreign() {
			t.Errorf("the original of %s: %+v, %v", r.ID, known, err)
		}
	}
	if known, err := j.Origins.Name(t.Context(), "Papers/2026/b/index.md"); err != nil || !known.Foreign() {
		t.Errorf("a note: %+v, %v", known, err)
	}
	if fresh, err := j.Imports.Unannounced(t.Context()); err != nil || len(fresh) > 0 {
		t.Errorf("workflows would start by %+v, %v", fresh, err)
	}
}

// bundle is the manifest of an import of two pages.
func bundle(t *testing.T, id string, failed bool) []byte {
	t.Helper()
	m := manifest.Manifest{Version: manifest.Version, Import: manifest.Import{ID: id, Started: time.Now(), Finished: time.Now()}}
	sum := sha256.Sum256([]byte(id))
	m.Source = manifest.Source{Name: id + ".pdf", Path: "Import/" + id + ".pdf", SHA256: hex.EncodeToString(sum[:]), Size: 100}
	m.Pages = []manifest.Page{{N: 1, Status: manifest.PageDone}, {N: 2, Status: manifest.PageDone}}
	if failed {
		m.Pages[1].Status = manifest.PageFailed
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
