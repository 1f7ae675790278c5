package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// retryStep begins finished runs again at a step: what came before is kept, what comes behind is done again.
func retryStep(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	done := r.run(manual("w", "a", "b", "c"))
	wantStatus(t, done, engine.Done)
	if err := r.x.Retry(r.ctx, done.ID, engine.RetryFrom{Step: "B"}); err != nil {
		t.Fatalf("Retry: %v", err)
	}
	got := r.wait(done.ID)
	wantStatus(t, got, engine.Done)
	for step, calls := range map[string]int{"a": 1, "b": 2, "c": 2} {
		wantCalls(t, w, engine.ActivityGenerate, step, calls)
	}
	if order := stepsIn(w.File("w.md")); order != "a b c b c" || len(got.Steps) != 3 {
		t.Errorf("w.md has the steps %s, want a b c b c; %d steps in the record", order, len(got.Steps))
	}
	w.Before = failing(engine.ActivityGenerate, "b")
	failed := r.run(manual("w", "a", "b", "c"))
	w.Before = nil
	for name, c := range map[string]struct {
		run  string
		from engine.RetryFrom
	}{
		"no such step":                {done.ID, engine.RetryFrom{Step: "x"}},
		"behind a step that failed":   {failed.ID, engine.RetryFrom{Step: "c"}},
		"a step and failed batches":   {failed.ID, engine.RetryFrom{Step: "b", Failed: true}},
		"no failed batches":           {done.ID, engine.RetryFrom{Failed: true}},
		"nothing to be tried again":   {done.ID, engine.RetryFrom{}},
		"a step of an import's run":   {r.run(imported("q3.pdf", "ab")).ID, engine.RetryFrom{Step: "a"}},
		"an import that has no fault": {r.run(imported("q4.pdf", "cd")).ID, engine.RetryFrom{}},
	} {
		if f := failure.Of(r.x.Retry(r.ctx, c.run, c.from)); f == nil || f.Code != failure.Retry {
			t.Errorf("%s: got %+v, want %s", name, f, failure.Retry)
		}
	}
	if err := r.x.Retry(r.ctx, failed.ID, engine.RetryFrom{Step: "b"}); err != nil {
		t.Fatalf("Retry: %v", err)
	}
	wantStatus(t, r.wait(failed.ID), engine.Done)
}

// stepsIn names the steps whose answers a file holds, in order.
func stepsIn(text string) string {
	var steps []string
	for line := range strings.Lines(text) {
		steps = append(steps, strings.TrimSuffix(strings.Fields(line)[4], ";"))
	}
	return strings.Join(steps, " ")
}

// retryLost repeats the batches that a run went on without, twice, and lets the executor die in the middle.
func retryLost(t *testing.T, factory Factory) {
	for _, parallel := range []int{1, 3} {
		w := NewWorld()
		w.Items["a"] = items("p", "q", "r", "s")
		w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m", SHA256: "d"}}}
		w.Missing["a#4"] = true
		w.Before = failing(engine.ActivityGenerate, "a#2")
		dir := t.TempDir()
		r := start(t, factory, w, Setup{Dir: dir})
		q := planOf(fmt.Sprintf(`"outputs":[{},{"target":{"scheme":"variable","path":"a"}}],"when":[{}],"for_each":{"on_error":"skip","parallel":%d}},`+
			`{"name":"b","outputs":[{},{}]`, parallel))
		first := r.run(q)
		wantStatus(t, first, engine.DoneWithOmissions)
		if got := statuses(first.Steps[0]); got != "1 done, 2 failed, 3 done, 4 skipped" {
			t.Fatalf("batches: %s", got)
		}
		w.Missing["a#4"] = false
		if err := r.x.Retry(r.ctx, first.ID, engine.RetryFrom{Failed: true}); err != nil {
			t.Fatalf("Retry: %v", err)
		}
		again := r.wait(first.ID)
		wantStatus(t, again, engine.DoneWithOmissions)
		if got := statuses(again.Steps[0]); got != "1 done, 2 failed, 3 done, 4 done" {
			t.Errorf("parallel %d: after a retry that failed again: %s", parallel, got)
		}
		if _, marked := w.Marks()["w/a/-2/m"]; marked {
			t.Error("a step with a failed batch marked what `changed` had seen")
		}
		r.stop()
		w.Before = nil
		dies := NewMortal(2, true)
		r = start(t, factory, w, Setup{Dir: dir, Wrap: dies.Over})
		if err := r.x.Retry(r.ctx, first.ID, engine.RetryFrom{Failed: true}); err != nil {
			t.Fatalf("Retry: %v", err)
		}
		<-dies.died
		r.stop()
		r = start(t, factory, w, Setup{Dir: dir})
		if _, err := r.x.Resume(r.ctx); err != nil {
			t.Fatal(err)
		}
		got := r.wait(first.ID)
		wantStatus(t, got, engine.Done)
		if s := statuses(got.Steps[0]); s != "1 done, 2 done, 3 done, 4 done" || len(got.Steps) != 2 {
			t.Errorf("parallel %d: %s, %d steps", parallel, s, len(got.Steps))
		}
		want := map[string]string{"w/a/-2/m": "d"}
		for _, n := range []string{"p", "q", "r", "s"} {
			want["w/a/-1/"+n] = "digest of " + n
		}
		if diff := cmp.Diff(want, w.Marks()); diff != "" {
			t.Errorf("parallel %d: marks (-want +got):\n%s", parallel, diff)
		}
		if text := w.File("w.md"); w.Paid() != 5 || strings.Count(text, "\n") != 5 {
			t.Errorf("parallel %d: %d answers paid, w.md:\n%s\nwant 5 of each", parallel, w.Paid(), text)
		}
		wantCalls(t, w, engine.ActivityCommit, "b", 1)
		r.stop()
	}
}

// retryInterrupted resumes one run that an earlier process has left, with the one that it waits for, and begins nothing else.
func retryInterrupted(t *testing.T, factory Factory) {
	w := parenting()
	dir := t.TempDir()
	g := hold(w, engine.ActivityGenerate, "a", "b")
	r := start(t, factory, w, Setup{Dir: dir})
	parent, other := r.begin(manual("w", "a")).Run, r.begin(manual("w", "b")).Run
	<-g.begun
	if f := failure.Of(r.x.Retry(r.ctx, parent, engine.RetryFrom{})); f == nil || f.Code != failure.Retry {
		t.Errorf("a run that is at work: got %+v, want %s", f, failure.Retry)
	}
	r.stop()
	w.Before = nil
	r = start(t, factory, w, Setup{Dir: dir})
	if err := r.x.Retry(r.ctx, parent, engine.RetryFrom{Failed: true}); err == nil {
		t.Error("batches of a run that has not ended: got no error")
	}
	if err := r.x.Retry(r.ctx, parent, engine.RetryFrom{}); err != nil {
		t.Fatalf("Retry: %v", err)
	}
	wantStatus(t, r.wait(parent), engine.Done)
	wantStatus(t, r.child(), engine.Done)
	if got, err := r.x.Wait(r.ctx, other); err == nil || got.Status.Finished() {
		t.Errorf("the other run is %s (%v), want it left alone", got.Status, err)
	}
}

// askedAgain asks for an import that an earlier process left unfinished: it is resumed, once.
func askedAgain(t *testing.T, factory Factory) {
	w := NewWorld()
	dir := t.TempDir()
	g := hold(w, engine.ActivityExtract)
	r := start(t, factory, w, Setup{Dir: dir})
	left := r.begin(imported("a.pdf", "aa")).Run
	<-g.begun
	r.stop()
	w.Before = nil
	r = start(t, factory, w, Setup{Dir: dir})
	for range 2 {
		if s := r.begin(imported("a.pdf", "aa")); s.Created || s.Run != left {
			t.Errorf("got %+v, want run %s", s, left)
		}
	}
	wantStatus(t, r.wait(left), engine.Done)
	wantCalls(t, w, engine.ActivityExtract, "a.pdf", 2) // the first was interrupted
}

// retryCosts retries batches whose prices have changed: what the batches behind them have bought is still good.
func retryCosts(t *testing.T, factory Factory) {
	w := NewWorld()
	w.NoVars = true
	w.Items["a"] = items("x", "y", "z")
	w.Before = func(ctx context.Context, activity, step string) error {
		return errors.Join(failing(engine.ActivityGenerate, "a#2")(ctx, activity, step), failing(engine.ActivityStage, "a#1", "a#3")(ctx, activity, step))
	}
	r := start(t, factory, w, Setup{})
	got := r.run(planOf(`"outputs":[{},{}],"for_each":{"on_error":"skip"}`))
	wantStatus(t, got, engine.Failed)
	w.Before = nil
	if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
		t.Fatalf("Retry: %v", err)
	}
	wantStatus(t, r.wait(got.ID), engine.Done)
	if w.Paid() != 3 {
		t.Errorf("%d answers paid, want 3", w.Paid())
	}
}
