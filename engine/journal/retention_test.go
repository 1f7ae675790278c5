package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

const day = 24 * time.Hour

var kept = journal.Retention{Runs: 90 * day, PerWorkflow: 5, Contents: 30 * day}

// Whoever makes a table says what becomes of its rows.
func TestRetention_eachTableHasARule(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	rules := journal.Rules()
	slices.Sort(rules)
	rows, err := j.DB().QueryContext(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if diff := cmp.Diff(tables, rules); diff != "" {
		t.Errorf("tables without a rule in retention.go (-) and rules without a table (+):\n%s", diff)
	}
}

// past stores a run that was made and ended so many days ago.
func past(t *testing.T, j *journal.Journal, id string, daysAgo int, change func(*engine.Entry)) {
	t.Helper()
	e := entry(id, "k:"+id, "w")
	at := epoch.Add(-time.Duration(daysAgo) * day)
	e.Run.Created, e.Run.Status = at, engine.Done
	if change != nil {
		change(&e)
	}
	status := e.Run.Status
	e.Run.Status = engine.Queued
	create(t, j, e)
	e.Run.Status = status
	if status.Finished() {
		e.Run.Finished = at
	}
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func sweep(t *testing.T, j *journal.Journal, r journal.Retention, now time.Time) journal.Swept {
	t.Helper()
	s, err := j.Sweep(t.Context(), r, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func idsOf(t *testing.T, j *journal.Journal) []string {
	t.Helper()
	runs, err := j.Runs.List(t.Context(), journal.RunFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestSweep_whichRunsStay(t *testing.T) {
	t.Parallel()
	with := func(s engine.Status) func(*engine.Entry) { return func(e *engine.Entry) { e.Run.Status = s } }
	of := func(workflow string, s engine.Status) func(*engine.Entry) {
		return func(e *engine.Entry) { e.Run.Workflow, e.Run.Status = workflow, s }
	}
	child := func(parent string) func(*engine.Entry) {
		return func(e *engine.Entry) {
			e.Run.Workflow, e.Run.Trigger = "nested", engine.Trigger{Kind: engine.TriggerTool, Parent: parent}
		}
	}
	for _, c := range []struct {
		name string
		past func(t *testing.T, j *journal.Journal)
		want string
	}{
		{"too old, but the latest", func(t *testing.T, j *journal.Journal) {
			past(t, j, "a", 400, nil)
			past(t, j, "b", 300, of("other", engine.Failed))
		}, "a b"},
		{"too old", func(t *testing.T, j *journal.Journal) {
			for i := range 5 {
				past(t, j, fmt.Sprint("old", i), 200-i, nil)
			}
			past(t, j, "young", 80, nil)
		}, "old3 old4 young"}, // three attempts decide about a pause
		{"the latest success", func(t *testing.T, j *journal.Journal) {
			past(t, j, "success", 300, nil)
			for i := range 4 {
				past(t, j, fmt.Sprint("failed", i), 200-i, with(engine.Failed))
			}
			past(t, j, "skipped", 150, with(engine.Skipped))
			past(t, j, "refused", 100, with(engine.Skipped))
		}, "failed1 failed2 failed3 refused success"},
		{"too many", func(t *testing.T, j *journal.Journal) {
			for i := range 9 {
				past(t, j, fmt.Sprint("r", i), 20-i, nil)
			}
		}, "r4 r5 r6 r7 r8"},
		{"too many in two days", func(t *testing.T, j *journal.Journal) {
			for i := range 9 {
				past(t, j, fmt.Sprint("r", i), 1, nil)
			}
		}, "r0 r1 r2 r3 r4 r5 r6 r7 r8"},
		{"not ended, or parked", func(t *testing.T, j *journal.Journal) {
			past(t, j, "running", 300, with(engine.Running))
			past(t, j, "parked", 299, with(engine.AwaitingApproval))
			for i := range 4 {
				past(t, j, fmt.Sprint("r", i), 200-i, nil)
			}
		}, "parked r1 r2 r3 running"},
		{"asked for by one that stays", func(t *testing.T, j *journal.Journal) {
			past(t, j, "parent", 300, with(engine.AwaitingApproval))
			for i := range 5 {
				past(t, j, fmt.Sprint("child", i), 300-i, child("parent"))
			}
			past(t, j, "orphan", 290, child("gone"))
			for i := range 4 {
				past(t, j, fmt.Sprint("s", i), 280-i, of("nested", engine.Skipped))
			}
			past(t, j, "late", 1, of("nested", engine.Done))
			past(t, j, "later", 1, of("nested", engine.Done))
			past(t, j, "latest", 1, of("nested", engine.Done))
		}, "child0 child1 child2 child3 child4 late later latest parent"},
		{"imports", func(t *testing.T, j *journal.Journal) {
			for _, s := range []engine.ImportState{engine.ImportDone, engine.ImportFailed, engine.ImportNeedsPassword} {
				past(t, j, "import-"+string(s), 300, func(e *engine.Entry) {
					e.Run.Kind, e.Run.Workflow = engine.KindImport, string(s)
					e.Import = &engine.ImportRecord{ID: e.Run.ID, Source: string(s), State: s, Created: e.Run.Created, Finished: e.Run.Created}
				})
			}
			list, err := j.Imports.List(t.Context(), journal.ImportFilter{})
			if err != nil || len(list) != 3 {
				t.Fatal(list, err)
			}
		}, "import-needs_password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := open(t, t.TempDir())
			c.past(t, j)
			before := len(idsOf(t, j))
			s := sweep(t, j, kept, epoch)
			if diff := cmp.Diff(strings.Fields(c.want), idsOf(t, j)); diff != "" {
				t.Errorf("runs that stay (-want +got):\n%s", diff)
			}
			if left := len(idsOf(t, j)); s.Runs != before-left {
				t.Errorf("%d runs removed, it says %d", before-left, s.Runs)
			}
			if again := sweep(t, j, kept, epoch); again.Runs+again.Rows != 0 {
				t.Errorf("a second sweep removed %+v", again)
			}
		})
	}
}

// With a run everything goes that was stored for it; what has a rule of its own follows that.
func TestSweep_otherRows(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	if err := j.Fill(t.Context(), journal.Filling{Runs: 200, Workflows: 2, Start: epoch.Add(-400 * day), Every: 2 * day}); err != nil {
		t.Fatal(err)
	}
	due := engine.SlotRecord{Workflow: "off", Slot: epoch.Add(-300 * day), State: engine.SlotDue}
	if err := j.Slots.Plan(t.Context(), "off", "spec", epoch, []engine.SlotRecord{due}); err != nil {
		t.Fatal(err)
	}
	for id, state := range map[string]engine.ImportState{"done": engine.ImportDone, "failed": engine.ImportFailed, "locked": engine.ImportNeedsPassword} {
		past(t, j, id, 300, func(e *engine.Entry) {
			e.Run.Kind, e.Run.Workflow = engine.KindImport, id
			e.Import = &engine.ImportRecord{ID: id, Source: id, State: state, Created: e.Run.Created, Finished: e.Run.Created}
		})
	}
	sweep(t, j, journal.Retention{Runs: 90 * day, PerWorkflow: 500, Contents: 30 * day}, epoch)
	count := func(q string) (n int) {
		if err := j.DB().QueryRowContext(t.Context(), q).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		q    string
		want int
	}{
		{`SELECT count(*) FROM runs WHERE kind = 'workflow'`, 46},
		{`SELECT count(DISTINCT run) FROM records`, 46},
		{`SELECT count(DISTINCT run) FROM events`, 46},
		{`SELECT count(DISTINCT run) FROM changes`, 46},
		{`SELECT count(*) FROM slots`, 47}, // with the one that is due
		{`SELECT count(*) FROM imports`, 2},
	} {
		if got := count(c.q); got < c.want-1 || got > c.want {
			t.Errorf("%s: %d, want %d", c.q, got, c.want)
		}
	}
}

// The bound of a workflow's slots leaves those that a clock which was set back may ask for again.
func TestSweep_slotsByNumber(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for workflow, every := range map[string]time.Duration{"minutes": time.Minute, "seconds": time.Second} {
		if _, err := j.DB().ExecContext(t.Context(), `INSERT INTO slots (workflow, slot, schedule, state, reason, run, count, zone)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24999) SELECT ?, ? - i * ?, '', 'ran', '', '', 1, 'UTC' FROM n`,
			workflow, epoch.UnixMicro(), every.Microseconds()); err != nil {
			t.Fatal(err)
		}
	}
	if s := sweep(t, j, kept, epoch); s.Rows != 5_000 {
		t.Errorf("%d slots removed, want the oldest 5000 minutes", s.Rows)
	}
}
