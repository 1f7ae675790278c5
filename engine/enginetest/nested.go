package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// StartsAt tells the world which executor its tools start runs at.
func (w *World) StartsAt(x engine.Executor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exec = x
}

// NestedRuns are the ids of the runs that tools have started, each once.
func (w *World) NestedRuns() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.nested))
}

func (a activities) useToolsOrRun(ctx context.Context, in engine.UseToolsIn) (out engine.UseToolsOut, err error) {
	leave, err := a.w.enter(ctx, engine.ActivityUseTools, work(in.StepRef))
	if err != nil {
		return out, err
	}
	defer leave()
	out = a.useTools(in)
	q, nests := a.w.Nested[in.Step]
	if !nests {
		return out, nil
	}
	a.w.mu.Lock()
	x := a.w.exec
	a.w.mu.Unlock()
	q.Key, q.Trigger = fmt.Sprintf("tool:%s/%d", in.Run, in.Round), engine.Trigger{Kind: engine.TriggerTool, Parent: in.Run}
	started, err := x.Start(ctx, q)
	if err != nil {
		return out, err
	}
	a.w.mu.Lock()
	a.w.nested[started.Run] = true
	a.w.mu.Unlock()
	run, err := x.Wait(ctx, started.Run)
	if err != nil {
		return out, err
	}
	return engine.UseToolsOut{
		Reply: a.w.put(fmt.Sprintf("%s: %s", run.Status, run.Reason)), NestedUSD: run.Usage.CostUSD, NestedFiles: []string{run.Workflow + ".md"},
	}, nil
}

// parenting is a world in which the step a of the workflow w runs the workflow child, with its step c.
func parenting() *World {
	w := NewWorld()
	w.Talk["a"] = []engine.GenerateOut{w.calling("run it"), w.says("end")}
	w.Nested["a"] = manual("child", "c")
	return w
}

// child is the only run that the world's tools have started.
func (r *rig) child() engine.RunRecord {
	r.t.Helper()
	ids := r.world.NestedRuns()
	if len(ids) != 1 {
		r.t.Fatalf("runs that were started by tools: %v, want one", ids)
	}
	return r.wait(ids[0])
}

// nestedRun has one place for all runs.
func nestedRun(t *testing.T, factory Factory) {
	w := parenting()
	q := w.Nested["a"]
	q.Origins = []string{"web https://example.org"}
	q.Vars = map[string]string{"topic": "tea"}
	w.Nested["a"] = q
	w.put("tea") // the journal's blob has the same digest
	r := start(t, factory, w, Setup{MaxRuns: 1})
	got := r.run(manual("w", "a", "b"))
	wantStatus(t, got, engine.Done)
	child := r.child()
	wantStatus(t, child, engine.Done)
	if child.Trigger.Kind != engine.TriggerTool || child.Trigger.Parent != got.ID {
		t.Errorf("trigger of the nested run: %+v", child.Trigger)
	}
	if diff := cmp.Diff(q.Origins, child.Steps[0].Origins); diff != "" {
		t.Errorf("origins of its step (-handed on +got):\n%s", diff)
	}
	if text := w.File("child.md"); !strings.Contains(text, "topic: tea") {
		t.Errorf("the variable did not reach it: %q", text)
	}
	if s := got.Steps[0]; w.blob(s.Turns[0].Reply) != "done: " || s.NestedUSD != 0.25 || s.Usage.CostUSD != 0.5 || got.Usage.CostUSD != 0.75 {
		t.Errorf("the step was told %q; costs %v nested, %v own, %v of the run", w.blob(s.Turns[0].Reply), s.NestedUSD, s.Usage.CostUSD, got.Usage.CostUSD)
	}
}

// nestedFails lets the child fail, and lets a person cancel it: both are results for the parent.
func nestedFails(t *testing.T, factory Factory) {
	w := parenting()
	w.Answers["c"] = engine.GenerateOut{Stop: engine.StopRefusal}
	r := start(t, factory, w, Setup{MaxRuns: 1})
	got := r.run(manual("w", "a"))
	wantStatus(t, got, engine.Done)
	wantStatus(t, r.child(), engine.Refused)
	if said := w.blob(got.Steps[0].Turns[0].Reply); !strings.HasPrefix(said, "refused: ") {
		t.Errorf("the model was told %q", said)
	}

	w.nested = map[string]bool{}
	g := hold(w, engine.ActivityGenerate, "a")
	parent := r.begin(manual("w", "a")).Run
	<-g.begun
	if err := r.x.Cancel(r.ctx, w.NestedRuns()[0]); err != nil {
		t.Fatal(err)
	}
	got = r.wait(parent)
	wantStatus(t, got, engine.Done)
	wantStatus(t, r.child(), engine.Cancelled)
	if said := w.blob(got.Steps[0].Turns[0].Reply); !strings.HasPrefix(said, "cancelled: ") {
		t.Errorf("the model was told %q", said)
	}
}

// nestedEnds cancels the parent while its child is at work, and when an earlier process has left both.
func nestedEnds(t *testing.T, factory Factory) {
	w := parenting()
	g := hold(w, engine.ActivityGenerate, "a")
	dir := t.TempDir()
	r := start(t, factory, w, Setup{Dir: dir, MaxRuns: 1})
	parent := r.begin(manual("w", "a")).Run
	<-g.begun
	if err := r.x.Cancel(r.ctx, parent); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, r.wait(parent), engine.Cancelled)
	wantStatus(t, r.child(), engine.Cancelled)

	w.nested = map[string]bool{}
	parent = r.begin(manual("w", "a")).Run
	<-g.begun
	r.stop()
	r = start(t, factory, w, Setup{Dir: dir, MaxRuns: 1})
	if err := r.x.Cancel(r.ctx, parent); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, r.wait(parent), engine.Cancelled)
	wantStatus(t, r.child(), engine.Cancelled)
	if w.File("child.md") != "" {
		t.Errorf("a cancelled run has written %q", w.File("child.md"))
	}
}

func nestedBusy(t *testing.T, factory Factory) {
	w := parenting()
	g := hold(w, engine.ActivityGenerate, "a")
	r := start(t, factory, w, Setup{})
	other := r.begin(manual("child", "x")).Run
	<-g.begun
	got := r.run(manual("w", "a"))
	wantStatus(t, got, engine.Done)
	if said := w.blob(got.Steps[0].Turns[0].Reply); !strings.HasPrefix(said, "skipped: run "+other) {
		t.Errorf("the model was told %q, want that %s is at work", said, other)
	}
	if child := r.child(); !child.Started.IsZero() {
		t.Errorf("the refused run was begun: %+v", child)
	}
	close(g.open)
	wantStatus(t, r.wait(other), engine.Done)
}

// nestedInterrupted lets the journal fail once, in the middle of the child: both are resumed, and nothing is lost.
func nestedInterrupted(t *testing.T, factory Factory) {
	w := parenting()
	dir := t.TempDir()
	s := &stumbling{of: "child"}
	r := start(t, factory, w, Setup{Dir: dir, Wrap: s.over})
	parent := r.begin(manual("w", "a")).Run
	if got, err := r.x.Wait(r.ctx, parent); !engine.Stopped(err) {
		t.Fatalf("the parent ended as %s (%s), %v; want it interrupted", got.Status, got.Reason, err)
	}
	r.stop()
	r = start(t, factory, w, Setup{Dir: dir})
	if n, err := r.x.Resume(r.ctx); n != 2 || err != nil {
		t.Fatalf("Resume: %d, %v; want 2 runs", n, err)
	}
	wantStatus(t, r.wait(parent), engine.Done)
	wantStatus(t, r.child(), engine.Done)
}

// stumbling is a journal that fails once, at the second append of a workflow's run.
type stumbling struct {
	engine.Journal
	of string

	mu      sync.Mutex // guards what follows
	appends int
}

func (s *stumbling) over(j engine.Journal) engine.Journal {
	s.Journal = j
	return s
}

// Append stores an outcome, but for one.
func (s *stumbling) Append(ctx context.Context, r engine.Record, e engine.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Run.Workflow == s.of {
		if s.appends++; s.appends == 2 {
			return errors.New("disk full")
		}
	}
	return s.Journal.Append(ctx, r, e)
}

// nestedKilled kills the executor at each append of a run and of the one that it started, and just before those of the
// nested run's answer, of its writes, and of its end in the run that waits. In the end there is one nested run, and
// everything is as without.
func nestedKilled(t *testing.T, factory Factory) {
	undisturbed := parenting()
	wantStatus(t, start(t, factory, undisturbed, Setup{MaxRuns: 1}).run(manual("w", "a")), engine.Done)
	const appends = 12 // of both; the nested run has the 4th to 8th, and its end is told to the other one in the 9th
	for at := 1; at <= appends+1; at++ {
		for _, kept := range []bool{true, false} {
			if !kept && (at < 6 || at > 9) {
				continue
			}
			w := parenting()
			dir := t.TempDir()
			m := NewMortal(at, kept)
			run, died := killWith(t, factory, w, dir, manual("w", "a"), m)
			if died != (at <= appends) {
				t.Fatalf("killed at append %d: %t; want %d appends", at, died, appends)
			}
			if !died {
				continue
			}
			r := start(t, factory, w, Setup{Dir: dir, MaxRuns: 1})
			if _, err := r.x.Resume(r.ctx); err != nil {
				t.Fatal(err)
			}
			wantStatus(t, r.wait(run), engine.Done)
			wantStatus(t, r.child(), engine.Done)
			if diff := cmp.Diff(undisturbed.Files(), w.Files()); diff != "" {
				t.Errorf("killed at append %d, on disk %v (-undisturbed +resumed):\n%s", at, kept, diff)
			}
			if paid := w.Paid(); paid != 3+m.Lost() {
				t.Errorf("killed at append %d, on disk %v: %d answers paid, %d lost; want 3", at, kept, paid, m.Lost())
			}
			r.stop()
		}
	}
}
