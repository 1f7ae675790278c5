package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// timeouts ends runs that take longer than they may, by the request and by @timeout of a step. What was bought before stays,
// so that a retry goes on behind it.
func timeouts(t *testing.T, factory Factory) {
	byStep := planOf(plain + `,"timeout":{"for":2000000000}`)
	byRun := manual("v", "a")
	byRun.Timeout = 2 * time.Second // enough for what comes before, on a busy machine too
	for name, q := range map[string]engine.Request{"of the step": byStep, "of the run": byRun} {
		w := NewWorld()
		g := hold(w, engine.ActivityCommit)
		r := start(t, factory, w, Setup{})
		got := r.run(q)
		if got.Status != engine.Failed || got.Failure == nil || got.Failure.Code != failure.Timeout || got.Failure.Hint == "" {
			t.Errorf("%s: got %s %+v, want failed by a timeout, with a hint", name, got.Status, got.Failure)
		}
		if files := w.Files(); len(files) != 0 {
			t.Errorf("%s: written although the time was over: %v", name, files)
		}
		close(g.open)
		if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
			t.Fatalf("%s: Retry: %v", name, err)
		}
		wantStatus(t, r.wait(got.ID), engine.Done)
		wantCalls(t, w, engine.ActivityGenerate, "a", 1)
		r.stop()
	}
}

// waits asks for runs that nobody knows, gives up waiting, and starts what makes no sense.
func waits(t *testing.T, factory Factory) {
	w := NewWorld()
	g := hold(w, engine.ActivityGenerate)
	r := start(t, factory, w, Setup{})
	if _, err := r.x.Wait(r.ctx, "nobody"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Wait for no run: got %v, want ErrNotFound", err)
	}
	run := r.begin(manual("w", "a")).Run
	<-g.begun
	impatient, end := context.WithCancel(r.ctx)
	end()
	if _, err := r.x.Wait(impatient, run); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait that is given up: got %v, want the context's error", err)
	}
	for name, q := range map[string]engine.Request{
		"no kind": {Subject: "w"}, "no plan": {Kind: engine.KindWorkflow, Subject: "w"}, "an import of nothing": {Kind: engine.KindImport, Subject: "a"},
		"a step that is not there": {Kind: engine.KindWorkflow, Subject: "w", Plan: plan("w", "a"), Steps: []string{"b"}},
	} {
		if s, err := r.x.Start(r.ctx, q); err == nil {
			t.Errorf("Start with %s: got the run %+v, want an error", name, s)
		}
	}
	close(g.open)
	wantStatus(t, r.wait(run), engine.Done)
}
