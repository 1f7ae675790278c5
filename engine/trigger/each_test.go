package trigger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// runFiles returns the files of each run that could begin, in order.
func (r *rig) runFiles() []string {
	var list []string
	for _, ask := range r.asked() {
		if ask.Refused == "" {
			list = append(list, strings.Join(ask.Trigger.Files, " "))
		}
	}
	return list
}

func (r *rig) wantFiles(want ...string) {
	r.t.Helper()
	if got := r.runFiles(); !slices.Equal(got, want) {
		r.t.Errorf("runs are about %q, want %q", got, want)
	}
}

// With runs: each a changed file starts a run of its own, and one that changes twice before its run begins is read once.
func TestEach_watch(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"In/*.md\"\nenabled: true\nruns: each\noverlap: replace")
		triggers, down := r.up()
		for _, name := range []string{"a", "b", "a", "c"} {
			r.change(triggers, "In/"+name+".md", fmt.Sprint(time.Now().UnixNano()))
			sleep(time.Millisecond)
		}
		sleep(time.Minute)
		down()
		r.wantFiles("In/b.md", "In/a.md", "In/c.md")
		if r.asked()[0].Overlap != engine.OverlapQueue {
			t.Errorf("overlap %q: a run about another file would be replaced", r.asked()[0].Overlap)
		}
	})
}

// Files wait for the next day of max_runs_per_day, also through restarts. The reason is stored once.
func TestWaiting_nextDay(t *testing.T) {
	t.Parallel()
	bubble(t, epoch.Add(15*time.Hour+50*time.Minute), func(t *testing.T, r *rig) {
		r.plan("notes", "on_import: true\nenabled: true\nmax_runs_per_day: 3")
		triggers, down := r.up()
		for i := range 5 {
			r.imported(triggers, fmt.Sprint("i", i), "Import/x.pdf")
			sleep(time.Millisecond)
		}
		first := []string{"Imported/i0/index.md", "Imported/i1/index.md", "Imported/i2/index.md"}
		sleep(5 * time.Minute)
		r.wantFiles(first...)
		down()
		_, down = r.up()
		sleep(time.Minute)
		r.wantFiles(first...)
		sleep(5 * time.Minute)
		down()
		r.wantFiles(append(first, "Imported/i3/index.md", "Imported/i4/index.md")...)
		if refused := r.refused(); len(refused) != 1 || !strings.Contains(refused[0], "3 runs today; its files wait") {
			t.Errorf("refused: %q", refused)
		}
	})
}

// With runs: together files wait too, and go to one run on the next day, each once: also those that change while they wait, and those
// that changed before a restart.
func TestWaiting_together(t *testing.T) {
	t.Parallel()
	bubble(t, epoch.Add(15*time.Hour+50*time.Minute), func(t *testing.T, r *rig) {
		r.plan("digest", "watch: \"In/*.md\"\nenabled: true\nmax_runs_per_day: 2")
		r.plan("notes", "on_import: true\nruns: together\nenabled: true\nmax_runs_per_day: 2")
		triggers, down := r.up()
		var first []string
		for i := range 2 {
			r.change(triggers, fmt.Sprintf("In/a%d.md", i), "a")
			r.imported(triggers, fmt.Sprint("a", i), "Import/x.pdf")
			first = append(first, fmt.Sprintf("In/a%d.md", i), fmt.Sprintf("Imported/a%d/index.md", i))
			sleep(time.Minute)
		}
		r.wantFiles(first...)
		r.change(triggers, "In/b.md", "b")
		r.imported(triggers, "i1", "Import/x.pdf")
		sleep(time.Minute)
		down()
		triggers, down = r.up()
		r.change(triggers, "In/c.md", "c")
		r.imported(triggers, "i2", "Import/x.pdf")
		sleep(time.Minute)
		r.change(triggers, "In/c.md", "c again")
		sleep(time.Minute)
		r.wantFiles(first...)
		sleep(10 * time.Minute)
		down()
		got, want := r.runFiles(), append(first, "In/b.md", "Imported/i1/index.md", "In/c.md", "Imported/i2/index.md")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("runs are about %q, want %q", got, want)
		}
	})
}

// A pause holds files until it ends, also when the workflow is invalid for a while on a later day.
func TestWaiting_pause(t *testing.T) {
	t.Parallel()
	for runs, want := range map[string][]string{"each": {"In/3.md", "In/4.md"}, "together": {"In/3.md In/4.md"}} {
		bubble(t, epoch, func(t *testing.T, r *rig) {
			r.plan("notes", "watch: \"In/*.md\"\nenabled: true\nruns: "+runs)
			r.set(func() { r.status = engine.Failed })
			triggers, down := r.up()
			for i := range 3 {
				r.change(triggers, fmt.Sprintf("In/%d.md", i), fmt.Sprint(i))
				sleep(time.Minute)
			}
			r.change(triggers, "In/3.md", "3")
			r.change(triggers, "In/4.md", "4")
			r.turn(30 * time.Hour)
			sleep(time.Minute)
			first := []string{"In/0.md", "In/1.md", "In/2.md"}
			r.wantFiles(first...)
			var plans []*workflow.Plan
			r.set(func() { plans, r.plans, r.status = r.plans, nil, engine.Done })
			sleep(5 * time.Minute)
			r.set(func() { r.plans = plans })
			if err := r.j.Runs.Unpause(t.Context(), "notes", time.Now()); err != nil {
				t.Fatal(err)
			}
			sleep(time.Minute)
			down()
			r.wantFiles(append(first, want...)...)
			if len(r.refused()) != 1 {
				t.Errorf("refused: %q", r.refused())
			}
		})
	}
}

// stuck is a journal that stores an import's notices, and for some minutes not that the import is announced.
type stuck struct {
	trigger.Imports
	until time.Time
}

var errStuck = errors.New("no space left")

func (s *stuck) Announced(ctx context.Context, id string) error {
	if id == "i1" && time.Now().Before(s.until) {
		return errStuck
	}
	return s.Imports.Announced(ctx, id)
}

// With runs: together imports that finish together start one run, in which each is once.
func TestTogether_imports(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][]string{
		"runs: together": {"Imported/i0/index.md Imported/i1/index.md Imported/i2/index.md"},
		"runs: each":     {"Imported/i0/index.md", "Imported/i1/index.md", "Imported/i2/index.md"},
	} {
		bubble(t, epoch, func(t *testing.T, r *rig) {
			r.plan("notes", "on_import: true\nenabled: true\ncatch_up: none\n"+name)
			r.imports = &stuck{r.j.Imports, time.Now().Add(5 * time.Minute)}
			triggers, down := r.up()
			for i := range 3 {
				r.imported(triggers, fmt.Sprint("i", i), "Import/x.pdf")
			}
			sleep(2 * time.Minute)
			down() // and the process dies meanwhile
			_, down = r.up()
			sleep(10 * time.Minute)
			down()
			r.wantFiles(runs...)
			if r.asked()[0].Trigger.Kind != engine.TriggerOnImport {
				t.Errorf("trigger %+v", r.asked()[0].Trigger)
			}
		})
	}
}

// Imports that came while nobody served are processed once, whatever catch_up says.
func TestEach_importsNeverMissed(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("notes", "on_import: true\nenabled: true\ncatch_up: none")
		triggers, down := r.up()
		down()
		r.imported(triggers, "i0", "Import/x.pdf")
		for range 2 {
			_, down := r.up()
			sleep(time.Minute)
			down()
		}
		r.wantFiles("Imported/i0/index.md")
	})
}
