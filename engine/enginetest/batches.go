package enginetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// each is a step over the items of a world.
func each(forEach string) engine.Request {
	return planOf(`"outputs":[{},{"target":{"scheme":"variable","path":"a"}}],"for_each":{` + forEach + `}`)
}

// items puts pending files into batches of one.
func items(names ...string) [][]engine.Item {
	var batches [][]engine.Item
	for _, n := range names {
		batches = append(batches, []engine.Item{{Name: n, SHA256: "digest of " + n, Pending: true}})
	}
	return batches
}

// failing makes an activity fail for some works, such as "a#2".
func failing(activity string, works ...string) func(context.Context, string, string) error {
	return func(_ context.Context, a, step string) error {
		for _, w := range works {
			if a == activity && step == w {
				return failure.New(failure.Provider, "a hint", "no answer for %s", step)
			}
		}
		return nil
	}
}

func statuses(s engine.StepRecord) string {
	var list []string
	for _, b := range s.Batches {
		list = append(list, fmt.Sprintf("%d %s", b.Batch, b.Status))
	}
	return strings.Join(list, ", ")
}

func itemsInOrder(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Items["a"] = append(items("x", "y"), []engine.Item{{Name: "z", SHA256: "dz"}, {Name: "zz", SHA256: "dzz", Pending: true}})
	w.Omitted["a"] = []string{"c1 p.png (deferred)"}
	got := start(t, factory, w, Setup{}).run(each(""))
	wantStatus(t, got, engine.DoneWithOmissions)
	first := "answer to prompt of a x"
	second := "answer to prompt of a y; a: " + first
	want := first + "\n" + second + "\nanswer to prompt of a z zz; a: " + second + "\n"
	if diff := cmp.Diff(want, w.File("w.md")); diff != "" {
		t.Errorf("w.md (-want +got):\n%s", diff)
	}
	marks := map[string]string{"w/a/-1/x": "digest of x", "w/a/-1/y": "digest of y", "w/a/-1/zz": "dzz"}
	if diff := cmp.Diff(marks, w.Marks()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	s := got.Steps[0]
	if len(s.Batches) != 3 || s.Usage.InputTokens != 30 || s.Calls != 3 || len(s.Omitted) != 3 || len(s.Outputs) != 2 || len(got.Outputs) != 2 {
		t.Errorf("step: got %d batches, %d tokens, %d calls, omitted %v, outputs %v", len(s.Batches), s.Usage.InputTokens, s.Calls, s.Omitted, s.Outputs)
	}
	for _, b := range s.Batches {
		if b.Status != engine.DoneWithOmissions || b.Prompt == "" || b.Answer == "" || b.Receipt == "" || len(b.Outputs) != 2 || b.Started.IsZero() || b.Finished.IsZero() {
			t.Errorf("batch: got %+v", b)
		}
	}
	if b := s.Batches[2]; b.ItemsText() != "z, zz" || b.Usage.CostUSD != 0.25 {
		t.Errorf("third batch: %s, %+v", b.ItemsText(), b.Usage)
	}
}

// besideEachOther lets the second batch answer before the first one, and wants the files in the order of the items.
func besideEachOther(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Items["a"] = items("x", "y", "z")
	var begun sync.WaitGroup
	begun.Add(2)
	second := make(chan struct{})
	w.Before = func(ctx context.Context, activity, step string) error {
		if activity != engine.ActivityGenerate || step == "a#3" {
			return nil
		}
		begun.Done()
		begun.Wait() // both are at work
		if step == "a#1" {
			select {
			case <-second:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	r := start(t, factory, w, Setup{})
	events, end := r.x.Subscribe(1000)
	defer end()
	run := r.begin(each(`"parallel":2`)).Run
	for e := range events {
		if e.Kind == engine.EventBatch && e.Batch == 2 && e.Work.Answer != "" {
			close(second)
			break
		}
	}
	wantStatus(t, r.wait(run), engine.Done)
	want := "answer to prompt of a x\nanswer to prompt of a y\nanswer to prompt of a z; a: answer to prompt of a x\n"
	if diff := cmp.Diff(want, w.File("w.md")); diff != "" {
		t.Errorf("w.md (-want +got):\n%s", diff)
	}
	if w.Most() != 2 {
		t.Errorf("%d activities were at work together, want 2", w.Most())
	}
}

func batchStops(t *testing.T, factory Factory) {
	for _, c := range []struct{ parallel, statuses, reason string }{
		{`"parallel":1`, "1 done, 2 failed", "batch 2 of 4 (y): no answer for a#2; 2 not started"},
		{`"parallel":2`, "1 done, 2 failed, 3 skipped", "batch 2 of 4 (y): no answer for a#2; 1 not started"},
	} {
		w := NewWorld()
		w.Items["a"] = items("x", "y", "z", "u")
		w.Before = failing(engine.ActivityGenerate, "a#2")
		r := start(t, factory, w, Setup{})
		got := r.run(each(c.parallel))
		s := got.Steps[0]
		if got.Status != engine.Failed || got.Failure.Code != failure.Provider || got.Failure.Hint == "" || s.Reason != c.reason || statuses(s) != c.statuses {
			t.Errorf("%s: got %s, %q, %s; want failed, %q, %s", c.parallel, got.Status, s.Reason, statuses(s), c.reason, c.statuses)
		}
		if w.File("w.md") != "answer to prompt of a x\n" || len(w.Marks()) != 1 {
			t.Errorf("%s: wrote %q, marked %v; want the first batch only", c.parallel, w.File("w.md"), w.Marks())
		}
		r.stop()
	}
}

func batchSkipped(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Items["a"] = items("x", "y", "z")
	w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "x", SHA256: "d"}}}
	w.Before = failing(engine.ActivityGenerate, "a#2")
	r := start(t, factory, w, Setup{})
	q := planOf(`"outputs":[{},{}],"for_each":{"on_error":"skip"},"when":[{}]`)
	got := r.run(q)
	s := got.Steps[0]
	if want := "1 of 3 batches failed, first batch 2 (y): no answer for a#2"; got.Status != engine.DoneWithOmissions || s.Reason != want ||
		got.Reason != `step "a": `+want || statuses(s) != "1 done, 2 failed, 3 done" {
		t.Errorf("got %s, %q, %q, %s", got.Status, got.Reason, s.Reason, statuses(s))
	}
	want := map[string]string{"w/a/-1/x": "digest of x", "w/a/-1/z": "digest of z"}
	if diff := cmp.Diff(want, w.Marks()); diff != "" {
		t.Errorf("marks of a step with a failed batch (-want +got):\n%s", diff)
	}
	w.Before = failing(engine.ActivityAssemble, "a#1", "a#2", "a#3")
	got = r.run(q)
	if want := "all 3 batches failed, the first one: no answer for a#1"; got.Status != engine.Failed || got.Steps[0].Reason != want {
		t.Errorf("got %s, %q; want failed, %q", got.Status, got.Steps[0].Reason, want)
	}
}

func noItems(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	if got := r.run(each("")); got.Status != engine.Skipped || got.Reason != "no items" {
		t.Errorf("no items: got %s (%s)", got.Status, got.Reason)
	}
	w.Items["a"], w.Missing["a#1"], w.Missing["a#2"] = items("x", "y"), true, true
	if got := r.run(each("")); got.Status != engine.Skipped || !strings.HasPrefix(got.Reason, "2 of 2 batches skipped: required input") {
		t.Errorf("nothing found for any item: got %s (%s)", got.Status, got.Reason)
	}
	w.Missing["a#2"] = false
	if got := r.run(each("")); got.Status != engine.Done || statuses(got.Steps[0]) != "1 skipped, 2 done" || len(w.Marks()) != 1 {
		t.Errorf("nothing found for one item: got %s (%s), marks %v", got.Status, statuses(got.Steps[0]), w.Marks())
	}
}

// retryBatch retries a run whose second batch failed, with what its neighbours had bought.
func retryBatch(t *testing.T, factory Factory) {
	for _, parallel := range []int{1, 3} {
		w := NewWorld()
		w.Items["a"] = items("x", "y", "z", "u")
		w.Before = failing(engine.ActivityCommit, "a#2")
		r := start(t, factory, w, Setup{})
		got := r.run(each(fmt.Sprintf(`"parallel":%d`, parallel)))
		wantStatus(t, got, engine.Failed)
		w.Before = nil
		if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
			t.Fatalf("Retry: %v", err)
		}
		got = r.wait(got.ID)
		wantStatus(t, got, engine.Done)
		if w.Paid() != 4 || statuses(got.Steps[0]) != "1 done, 2 done, 3 done, 4 done" {
			t.Errorf("parallel %d: %d calls, %s; want 4 calls and four batches done", parallel, w.Paid(), statuses(got.Steps[0]))
		}
		var order []string
		for line := range strings.Lines(w.File("w.md")) {
			order = append(order, strings.Fields(line)[5])
		}
		if got := strings.Join(order, " "); strings.ReplaceAll(got, ";", "") != "x y z u" {
			t.Errorf("parallel %d: w.md in order %s, want x y z u", parallel, got)
		}
		r.stop()
	}
}

// retryAllBatches retries a run of which every batch failed. What a batch reads of the ones before it has changed then.
func retryAllBatches(t *testing.T, factory Factory) {
	for _, c := range []struct {
		sets string // whether batches see what batches before them set
		paid int
	}{{`{"target":{"scheme":"variable","path":"a"}}`, 3 + 2}, {`{}`, 3}} {
		w := NewWorld()
		w.Items["a"] = items("x", "y", "z")
		w.NoVars = c.paid == 3
		w.Before = failing(engine.ActivityStage, "a#1", "a#2", "a#3")
		r := start(t, factory, w, Setup{})
		got := r.run(planOf(`"outputs":[{},` + c.sets + `],"for_each":{"on_error":"skip"}`))
		wantStatus(t, got, engine.Failed)
		w.Before = nil
		if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
			t.Fatalf("Retry: %v", err)
		}
		wantStatus(t, r.wait(got.ID), engine.Done)
		if w.Paid() != c.paid {
			t.Errorf("%d calls, want %d", w.Paid(), c.paid)
		}
		r.stop()
	}
}

func conditions(t *testing.T, factory Factory) {
	w := NewWorld()
	w.When["a"] = engine.WhenOut{Skip: true, Reason: "@when exists x.md"}
	r := start(t, factory, w, Setup{})
	q := planOf(`"outputs":[{},{}],"when":[{}]`)
	if got := r.run(q); got.Status != engine.Skipped || got.Reason != "@when exists x.md does not hold" || w.Calls(engine.ActivityResolve, "a") != 0 {
		t.Errorf("got %s (%s), %d inputs resolved", got.Status, got.Reason, w.Calls(engine.ActivityResolve, "a"))
	}
	w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "x.md", SHA256: "d"}}}
	var broken atomic.Bool
	broken.Store(true)
	w.Before = func(_ context.Context, activity, _ string) error {
		if broken.Load() && activity == engine.ActivityGenerate {
			return failure.New(failure.Provider, "", "down")
		}
		return nil
	}
	wantStatus(t, r.run(q), engine.Failed)
	if len(w.Marks()) != 0 {
		t.Errorf("a failed step marked %v", w.Marks())
	}
	broken.Store(false)
	wantStatus(t, r.run(q), engine.Done)
	if diff := cmp.Diff(map[string]string{"w/a/-2/x.md": "d"}, w.Marks()); diff != "" {
		t.Errorf("marks of `changed` (-want +got):\n%s", diff)
	}
}
