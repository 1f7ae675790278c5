package local_test

import (
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
)

// factory makes an executor over a real journal.
func factory(t testing.TB, s enginetest.Setup) (engine.Executor, func()) {
	t.Helper()
	j, err := journal.Open(t.Context(), s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	port := j.Executor()
	if s.Wrap != nil {
		port = s.Wrap(port)
	}
	backoff := func(activity string) local.Backoff {
		r := local.DefaultBackoff(activity)
		r.Base, r.Max = time.Millisecond, time.Millisecond
		return r
	}
	x := local.New(local.Config{
		Journal: port, Activities: s.Activities, MaxRuns: s.MaxRuns, MaxImports: s.MaxImports, Postpone: 5 * time.Millisecond, Grace: time.Second, Backoff: backoff, Now: s.Now,
	})
	return x, func() {
		if err := j.Close(); err != nil {
			t.Errorf("close the journal: %v", err)
		}
	}
}

func TestExecutor_contract(t *testing.T) {
	t.Parallel()
	enginetest.Exercise(t, factory)
}
