package enginetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// everythingKilled kills runs that use the whole language at each append, before and after it is on disk, and wants the
// same vault, marks and kept answers as without, and no answer bought twice: only those whose outcome never reached the
// disk are asked for again.
func everythingKilled(t *testing.T, factory Factory) {
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
		name       string
		world      func(*World)
		properties string
		appends    int
	}{
		{"items, conditions, cache", when, plain + `,"when":[{}],"cache":{"until":"forever"},"for_each":{"on_error":"skip"}`, 2 + 3*5 + 1},
		{"beside each other", three, plain + `,"for_each":{"parallel":3}`, 1 + 3*5},
		{"tools and repairs", talk, plain + `,"schema":{"inline":{},"retries":1},"for_each":{"parallel":2}`, 1 + 2*(2+3+1+2+2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			undisturbed := NewWorld()
			c.world(undisturbed)
			whole := start(t, factory, undisturbed, Setup{}).run(planOf(c.properties))
			wantStatus(t, whole, engine.Done)
			undisturbed.origins = whole.Steps[0].Origins
			for _, kept := range []bool{true, false} {
				for at := 1; at <= c.appends; at++ {
					w := NewWorld()
					c.world(w)
					comeBack(t, factory, w, undisturbed, planOf(c.properties), newMortal(at, kept))
				}
			}
			w := NewWorld()
			c.world(w)
			if _, died := kill(t, factory, w, t.TempDir(), planOf(c.properties), c.appends+1, true); died {
				t.Errorf("the run has more than %d appends", c.appends)
			}
		})
	}
}

// comeBack lets a run die and another executor finish it.
func comeBack(t *testing.T, factory Factory, w, undisturbed *World, q engine.Request, m *mortal) {
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
	if tokens := got.Usage.InputTokens; tokens != undisturbed.Paid()*10 {
		t.Errorf("killed at append %d: %d tokens in the record, want %d", m.at, tokens, undisturbed.Paid()*10)
	}
}
