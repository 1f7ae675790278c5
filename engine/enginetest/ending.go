package enginetest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// broad is a world and a run that has every activity: conditions, items beside each other, tools, a repair, and a step behind.
func broad() (*World, engine.Request) {
	w := NewWorld()
	w.Talk["a"] = []engine.GenerateOut{w.calling("look"), w.says("sorry"), w.says("{}")}
	w.Items["a"] = items("x", "y")
	w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m", SHA256: "d"}}}
	return w, planOf(plain + `,"when":[{}],"schema":{"inline":{},"retries":1},"for_each":{"parallel":2}},{"name":"b","outputs":[{}]`)
}

// turnstile holds the activity that begins as the at-th, counted from 1; zero none.
type turnstile struct {
	at      int
	deaf    bool          // it does not hear that its context ends
	held    chan struct{} // closed when it is held
	release chan struct{} // lets it go on
	left    chan struct{} // closed when it went on

	mu   sync.Mutex // guards seen
	seen int
}

func newTurnstile(at int, deaf bool) *turnstile {
	return &turnstile{at: at, deaf: deaf, held: make(chan struct{}), release: make(chan struct{}), left: make(chan struct{})}
}

func (g *turnstile) before(ctx context.Context, _, _ string) error {
	g.mu.Lock()
	g.seen++
	mine := g.seen == g.at
	g.mu.Unlock()
	if !mine {
		return nil
	}
	defer close(g.left)
	close(g.held)
	if g.deaf {
		<-g.release
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// same compares what a run has left with what the undisturbed one left.
func (w *World) same(t *testing.T, what string, undisturbed *World) {
	t.Helper()
	for part, pair := range map[string][2]any{"vault": {undisturbed.Files(), w.Files()}, "marks": {undisturbed.Marks(), w.Marks()}} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: %s (-undisturbed +this one):\n%s", what, part, diff)
		}
	}
}

// endedEverywhere cancels a run in each of its activities and tries it again, and shuts the executor down in each of them and
// resumes: once with an activity that hears its context end, once with one that does not and does its work when the executor
// is gone. In the end everything is as without, and nothing was paid for twice but an answer that nobody was there to store.
func endedEverywhere(t *testing.T, factory Factory) {
	undisturbed, q := broad()
	counting := newTurnstile(0, false)
	undisturbed.Before = counting.before
	wantStatus(t, start(t, factory, undisturbed, Setup{}).run(q), engine.Done)
	if counting.seen < 20 {
		t.Fatalf("the run has %d activities, want every kind", counting.seen)
	}
	for at := 1; at <= counting.seen; at++ {
		for i, how := range []string{"cancelled", "shut down", "shut down and deaf"} {
			if os.Getenv("VAULTFLOW_LONG") == "" && at%4 != i {
				continue // `make test` has each way in a quarter of the activities
			}
			t.Run(fmt.Sprintf("%s in activity %d", how, at), func(t *testing.T) {
				t.Parallel()
				w, q := broad()
				gate := newTurnstile(at, how == "shut down and deaf")
				w.Before = gate.before
				dir := t.TempDir()
				r := start(t, factory, w, Setup{Dir: dir})
				run := r.begin(q).Run
				<-gate.held
				if how == "cancelled" {
					if err := r.x.Cancel(r.ctx, run); err != nil {
						t.Fatal(err)
					}
					wantStatus(t, r.wait(run), engine.Cancelled)
					if err := r.x.Retry(r.ctx, run, engine.RetryFrom{}); err != nil {
						t.Fatalf("Retry: %v", err)
					}
				} else {
					r.stop()
					close(gate.release)
					<-gate.left
					w.idle()
					r = start(t, factory, w, Setup{Dir: dir})
					if n, err := r.x.Resume(r.ctx); n != 1 || err != nil {
						t.Fatalf("Resume: %d, %v; want 1 run", n, err)
					}
				}
				wantStatus(t, r.wait(run), engine.Done)
				w.same(t, how, undisturbed)
				lost := 0
				if gate.deaf {
					lost = 1
				}
				if paid := w.Paid(); paid < undisturbed.Paid() || paid > undisturbed.Paid()+lost {
					t.Errorf("%d answers paid, want %d", paid, undisturbed.Paid())
				}
			})
		}
	}
}
