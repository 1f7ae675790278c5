package journal_test

import (
	"errors"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

func TestAsked_latestOfAKey(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	if got, err := j.Runs.Asked(t.Context(), "k"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("before: %q, %v; want ErrNotFound", got.ID, err)
	}
	first := entry("r1", "k", "w")
	first.Run.Status, first.Run.Finished = engine.Done, epoch
	create(t, j, first)
	create(t, j, entry("r0", "other", "w"))
	if got, err := j.Runs.Asked(t.Context(), "k"); got.ID != "r1" || err != nil {
		t.Errorf("got %q, %v; want r1", got.ID, err)
	}
	if _, created, err := j.Runs.Create(t.Context(), entry("r2", "k", "w"), true); !created || err != nil {
		t.Fatalf("Create again: %v, %v", created, err)
	}
	if got, err := j.Runs.Asked(t.Context(), "k"); got.ID != "r2" || err != nil {
		t.Errorf("got %q, %v; want r2", got.ID, err)
	}
}
