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

// Files of a workflow with runs: each wait for the next day of max_runs_per_day, also through restarts. The reason is stored once.
func TestEach_waitsForTheNextDay(t *testing.T) {
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

// A pause holds the files of a workflow with runs: each until it ends.
func TestEach_waitsForThePause(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("notes", "watch: \"In/*.md\"\nenabled: true\nruns: each")
		r.set(func() { r.status = engine.Failed })
		triggers, down := r.up()
		for i := range 5 {
			r.change(triggers, fmt.Sprintf("In/%d.md", i), fmt.Sprint(i))
		}
		sleep(5 * time.Minute)
		r.wantFiles("In/0.md", "In/1.md", "In/2.md")
		r.set(func() { r.status = engine.Done })
		if err := r.j.Runs.Unpause(t.Context(), "notes", time.Now()); err != nil {
			t.Fatal(err)
		}
		sleep(time.Minute)
		down()
		r.wantFiles("In/0.md", "In/1.md", "In/2.md", "In/3.md", "In/4.md")
		if len(r.refused()) != 1 {
			t.Errorf("refused: %q", r.refused())
		}
	})
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
