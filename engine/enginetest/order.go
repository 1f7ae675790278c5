package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

func stepsInOrder(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	q := manual("w", "a", "b", "copy!")
	q.Vars = map[string]string{"z": "from outside"}
	w.put(q.Vars["z"]) // the executor keeps it in its journal, under the same digest
	got := r.run(q)
	wantStatus(t, got, engine.Done)
	want := "answer to prompt of a; z: from outside\n" +
		"answer to prompt of b; a: answer to prompt of a; z: from outside; z: from outside\n" +
		"prompt of copy!\na: answer to prompt of a; z: from outside\n" +
		"b: answer to prompt of b; a: answer to prompt of a; z: from outside; z: from outside\nz: from outside\n"
	if diff := cmp.Diff(want, w.File("w.md")); diff != "" {
		t.Errorf("w.md (-want +got):\n%s", diff)
	}
	wantCalls(t, w, engine.ActivityGenerate, "copy!", 0)
	if len(got.Steps) != 3 || len(got.Outputs) != 6 || got.Usage.InputTokens != 20 {
		t.Errorf("record: got %d steps, %d outputs, %d tokens; want 3, 6, 20", len(got.Steps), len(got.Outputs), got.Usage.InputTokens)
	}
	for _, s := range got.Steps {
		if s.Status != engine.Done || s.Started.IsZero() || s.Finished.IsZero() {
			t.Errorf("step %s: got %s, started %v, finished %v", s.Step, s.Status, s.Started, s.Finished)
		}
	}
}

func chosenSteps(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	q := manual("w", "first", "second")
	q.Steps = []string{"Second"}
	wantStatus(t, r.run(q), engine.Done)
	wantCalls(t, w, engine.ActivityResolve, "first", 0)
	wantCalls(t, w, engine.ActivityCommit, "second", 1)

	q.Steps = []string{"third"}
	_, err := r.x.Start(r.ctx, q)
	f, ok := errors.AsType[*failure.Error](err)
	if !ok || f.Code != failure.InvalidWorkflow || f.Hint == "" {
		t.Errorf("Start with an unknown step: got %v, want an invalid_workflow failure with a hint", err)
	}
}

func oneKey(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	first := r.begin(scheduled("cron:w:1", "", "w", "a"))
	twin := r.begin(scheduled("cron:w:1", "", "w", "a"))
	wantStatus(t, r.wait(first.Run), engine.Done)
	later := r.begin(scheduled("cron:w:1", "", "w", "a"))
	if !first.Created || twin.Created || later.Created || twin.Run != first.Run || later.Run != first.Run {
		t.Errorf("got %+v, %+v, %+v; want one run", first, twin, later)
	}
	again := scheduled("cron:w:1", "", "w", "a")
	again.Again = true
	if s := r.begin(again); !s.Created || s.Run == first.Run {
		t.Errorf("again: got %+v, want a new run", s)
	} else {
		r.wait(s.Run)
	}
	r.run(manual("w", "a"))
	r.run(manual("w", "a"))
	wantCalls(t, w, engine.ActivityGenerate, "a", 4)
}

func honestOutcomes(t *testing.T, factory Factory) {
	answer := func(stop string, empty bool) func(*World) {
		return func(w *World) {
			w.Answers["a"] = engine.GenerateOut{Answer: w.put("some"), Stop: stop, Empty: empty, Usage: cost.Usage{OutputTokens: 7}}
		}
	}
	for _, c := range []struct {
		name   string
		world  func(*World)
		status engine.Status
		code   failure.Code
		writes string
	}{
		{"refusal", answer(engine.StopRefusal, false), engine.Refused, failure.Refusal, ""},
		{"length", answer(engine.StopLength, false), engine.Truncated, failure.CutOff, ""},
		{"empty", answer(engine.StopEnd, true), engine.Empty, failure.EmptyAnswer, ""},
		{"paused", answer("pause", false), engine.Truncated, failure.Incomplete, ""},
		{"unseen", func(w *World) {
			w.Answers["a"] = engine.GenerateOut{Answer: w.put("some"), Stop: engine.StopEnd, Unseen: []string{"x.png"}}
		}, engine.Unseen, failure.Unseen, ""},
		{"unseen, and calls tools", func(w *World) {
			w.Answers["a"] = engine.GenerateOut{Answer: w.put("some"), Stop: engine.StopToolUse, Unseen: []string{"x.png"}}
		}, engine.Unseen, failure.Unseen, ""},
		{"omitted", func(w *World) { w.Omitted["a"] = []string{"x.png: over budget"} }, engine.DoneWithOmissions, "", "answer to prompt of a\n"},
		{"missing", func(w *World) { w.Missing["a"] = true }, engine.Skipped, "", ""},
	} {
		w := NewWorld()
		c.world(w)
		r := start(t, factory, w, Setup{})
		got := r.run(manual("w", "a"))
		code := failure.Code("")
		if got.Failure != nil {
			code = got.Failure.Code
		}
		if got.Status != c.status || code != c.code || w.File("w.md") != c.writes || (got.Reason == "") {
			t.Errorf("%s: got %s %q (%s), wrote %q; want %s %q, %q", c.name, got.Status, code, got.Reason, w.File("w.md"), c.status, c.code, c.writes)
		}
		r.stop()
	}
	w := NewWorld()
	answer(engine.StopLength, false)(w)
	got := start(t, factory, w, Setup{}).run(manual("w", "before", "a", "after"))
	var statuses []engine.Status
	for _, s := range got.Steps {
		statuses = append(statuses, s.Status)
	}
	if diff := cmp.Diff([]engine.Status{engine.Done, engine.Truncated, engine.Skipped}, statuses); diff != "" {
		t.Errorf("steps around a failed one (-want +got):\n%s", diff)
	}
	wantCalls(t, w, engine.ActivityResolve, "after", 0)
	if got.Usage.OutputTokens != 12 {
		t.Errorf("tokens of a failed step count: got %d, want 12", got.Usage.OutputTokens)
	}
}

func conflict(t *testing.T, factory Factory) {
	w := NewWorld()
	var left atomic.Int32
	left.Store(2)
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityCommit && left.Add(-1) >= 0 {
			w.Write("w.md", w.File("w.md")+"a person's line\n")
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	wantStatus(t, r.run(manual("w", "a")), engine.Done)
	if got, want := w.File("w.md"), "a person's line\na person's line\nanswer to prompt of a\n"; got != want {
		t.Errorf("w.md: got %q, want %q", got, want)
	}
	left.Store(100)
	got := r.run(manual("w", "a"))
	if got.Status != engine.Failed || got.Failure.Code != failure.Conflict {
		t.Errorf("endless conflict: got %s (%s), want failed with conflict", got.Status, got.Reason)
	}
	wantCalls(t, w, engine.ActivityStage, "a", 3+6)
	wantCalls(t, w, engine.ActivityGenerate, "a", 2)
}

func transient(t *testing.T, factory Factory) {
	w := NewWorld()
	var left atomic.Int32
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityResolve && left.Add(-1) >= 0 {
			return fmt.Errorf("look: %w", &failure.Error{Code: failure.Vault, Message: "disk busy", Retryable: true})
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	left.Store(2)
	wantStatus(t, r.run(manual("w", "a")), engine.Done)
	wantCalls(t, w, engine.ActivityResolve, "a", 3)
	left.Store(100)
	got := r.run(manual("w", "a"))
	if got.Status != engine.Failed || got.Failure.Code != failure.Vault || got.Failure.Message != "look: disk busy" {
		t.Errorf("got %s %+v, want failed with vault", got.Status, got.Failure)
	}
	wantCalls(t, w, engine.ActivityResolve, "a", 6)
}

// A layer below has repeated the work already: the executor must not multiply the attempts.
func exhausted(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity != engine.ActivityResolve {
			return nil
		}
		return &failure.Error{Code: failure.Provider, Message: "overloaded", Retryable: true, Exhausted: true}
	}
	r := start(t, factory, w, Setup{})
	got := r.run(manual("w", "a"))
	if got.Status != engine.Failed || got.Failure.Code != failure.Provider || !got.Failure.Retryable {
		t.Errorf("got %s %+v, want failed with a retryable provider failure", got.Status, got.Failure)
	}
	wantCalls(t, w, engine.ActivityResolve, "a", 1)
}

func panics(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Before = func(_ context.Context, activity, step string) error {
		if activity == engine.ActivityAssemble && step == "a" {
			panic("boom")
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	got := r.run(manual("w", "a"))
	if got.Status != engine.Failed || got.Failure.Code != failure.Panic {
		t.Errorf("got %s %+v, want failed with panic", got.Status, got.Failure)
	}
	wantStatus(t, r.run(manual("w", "b")), engine.Done)
}
