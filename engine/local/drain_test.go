package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/drain"
)

// begin sets an executor to work and returns what ends it.
func begin(t *testing.T, w *enginetest.World, c local.Config) (*local.Executor, func()) {
	t.Helper()
	x := local.New(c)
	w.StartsAt(x)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	return x, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func ask(t *testing.T, x *local.Executor, workflow, steps string) string {
	t.Helper()
	s, err := x.Start(t.Context(), engine.Request{
		Kind: engine.KindWorkflow, Subject: workflow, Plan: fmt.Appendf(nil, `{"name":%q,"steps":[%s]}`, workflow, steps),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Run
}

// Before a process starts over, calls under way end and count: none is cut, none is made twice. Nothing else begins, waits end, and
// a run can still be cancelled. The next executor does the rest.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Items["a"] = [][]engine.Item{{{Name: "x", SHA256: "x"}}, {{Name: "y", SHA256: "y"}}, {{Name: "z", SHA256: "z"}}}
	var open chan struct{} // made in the bubble
	var held, patient atomic.Int32
	w.Before = func(ctx context.Context, activity, step string) error {
		switch {
		case activity == engine.ActivityGenerate && step == "patient":
			if patient.Add(1) > 1 {
				return nil
			}
			<-drain.Begun(ctx)
			return fmt.Errorf("wait to repeat a request: %w", drain.Err)
		case activity == engine.ActivityResolve && step == "again" && patient.Load() < 2:
			return &failure.Error{Code: failure.Provider, Message: "not now", Retryable: true, RetryAfter: time.Minute}
		case activity != engine.ActivityGenerate:
			return nil
		}
		held.Add(1)
		select {
		case <-open:
		case <-ctx.Done():
			t.Errorf("%s of %s was cut", activity, step)
		}
		return nil
	}
	inJournal(t, w, func(t *testing.T, c local.Config, j *journal.Journal) {
		open = make(chan struct{})
		x, stop := begin(t, w, c)
		runs := []string{
			ask(t, x, "w", `{"name":"a","for_each":{"parallel":2}},{"name":"b"}`), ask(t, x, "w", `{"name":"c"}`),
			ask(t, x, "v", `{"name":"patient"}`), ask(t, x, "u", `{"name":"again"}`),
		}
		cancelled := ask(t, x, "w", `{"name":"d"}`)
		synctest.Wait()
		began, drained := time.Now(), make(chan struct{})
		go func() {
			defer close(drained)
			x.Drain.Begin(t.Context())
		}()
		synctest.Wait()
		if got, want := fmt.Sprint(x.Drain.Working()), fmt.Sprintf("[run %s of w]", runs[0]); got != want {
			t.Errorf("it waits for %s, want %s", got, want)
		}
		if err := x.Cancel(t.Context(), cancelled); err != nil {
			t.Errorf("Cancel: %v", err)
		}
		time.Sleep(time.Second)
		select {
		case <-drained:
			t.Error("Begin returned before the calls had ended")
		default:
		}
		close(open)
		<-drained
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		late := ask(t, x, "t", `{"name":"late"}`)
		stop()
		if n := held.Load(); n != 2 {
			t.Errorf("%d calls were made, want the two that were under way", n)
		}
		x, stop = begin(t, w, c)
		defer stop()
		if n, err := x.Resume(t.Context()); n != 5 || err != nil {
			t.Errorf("Resume: %d, %v; want 5 runs", n, err)
		}
		for _, run := range append(runs, late) {
			if got, err := x.Wait(t.Context(), run); err != nil || got.Status != engine.Done {
				t.Errorf("run of %s: %s (%s), %v", got.Workflow, got.Status, got.Reason, err)
			}
		}
		if got, err := j.Runs.Run(t.Context(), cancelled); err != nil || got.Status != engine.Cancelled {
			t.Errorf("the cancelled run: %s, %v", got.Status, err)
		}
		for step, want := range map[string]int{"a#1": 1, "a#2": 1, "a#3": 1, "b": 1, "c": 1, "d": 0, "late": 1} {
			if got := w.Calls(engine.ActivityGenerate, step); got != want {
				t.Errorf("%d calls for %s, want %d", got, step, want)
			}
		}
	})
}

// An import is left at once, for the reason that lets its paid calls end.
func TestDrain_import(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	cut := make(chan error, 1)
	w.Before = func(ctx context.Context, activity, _ string) error {
		if activity != engine.ActivityExtract || len(cut) > 0 {
			return nil
		}
		<-ctx.Done()
		cut <- context.Cause(ctx)
		return ctx.Err()
	}
	inTime(t, w, func(t *testing.T, c local.Config) {
		x, stop := begin(t, w, c)
		s, err := x.Start(t.Context(), engine.Request{
			Kind: engine.KindImport, Subject: "a.pdf", Trigger: engine.Trigger{Kind: engine.TriggerDrop}, Import: &engine.ImportRequest{SHA256: "x", Size: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		x.Drain.Begin(t.Context())
		stop()
		if len(cut) != 1 || !errors.Is(<-cut, drain.Err) {
			t.Error("the import was not left because the process starts over")
		}
		cut <- nil
		x, stop = begin(t, w, c)
		defer stop()
		if n, err := x.Resume(t.Context()); n != 1 || err != nil {
			t.Errorf("Resume: %d, %v", n, err)
		}
		if got, err := x.Wait(t.Context(), s.Run); err != nil || got.Status != engine.Done {
			t.Errorf("the import: %s (%s), %v", got.Status, got.Reason, err)
		}
	})
}

// Nothing starts with what is outdated: it waits until the change is undone, or its process starts over.
func TestDrain_startsNothingOutdated(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	inTime(t, w, func(t *testing.T, c local.Config) {
		var outdated atomic.Bool
		c.Outdated = outdated.Load
		x, stop := begin(t, w, c)
		defer stop()
		start := func(ctx context.Context, key string) error {
			_, err := x.Start(ctx, engine.Request{Key: key, Kind: engine.KindWorkflow, Subject: "w", Plan: json.RawMessage(`{"name":"w","steps":[{"name":"a"}]}`)})
			return err
		}
		outdated.Store(true)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := start(short, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a start that waits", err)
		}
		time.AfterFunc(time.Second, func() { outdated.Store(false) })
		if err := start(t.Context(), "2"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		outdated.Store(true)
		time.AfterFunc(time.Second, func() { x.Drain.Begin(t.Context()) })
		if err := start(t.Context(), "3"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := w.Calls(engine.ActivityGenerate, "a"); n != 1 {
			t.Errorf("%d calls, want one: what starts while the process is about to start over waits for it", n)
		}
	})
}
