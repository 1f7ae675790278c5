package journal_test

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// listings are what people and the daemon's start ask of the journal, however long its past is.
var listings = map[string]func(b testing.TB, j *journal.Journal) error{
	"runs": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.List(b.Context(), journal.RunFilter{})
		return err
	},
	"runs of workflows": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.List(b.Context(), journal.RunFilter{Kind: engine.KindWorkflow, Limit: 500})
		return err
	},
	"runs of one workflow": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.List(b.Context(), journal.RunFilter{Kind: engine.KindWorkflow, Workflow: "area/workflow 000"})
		return err
	},
	"runs with a status": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.List(b.Context(), journal.RunFilter{Kind: engine.KindWorkflow, Status: engine.Failed})
		return err
	},
	"runs of one workflow with a status": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.List(b.Context(), journal.RunFilter{Kind: engine.KindWorkflow, Workflow: "area/workflow 000", Status: engine.Cancelled, Before: epoch})
		return err
	},
	"a run": func(b testing.TB, j *journal.Journal) error {
		if _, err := j.Runs.Run(b.Context(), "2025"); err != nil && !strings.Contains(err.Error(), "is ambiguous") && !strings.Contains(err.Error(), "not found") {
			return err
		}
		runs, err := j.Runs.List(b.Context(), journal.RunFilter{Limit: 1})
		if err == nil && len(runs) > 0 {
			_, err = j.Runs.Run(b.Context(), runs[0].ID)
		}
		return err
	},
	"failures": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.Failures(b.Context(), "area/workflow 007", 3)
		return err
	},
	"unsettled": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.Unsettled(b.Context(), "area/workflow 007", epoch.Add(-day))
		return err
	},
	"runs today": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Runs.Count(b.Context(), "area/workflow 007", epoch.Add(-day))
		return err
	},
	"imports": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Imports.List(b.Context(), journal.ImportFilter{})
		return err
	},
	"imports waiting": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Imports.List(b.Context(), journal.ImportFilter{Waiting: true})
		return err
	},
	"imports in a state": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Imports.List(b.Context(), journal.ImportFilter{State: engine.ImportFailed})
		return err
	},
	"slots": func(b testing.TB, j *journal.Journal) error { _, err := j.Slots.List(b.Context(), "", 0); return err },
	"slots of one": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Slots.List(b.Context(), "area/workflow 000", 0)
		return err
	},
	"events": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Events.List(b.Context(), "", 17, 0)
		return err
	},
	"events of one": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Events.List(b.Context(), "20250101", 17, 0)
		return err
	},
	"own write": func(b testing.TB, j *journal.Journal) error {
		_, err := j.Memory.OwnWrite(b.Context(), "w", "a.md", "ab")
		return err
	},
	"start": func(b testing.TB, j *journal.Journal) error {
		if _, err := j.Runs.Unfinished(b.Context()); err != nil {
			return err
		}
		if _, err := j.Slots.Due(b.Context()); err != nil {
			return err
		}
		if _, err := j.Imports.Unannounced(b.Context()); err != nil {
			return err
		}
		return j.Imports.Gone(b.Context(), "")
	},
}

// Each list is read by an index that gives its order, so that it takes as long in ten years as today.
func TestLists_byIndex(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	if err := j.Fill(t.Context(), journal.Filling{Runs: 20, Workflows: 2, Start: epoch.Add(-day), Every: time.Hour}); err != nil {
		t.Fatal(err)
	}
	queries := j.Listen()
	for name, list := range listings {
		if err := list(t, j); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	all := queries.All()
	if len(all) < len(listings) {
		t.Fatalf("%d queries were heard of %d lists", len(all), len(listings))
	}
	for _, q := range all {
		plan := planOf(t, j, q)
		for _, column := range []string{"workflow", "run", "id"} {
			if strings.Contains(q.Text, " "+column+" = ?") && !strings.Contains(strings.Join(plan, "\n"), column+"=?") {
				t.Errorf("the index does not tell by %s: %v\n%s", column, plan, q.Text)
			}
		}
		for _, step := range plan {
			switch {
			case strings.HasPrefix(step, "SCAN ") && !partial.MatchString(step) && (strings.Contains(q.Text, "WHERE") || !strings.Contains(step, "USING INDEX")):
				t.Errorf("all rows are read: %s\n%s", step, q.Text)
			case strings.Contains(step, "TEMP B-TREE") && !strings.Contains(step, "LAST TERM") && !strings.Contains(q.Text, "finished = 0"): // what has the same time, and few rows, may be
				t.Errorf("rows are sorted: %s\n%s", step, q.Text)
			}
		}
	}
}

// partial are indexes that hold few rows, and what is no row at all.
var partial = regexp.MustCompile(`INDEX (imports_waiting|imports_new|runs_unfinished|slots_due)\b|CONSTANT ROW|SCAN s VIRTUAL TABLE`)

func planOf(t *testing.T, j *journal.Journal, q journal.Query) (steps []string) {
	t.Helper()
	rows, err := j.DB().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q.Text, q.Args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, q.Text)
	}
	defer rows.Close()
	for rows.Next() {
		var a, b, c int
		var step string
		if err := rows.Scan(&a, &b, &c, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}

// The figures of the acceptance: start-up under a second, a list under 50 ms.
func BenchmarkLists_100000Runs(b *testing.B) {
	dir := b.TempDir()
	j, err := journal.Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Fill(b.Context(), journal.Filling{Runs: 100_000, Workflows: 200, Start: epoch.Add(-90 * day), Every: 90 * day / 100_000}); err != nil {
		b.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if j, err = journal.Open(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
			if err := listings["start"](b, j); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	if j, err = journal.Open(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	for name, list := range listings {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if err := list(b, j); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("sweep", func(b *testing.B) {
		for b.Loop() {
			now := epoch
			if _, err := j.Sweep(b.Context(), journal.Retention{Runs: 90 * day, PerWorkflow: 500, Contents: 30 * day}, now); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A journal that is swept is as large after a year as after some months.
func TestSweep_sizeIsBounded(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	// A year in which a day has two runs, and a month of retention; in the long tier, sixty runs a day.
	perDay, few := 2, journal.Retention{Runs: 30 * day, PerWorkflow: 20, Contents: 10 * day}
	if longTier() {
		perDay = 60
	}
	var sizes []int64
	for d := 0; d < 365; d += 5 {
		start := epoch.Add(time.Duration(d) * day)
		f := journal.Filling{Runs: 5 * perDay, Workflows: 5, First: d * perDay, Start: start, Every: day / time.Duration(perDay), Blobs: true}
		if err := j.Fill(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		sweep(t, j, few, start.Add(5*day))
		if d%73 >= 68 {
			health, err := j.Health(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, health.Database+health.Blobs)
		}
	}
	t.Logf("sizes after each fifth of the year: %v bytes", sizes)
	if last, second := sizes[4], sizes[1]; last > second+second/20 {
		t.Errorf("%d bytes at the end of the year, %d in its first half", last, second)
	}
}

// longTier tells whether tests that take minutes run in full.
func longTier() bool { return os.Getenv("VAULTFLOW_LONG") != "" }

func TestCounts(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	past(t, j, "yesterday", 1, nil)
	past(t, j, "done", 0, nil)
	past(t, j, "failed1", 0, func(e *engine.Entry) { e.Run.Status = engine.Failed })
	past(t, j, "failed2", 0, func(e *engine.Entry) { e.Run.Status = engine.Failed })
	past(t, j, "import", 0, func(e *engine.Entry) { e.Run.Kind = engine.KindImport })
	got, err := j.Runs.Counts(t.Context(), epoch.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(got, func(_ engine.Status, n int) bool { return n == 0 })
	if diff := cmp.Diff(map[engine.Status]int{engine.Done: 1, engine.Failed: 2}, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
