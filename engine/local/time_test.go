package local_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/failure"
)

// inTime runs a test in a bubble with a journal and the activities of a world.
func inTime(t *testing.T, w *enginetest.World, fn func(*testing.T, local.Config)) {
	t.Helper()
	inJournal(t, w, func(t *testing.T, c local.Config, _ *journal.Journal) { fn(t, c) })
}

// inJournal is inTime for tests that read the journal.
func inJournal(t *testing.T, w *enginetest.World, fn func(*testing.T, local.Config, *journal.Journal)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		fn(t, local.Config{Journal: j.Executor(), Activities: w.Activities()}, j)
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

func request() engine.Request {
	return engine.Request{Kind: engine.KindWorkflow, Subject: "w", Plan: json.RawMessage(`{"name":"w","steps":[{"name":"a"}]}`)}
}

func TestExecutor_timeout(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Before = func(ctx context.Context, activity, _ string) error {
		if activity == engine.ActivityGenerate {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		c.Timeout = time.Minute
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		s, err := x.Start(ctx, request())
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Wait(ctx, s.Run)
		if err != nil || got.Status != engine.Failed || got.Failure.Code != failure.Timeout || got.Finished.Sub(got.Started) != time.Minute {
			t.Errorf("got %s %+v after %v, %v; want a timeout after a minute", got.Status, got.Failure, got.Finished.Sub(got.Started), err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An activity that ignores its context does not hold up the shutdown, and its late outcome is not stored.
func TestExecutor_stubbornActivity(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityGenerate {
			time.Sleep(time.Hour)
		}
		return nil
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		s, err := x.Start(ctx, request())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		<-ended
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("shutdown took %v, want at most 5 s", took)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		e, records, err := c.Journal.Load(t.Context(), s.Run)
		if err != nil || e.Run.Status != engine.Running || len(records) != 2 {
			t.Errorf("after the shutdown: %s with %d records, %v; want running with 2", e.Run.Status, len(records), err)
		}
	})
}

func TestRetry_wait(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	left := 2
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityResolve && left > 0 {
			left--
			return &failure.Error{Code: failure.Vault, Message: "busy", Retryable: true}
		}
		return nil
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		began := time.Now()
		s, err := x.Start(ctx, request())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.Wait(ctx, s.Run); err != nil || got.Status != engine.Done {
			t.Errorf("got %s, %v", got.Status, err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("two repetitions took %v, want 1 s + 2 s", took)
		}
		cancel()
		<-ended
	})
}
