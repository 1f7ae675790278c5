package enginetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// kill starts a run, lets the executor die at an append, and returns the run's id. It returns false when the run ended
// before that append.
func kill(t *testing.T, factory Factory, w *World, dir string, q engine.Request, at int, kept bool) (string, bool) {
	t.Helper()
	return killWith(t, factory, w, dir, q, newMortal(at, kept))
}

func killWith(t *testing.T, factory Factory, w *World, dir string, q engine.Request, m *mortal) (string, bool) {
	t.Helper()
	r := start(t, factory, w, Setup{Dir: dir, Wrap: m.over})
	run := r.begin(q).Run
	rec, err := r.x.Wait(r.ctx, run)
	r.stop()
	select {
	case <-m.died:
		if err == nil {
			t.Fatalf("append %d: the run finished as %s although the journal died", m.at, rec.Status)
		}
		return run, true
	default:
		return run, false
	}
}

// killedEverywhere kills the executor at each append, before and after it is on disk, and wants the same result as
// without: everything written once, every answer bought once. (An outcome that never reached the disk is lost; then,
// and only then, its activity is begun twice.)
func killedEverywhere(t *testing.T, factory Factory) {
	undisturbed := NewWorld()
	start(t, factory, undisturbed, Setup{}).run(manual("w", "a", "b"))
	for _, kept := range []bool{true, false} {
		for at := 1; ; at++ {
			w := NewWorld()
			dir := t.TempDir()
			run, died := kill(t, factory, w, dir, manual("w", "a", "b"), at, kept)
			if !died {
				if at != 11 {
					t.Fatalf("the run has %d appends, want 10", at-1)
				}
				break
			}
			r := start(t, factory, w, Setup{Dir: dir})
			if n, err := r.x.Resume(r.ctx); n != 1 || err != nil {
				t.Fatalf("append %d: Resume: %d, %v; want 1 run", at, n, err)
			}
			got := r.wait(run)
			wantStatus(t, got, engine.Done)
			if diff := cmp.Diff(undisturbed.Files(), w.Files()); diff != "" {
				t.Errorf("killed at append %d, on disk %v (-undisturbed +resumed):\n%s", at, kept, diff)
			}
			calls := w.Calls(engine.ActivityGenerate, "a") + w.Calls(engine.ActivityGenerate, "b")
			if lost := !kept && (at == 3 || at == 8); calls != 2 && !(lost && calls == 3) {
				t.Errorf("killed at append %d, on disk %v: %d model calls, want 2", at, kept, calls)
			}
			if got.Resumed != 1 || got.Usage.InputTokens != 20 {
				t.Errorf("killed at append %d: resumed %d times, %d tokens; want 1, 20", at, got.Resumed, got.Usage.InputTokens)
			}
			r.stop()
		}
	}
}

func importKilledEverywhere(t *testing.T, factory Factory) {
	for _, kept := range []bool{true, false} {
		for at := 1; at <= 4; at++ {
			w := NewWorld()
			dir := t.TempDir()
			run, died := kill(t, factory, w, dir, imported("q3.pdf", "ab"), at, kept)
			if !died {
				t.Fatalf("append %d: the import has fewer appends", at)
			}
			r := start(t, factory, w, Setup{Dir: dir})
			if _, err := r.x.Resume(r.ctx); err != nil {
				t.Fatal(err)
			}
			wantStatus(t, r.wait(run), engine.Done)
			if diff := cmp.Diff([]string{"Imported/q3.pdf/index.md", "Imported/q3.pdf/q3.pdf"}, w.names()); diff != "" {
				t.Errorf("killed at append %d, on disk %v (-want +got):\n%s", at, kept, diff)
			}
			if s := r.begin(imported("q3.pdf", "ab")); s.Created {
				t.Errorf("the same arrival after a restart is a new run: %+v", s)
			}
			r.stop()
		}
	}
}

// diverged resumes a run whose recorded activity had another input, as after a change of the body.
func diverged(t *testing.T, factory Factory) {
	w := NewWorld()
	dir := t.TempDir()
	run, _ := kill(t, factory, w, dir, manual("w", "a"), 2, true)
	r := start(t, factory, w, Setup{Dir: dir, Wrap: func(j engine.Journal) engine.Journal { return forger{j} }})
	if _, err := r.x.Resume(r.ctx); err != nil {
		t.Fatal(err)
	}
	got := r.wait(run)
	if got.Status != engine.Failed || got.Failure.Code != failure.Diverged || got.Failure.Hint == "" {
		t.Errorf("got %s %+v, want failed with diverged and a hint", got.Status, got.Failure)
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 0)
}

// forger returns records that the body did not make.
type forger struct{ engine.Journal }

// Load changes the digest of the second record's input.
func (f forger) Load(ctx context.Context, run string) (engine.Entry, []engine.Record, error) {
	e, records, err := f.Journal.Load(ctx, run)
	if len(records) > 1 {
		records[1].InDigest = "0000000000"
	}
	return e, records, err
}

func shutdown(t *testing.T, factory Factory) {
	w := NewWorld()
	dir := t.TempDir()
	begun := make(chan struct{}, 8)
	w.Before = func(ctx context.Context, activity, _ string) error {
		if activity != engine.ActivityCommit {
			return nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		return fmt.Errorf("write: %w", ctx.Err())
	}
	r := start(t, factory, w, Setup{Dir: dir})
	atWork, waiting := r.begin(manual("w", "a")).Run, r.begin(manual("w", "b")).Run
	<-begun
	r.stop()
	if got := w.File("w.md"); got != "" {
		t.Errorf("written although the context had ended: %q", got)
	}
	w.Before = nil
	r = start(t, factory, w, Setup{Dir: dir})
	if n, err := r.x.Resume(r.ctx); n != 2 || err != nil {
		t.Fatalf("Resume: %d, %v; want 2 runs", n, err)
	}
	wantStatus(t, r.wait(atWork), engine.Done)
	wantStatus(t, r.wait(waiting), engine.Done)
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
	if got, want := w.File("w.md"), "answer to prompt of a\nanswer to prompt of b\n"; got != want {
		t.Errorf("w.md: got %q, want %q", got, want)
	}
}
