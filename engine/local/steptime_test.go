package local_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/failure"
)

// timed is a workflow whose first step may take a minute, and whose second one has no limit.
func timed(properties string) engine.Request {
	return engine.Request{Kind: engine.KindWorkflow, Subject: "w", Plan: json.RawMessage(
		`{"name":"w","steps":[{"name":"a","outputs":[{},{}],"timeout":{"for":60000000000}` + properties + `},{"name":"b","outputs":[{},{}]}]}`,
	)}
}

// untilOver makes an activity of some works last until its context ends.
func untilOver(activity string, works ...string) func(context.Context, string, string) error {
	return func(ctx context.Context, a, step string) error {
		for _, w := range works {
			if a == activity && step == w {
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return nil
	}
}

// runInTime runs a request in an executor of its own and returns the record.
func runInTime(t *testing.T, c local.Config, q engine.Request) engine.RunRecord {
	t.Helper()
	x := local.New(c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	s, err := x.Start(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Wait(ctx, s.Run)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return got
}

func wantTimeout(t *testing.T, got engine.RunRecord) {
	t.Helper()
	if got.Status != engine.Failed || got.Failure.Code != failure.Timeout || got.Failure.Hint == "" || got.Finished.Sub(got.Started) != time.Minute {
		t.Errorf("got %s %+v after %v; want a timeout after a minute", got.Status, got.Failure, got.Finished.Sub(got.Started))
	}
}

func TestStepTimeout_cancelledActivityWritesNothing(t *testing.T) {
	t.Parallel()
	for _, activity := range []string{engine.ActivityGenerate, engine.ActivityStage, engine.ActivityCommit} {
		t.Run(activity, func(t *testing.T) {
			t.Parallel()
			w := enginetest.NewWorld()
			w.Before = untilOver(activity, "a")
			inTime(t, w, func(t *testing.T, c local.Config) {
				got := runInTime(t, c, timed(""))
				wantTimeout(t, got)
				if want := `step "a": the step timed out (1m0s)`; got.Reason != want {
					t.Errorf("reason %q, want %q", got.Reason, want)
				}
				if len(w.Files()) != 0 || got.Steps[1].Status != engine.Skipped {
					t.Errorf("wrote %v, step b is %s; want nothing written, b skipped", w.Files(), got.Steps[1].Status)
				}
			})
		})
	}
}

// The clock of a step does not run for the next one.
func TestStepTimeout_otherSteps(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityGenerate {
			time.Sleep(45 * time.Second)
		}
		return nil
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		if got := runInTime(t, c, timed("")); got.Status != engine.Done || got.Finished.Sub(got.Started) != 90*time.Second {
			t.Errorf("got %s (%s) after %v; want done after 90 s", got.Status, got.Reason, got.Finished.Sub(got.Started))
		}
	})
}

// A timed-out step starts no more batches, even with on_error=skip.
func TestStepTimeout_batches(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	for _, name := range []string{"x", "y", "z", "u"} {
		w.Items["a"] = append(w.Items["a"], []engine.Item{{Name: name, SHA256: name, Pending: true}})
	}
	w.Before = untilOver(engine.ActivityGenerate, "a#2", "a#3")
	inTime(t, w, func(t *testing.T, c local.Config) {
		got := runInTime(t, c, timed(`,"for_each":{"parallel":2,"on_error":"skip"}`))
		wantTimeout(t, got)
		if want := `step "a": batch 2 of 4 (y): the step timed out (1m0s); 1 not started`; got.Reason != want {
			t.Errorf("reason %q, want %q", got.Reason, want)
		}
		if w.File("w.md") != "answer to prompt of a x\n" || len(w.Marks()) != 1 || w.Calls(engine.ActivityResolve, "a#4") != 0 {
			t.Errorf("wrote %q, marked %v; want the first batch only", w.File("w.md"), w.Marks())
		}
	})
}

// The clock starts again when another process resumes the run.
func TestStepTimeout_resumed(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Before = untilOver(engine.ActivityGenerate, "a")
	inTime(t, w, func(t *testing.T, c local.Config) {
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		s, err := x.Start(ctx, timed(""))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		cancel()
		<-ended
		w.Before = func(_ context.Context, activity, _ string) error {
			if activity == engine.ActivityGenerate {
				time.Sleep(40 * time.Second)
			}
			return nil
		}
		x = local.New(c)
		ctx, cancel = context.WithCancel(t.Context())
		go func() { ended <- x.Run(ctx) }()
		if _, err := x.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Wait(ctx, s.Run); err != nil || got.Status != engine.Done {
			t.Errorf("got %s (%s), %v; want done", got.Status, got.Reason, err)
		}
		cancel()
		<-ended
	})
}

// Cancelling a run ends it, whatever on_error is.
func TestCancel_batches(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Items["a"] = [][]engine.Item{{{Name: "x"}}, {{Name: "y"}}, {{Name: "z"}}}
	begun := make(chan struct{}, 8)
	w.Before = func(ctx context.Context, activity, step string) error {
		if activity == engine.ActivityGenerate && step != "a#1" {
			begun <- struct{}{}
			<-ctx.Done()
		}
		return ctx.Err()
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		q := timed(`,"for_each":{"on_error":"skip"}`)
		s, err := x.Start(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		if err := x.Cancel(ctx, s.Run); err != nil {
			t.Fatal(err)
		}
		got, err := x.Wait(ctx, s.Run)
		if err != nil || got.Status != engine.Cancelled || w.Calls(engine.ActivityResolve, "a#3") != 0 {
			t.Errorf("got %s (%s), %v; want cancelled, no third batch", got.Status, got.Reason, err)
		}
		w.Before = nil
		if err := x.Retry(ctx, s.Run, engine.RetryFrom{}); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Wait(ctx, s.Run); err != nil || got.Status != engine.Done || w.Calls(engine.ActivityGenerate, "a#1") != 1 {
			t.Errorf("after the retry: got %s (%s), %v; want done, with the first batch's answer", got.Status, got.Reason, err)
		}
		cancel()
		<-ended
	})
}
