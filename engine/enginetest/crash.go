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
	return killWith(t, factory, w, dir, q, NewMortal(at, kept))
}

func killWith(t *testing.T, factory Factory, w *World, dir string, q engine.Request, m *Mortal) (string, bool) {
	t.Helper()
	r := start(t, factory, w, Setup{Dir: dir, Wrap: m.Over})
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

// killedEverywhere kills runs at each append, before and after it is on disk, and wants the same vault, marks and kept
// answers as without. No answer is bought twice, except those whose outcome never reached the disk.
func killedEverywhere(t *testing.T, factory Factory) {
	talk := func(w *World) {
		w.Talk["a"] = []engine.GenerateOut{w.calling("look"), w.says("sorry"), w.says("{}")}
		w.Items["a"] = items("x", "y")
	}
	three := func(w *World) { w.Items["a"] = items("x", "y", "z") }
	when := func(w *World) {
		three(w)
		w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m", SHA256: "d"}}}
	}
	for _, c := range []struct {
		name    string
		world   func(*World)
		request engine.Request
		appends int
	}{
		{"two steps", func(*World) {}, manual("w", "a", "b"), 2 * 5},
		{"items, conditions, cache", when, planOf(plain + `,"when":[{}],"cache":{"until":"forever"},"for_each":{"on_error":"skip"}`), 2 + 3*5 + 1},
		{"beside each other", three, planOf(plain + `,"for_each":{"parallel":3}`), 1 + 3*5},
		{"tools and repairs", talk, planOf(plain + `,"schema":{"inline":{},"retries":1},"for_each":{"parallel":2}`), 1 + 2*(2+3+1+2+2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			undisturbed := NewWorld()
			c.world(undisturbed)
			whole := start(t, factory, undisturbed, Setup{}).run(c.request)
			wantStatus(t, whole, engine.Done)
			undisturbed.origins = whole.Steps[0].Origins
			for _, kept := range []bool{true, false} {
				for at := 1; at <= c.appends; at++ {
					w := NewWorld()
					c.world(w)
					comeBack(t, factory, w, undisturbed, c.request, NewMortal(at, kept))
				}
			}
			w := NewWorld()
			c.world(w)
			if _, died := kill(t, factory, w, t.TempDir(), c.request, c.appends+1, true); died {
				t.Errorf("the run has more than %d appends", c.appends)
			}
		})
	}
}

// comeBack lets a run die and another executor finish it.
func comeBack(t *testing.T, factory Factory, w, undisturbed *World, q engine.Request, m *Mortal) {
	t.Helper()
	dir := t.TempDir()
	run, died := killWith(t, factory, w, dir, q, m)
	if !died {
		t.Fatalf("append %d: the run has fewer appends", m.at)
	}
	r := start(t, factory, w, Setup{Dir: dir})
	defer r.stop()
	if n, err := r.x.Resume(r.ctx); n != 1 || err != nil {
		t.Fatalf("append %d: Resume: %d, %v; want 1 run", m.at, n, err)
	}
	got := r.wait(run)
	wantStatus(t, got, engine.Done)
	for what, pair := range map[string][2]any{
		"vault": {undisturbed.Files(), w.Files()}, "marks": {undisturbed.Marks(), w.Marks()}, "kept answers": {undisturbed.Cache(), w.Cache()},
		"origins": {undisturbed.origins, got.Steps[0].Origins},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("killed at append %d, on disk %v: %s (-undisturbed +resumed):\n%s", m.at, m.kept, what, diff)
		}
	}
	if want := undisturbed.Paid() + m.Lost(); w.Paid() != want || m.kept && m.at > 0 && m.Lost() > 2 {
		t.Errorf("killed at append %d, on disk %v: %d model calls, want %d", m.at, m.kept, w.Paid(), want)
	}
	if tokens := got.Usage.InputTokens; tokens != undisturbed.Paid()*10 || got.Resumed != 1 {
		t.Errorf("killed at append %d: %d tokens, resumed %d times; want %d, once", m.at, tokens, got.Resumed, undisturbed.Paid()*10)
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
