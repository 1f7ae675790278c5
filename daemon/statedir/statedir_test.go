package statedir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy"
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
