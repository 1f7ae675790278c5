package enginetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// gate lets a test hold activities at their beginning.
type gate struct {
	begun chan string // the step of each held activity
	open  chan struct{}
}

// hold makes an activity of a world wait at a gate. Steps that free names pass.
func hold(w *World, activity string, free ...string) gate {
	g := gate{begun: make(chan string, 64), open: make(chan struct{})}
	w.Before = func(ctx context.Context, a, step string) error {
		for _, f := range free {
			if step == f {
				return nil
			}
		}
		if a != activity {
			return nil
		}
		g.begun <- step
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return g
}

func cancel(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityGenerate)
	r := start(t, factory, w, Setup{})
	atWork, waiting := r.begin(manual("w", "a")).Run, r.begin(manual("w", "b")).Run
	<-g.begun
	for _, run := range []string{waiting, atWork} {
		if err := r.x.Cancel(r.ctx, run); err != nil {
			t.Fatalf("Cancel: %v", err)
		}
		got := r.wait(run)
		if got.Status != engine.Cancelled || got.Failure.Code != failure.Cancelled || got.Finished.IsZero() {
			t.Errorf("got %s %+v, want cancelled", got.Status, got.Failure)
		}
		if err := r.x.Cancel(r.ctx, run); err != nil {
			t.Errorf("Cancel of a finished run: %v", err)
		}
	}
	if err := r.x.Cancel(r.ctx, "nobody"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Cancel of no run: got %v, want ErrNotFound", err)
	}
	close(g.open)
	wantStatus(t, r.run(manual("w", "c")), engine.Done)
	wantCalls(t, w, engine.ActivityResolve, "b", 0)
}

func overlap(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityGenerate)
	r := start(t, factory, w, Setup{})
	first := r.begin(scheduled("1", "", "w", "a")).Run
	<-g.begun
	skipped := r.begin(scheduled("2", engine.OverlapSkip, "w", "b"))
	if skipped.Status != engine.Skipped || skipped.Reason == "" {
		t.Errorf("skip: got %+v, want skipped with a reason", skipped)
	}
	wantStatus(t, r.wait(skipped.Run), engine.Skipped)
	q := scheduled("r", "", "another", "b")
	q.Refused = "told not to"
	for i := range 2 {
		if refused := r.begin(q); refused.Status != engine.Skipped || refused.Reason != q.Refused || refused.Created != (i == 0) {
			t.Errorf("refused: got %+v, want one run that is skipped for the reason given", refused)
		}
	}
	queued := r.begin(scheduled("3", engine.OverlapQueue, "w", "c")).Run
	byHand := r.begin(manual("w", "d")).Run
	other := r.begin(scheduled("4", "", "another", "e")).Run
	if step := <-g.begun; step != "e" {
		t.Fatalf("second run at work: got %s, want e of another workflow", step)
	}
	replacing := r.begin(scheduled("5", engine.OverlapReplace, "w", "f")).Run
	for _, run := range []string{first, queued, byHand} {
		wantStatus(t, r.wait(run), engine.Cancelled)
	}
	if step := <-g.begun; step != "f" {
		t.Fatalf("third run at work: got %s, want f", step)
	}
	close(g.open)
	wantStatus(t, r.wait(replacing), engine.Done)
	wantStatus(t, r.wait(other), engine.Done)
	wantCalls(t, w, engine.ActivityResolve, "b", 0)
	wantCalls(t, w, engine.ActivityResolve, "c", 0)
}

func importsApart(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityExtract)
	r := start(t, factory, w, Setup{MaxRuns: 1, MaxImports: 2})
	slow, copied := r.begin(imported("slow.pdf", "aa")).Run, r.begin(imported("copy.pdf", "aa")).Run
	<-g.begun
	wantStatus(t, r.run(manual("w", "a")), engine.Done)
	quick := r.begin(imported("quick.pdf", "bb")).Run
	if source := <-g.begun; source != "quick.pdf" {
		t.Fatalf("second import at work: got %s; a copy must wait for the first one, other bytes must not", source)
	}
	wantCalls(t, w, engine.ActivityClassify, "copy.pdf", 0)
	close(g.open)
	for _, run := range []string{slow, quick, copied} {
		wantStatus(t, r.wait(run), engine.Done)
	}
}

// largeImports never take the last place.
func largeImports(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityExtract)
	r := start(t, factory, w, Setup{MaxRuns: 1, MaxImports: 2})
	var runs []string
	for _, source := range []string{"first.pdf", "second.pdf", "small.txt"} {
		request := imported(source, source)
		if source != "small.txt" {
			request.Import.Size = 600 << 20
		}
		runs = append(runs, r.begin(request).Run)
	}
	if one, two := <-g.begun, <-g.begun; one != "first.pdf" && two != "first.pdf" || one != "small.txt" && two != "small.txt" {
		t.Fatalf("at work: got %s and %s, want a large import and the small one", one, two)
	}
	close(g.open)
	for _, run := range runs {
		wantStatus(t, r.wait(run), engine.Done)
	}
}

// longImports give up the last place when their pages are known, and get it back.
func longImports(t *testing.T, factory Factory) {
	w := NewWorld()
	open, letter := make(chan struct{}), make(chan struct{})
	var atWork, most atomic.Int32
	w.Before = func(ctx context.Context, activity, source string) error {
		switch {
		case activity != engine.ActivityExtract:
			return nil
		case source == "letter.pdf":
			engine.Report(ctx, engine.Event{Kind: engine.EventPage, Page: 0, Pages: 2})
			close(letter)
			return ctx.Err()
		}
		engine.Report(ctx, engine.Event{Kind: engine.EventPage, Page: 1, Pages: 300})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		most.Store(max(most.Load(), atWork.Add(1)))
		defer atWork.Add(-1)
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r := start(t, factory, w, Setup{MaxRuns: 1, MaxImports: 2})
	var runs []string
	for _, source := range []string{"first.pdf", "second.pdf", "third.pdf", "letter.pdf"} {
		runs = append(runs, r.begin(imported(source, source)).Run)
	}
	<-letter
	wantStatus(t, r.wait(runs[3]), engine.Done)
	close(open)
	for _, run := range runs {
		record := r.wait(run)
		wantStatus(t, record, engine.Done)
		if record.Resumed != 0 {
			t.Errorf("%s counts as resumed", record.Workflow)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d books were at work together, want one at a time", most.Load())
	}
}

// changedWhileImported ends an import whose file was saved again: that is no failure, the file arrives again.
func changedWhileImported(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityPublish {
			return failure.New(failure.Cancelled, "", "it was changed while it was imported")
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	wantStatus(t, r.run(imported("a.pdf", "aa")), engine.Cancelled)
}

func bounded(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityGenerate)
	r := start(t, factory, w, Setup{MaxRuns: 2})
	var runs []string
	for _, name := range []string{"u", "v", "w", "x", "y"} {
		runs = append(runs, r.begin(manual(name, "a")).Run)
	}
	<-g.begun
	<-g.begun
	close(g.open)
	for _, run := range runs {
		wantStatus(t, r.wait(run), engine.Done)
	}
	if w.Most() > 2 {
		t.Errorf("%d activities were at work together, want at most 2", w.Most())
	}
}

func retry(t *testing.T, factory Factory) {
	w := NewWorld()
	var broken atomic.Bool
	broken.Store(true)
	w.Before = func(_ context.Context, activity, step string) error {
		if broken.Load() && (activity == engine.ActivityCommit && step == "b" || activity == engine.ActivityExtract) {
			return failure.New(failure.Vault, "", "disk full")
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	failed := r.run(manual("w", "a", "b"))
	wantStatus(t, failed, engine.Failed)
	imp := r.run(imported("q3.pdf", "ab"))
	wantStatus(t, imp, engine.Failed)
	broken.Store(false)
	for _, run := range []string{failed.ID, imp.ID} {
		if err := r.x.Retry(r.ctx, run, engine.RetryFrom{}); err != nil {
			t.Fatalf("Retry: %v", err)
		}
		wantStatus(t, r.wait(run), engine.Done)
		if err := r.x.Retry(r.ctx, run, engine.RetryFrom{}); err == nil {
			t.Error("Retry of a run that is done: got no error")
		}
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
	wantCalls(t, w, engine.ActivityGenerate, "b", 1)
	wantCalls(t, w, engine.ActivityCommit, "a", 1)
	wantCalls(t, w, engine.ActivityClassify, "q3.pdf", 2)
}

func slowSubscriber(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	slow, end := r.x.Subscribe(4)
	keen, endKeen := r.x.Subscribe(1000)
	defer endKeen()
	r.run(manual("w", "a", "b"))
	for range 4 {
		<-slow
	}
	r.run(manual("w", "c"))
	lost := 0
	for range 4 {
		if e := <-slow; e.Kind == engine.EventLost {
			lost += e.Lost
		}
	}
	if lost == 0 {
		t.Error("the slow subscriber was not told that it lost events")
	}
	end()
	end()
	finished := 0
	for len(keen) > 0 {
		if e := <-keen; e.Kind == engine.EventRun && e.Status == engine.Done {
			finished++
		}
	}
	if finished != 2 {
		t.Errorf("the keen subscriber saw %d runs finish, want 2", finished)
	}
}
