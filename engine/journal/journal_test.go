package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure"
)

var (
	_ trigger.Slots      = (*journal.Slots)(nil)
	_ trigger.Watches    = (*journal.Watches)(nil)
	_ trigger.History    = (*journal.Runs)(nil)
	_ trigger.Writers    = (*journal.Memory)(nil)
	_ trigger.Imports    = (*journal.Imports)(nil)
	_ approval.Proposals = (*journal.Approvals)(nil)
	_ approval.Blobs     = (*journal.Blobs)(nil)
)

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func entry(id, key, workflow string) engine.Entry {
	return engine.Entry{
		Lane: "workflow:" + workflow, Spec: json.RawMessage(`{}`),
		Run: engine.RunRecord{ID: id, Kind: engine.KindWorkflow, Workflow: workflow, Key: key, Status: engine.Queued, Created: epoch, At: epoch, Trigger: engine.Trigger{Kind: engine.TriggerCron}},
	}
}

func create(t *testing.T, j *journal.Journal, e engine.Entry) {
	t.Helper()
	if _, created, err := j.Runs.Create(t.Context(), e, false); err != nil || !created {
		t.Fatalf("Create(%s): %v, %v", e.Run.ID, created, err)
	}
}

func TestAppend_keepsOutcomesInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	e := entry("r1", "k1", "w")
	create(t, j, e)
	first := engine.Record{
		Activity: engine.ActivityGenerate, InDigest: "d", In: json.RawMessage(`{"workflow":"w","step":"a"}`),
		Out: json.RawMessage(`{"stop":"end","usage":{"input_tokens":3,"cost_usd":0.5}}`), Attempts: 1, Started: epoch, Finished: epoch.Add(time.Second),
	}
	e.Run.Status, e.Run.Outputs = engine.Running, []engine.Output{}
	if err := j.Runs.Append(t.Context(), first, e); err != nil {
		t.Fatal(err)
	}
	if err := j.Runs.Append(t.Context(), first, e); err == nil {
		t.Error("the same place was taken twice")
	}
	second := engine.Record{Seq: 1, Activity: engine.ActivityStage, In: json.RawMessage(`{}`), Failure: failure.New(failure.Vault, "h", "m"), Attempts: 3, Started: epoch, Finished: epoch}
	if err := j.Runs.Append(t.Context(), second, e); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	got, records, err := j.Runs.Load(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]engine.Record{first, second}, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if _, _, err := j.Runs.Load(t.Context(), "r2"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load of no run: %v, want ErrNotFound", err)
	}
}

func TestSave_finishedStays(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := entry("r1", "k1", "w")
	create(t, j, e)
	e.Run.Status, e.Run.Finished = engine.Done, epoch
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if left, err := j.Runs.Unfinished(t.Context()); len(left) != 0 || err != nil {
		t.Errorf("Unfinished: %v, %v", left, err)
	}
	e.Run.Status = engine.Failed
	if err := j.Runs.Save(t.Context(), e); err == nil {
		t.Error("a finished run was changed")
	}
	e.Run.Status, e.Run.Finished = engine.Queued, time.Time{}
	if err := j.Runs.Reopen(t.Context(), e, []engine.Cut{{}}); err != nil {
		t.Fatal(err)
	}
	if left, err := j.Runs.Unfinished(t.Context()); len(left) != 1 || err != nil {
		t.Errorf("Unfinished after Reopen: %v, %v", left, err)
	}
}

func TestRun_byBeginning(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, id := range []string{"20261121-1", "20261121-12", "20261122-1"} {
		create(t, j, entry(id, id, "w"))
	}
	for _, c := range []struct{ ask, want string }{{"20261122", "20261122-1"}, {"20261121-1", "20261121-1"}, {"20261121", ""}, {"2026_", ""}, {"", ""}} {
		got, err := j.Runs.Run(t.Context(), c.ask)
		if got.ID != c.want && (err == nil || c.want != "") {
			t.Errorf("Run(%q): got %q, %v; want %q", c.ask, got.ID, err, c.want)
		}
	}
	list, err := j.Runs.List(t.Context(), journal.RunFilter{Workflow: "w", Limit: 2})
	if err != nil || len(list) != 2 || list[0].ID != "20261122-1" {
		t.Errorf("Runs: %v, %v; want the newest two", list, err)
	}
}

func TestFailures_inARow(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	n := 0
	ended := func(s engine.Status) {
		n++
		e := entry(fmt.Sprintf("r%d", n), fmt.Sprintf("k%d", n), "w")
		create(t, j, e)
		e.Run.Status, e.Run.Finished = s, epoch.Add(time.Duration(n)*time.Minute)
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	want := func(count int) {
		t.Helper()
		if got, err := j.Runs.Failures(t.Context(), "w", 3); len(got) != count || err != nil {
			t.Errorf("after %d runs: %d failures in a row, %v; want %d", n, len(got), err, count)
		}
	}
	ended(engine.Truncated)
	ended(engine.Done)
	ended(engine.Failed)
	ended(engine.Skipped)
	ended(engine.Failed)
	want(2)
	ended(engine.Failed)
	want(3)
	if err := j.Runs.Unpause(t.Context(), "w", epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want(0)
	if got, err := j.Runs.Count(t.Context(), "w", epoch); got != 5 || err != nil {
		t.Errorf("Count: %d, %v; want 5 runs that were not skipped", got, err)
	}
}

func TestDone_pending(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	ref := engine.StepRef{Run: "r", Workflow: "w", Step: "s"}
	key := directives.PendingKey{Workflow: "w", Step: "s", Directive: 1}
	files := []engine.StagedFile{{Name: "a.md", New: "written"}, {Name: "new.md", New: "written"}}
	if err := j.Memory.Writing(t.Context(), ref, files); err != nil {
		t.Fatal(err)
	}
	marks := []engine.Mark{{Directive: 1, Name: "a.md", SHA256: "seen"}}
	if err := j.Memory.Committed(t.Context(), ref, marks, []engine.Var{{Name: "v", Digest: "d1", Origins: []string{"web a", "mcp b.c"}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, digest string
		key          directives.PendingKey
		want         bool
	}{
		{"a.md", "seen", key, true},
		{"a.md", "edited", key, false},
		{"a.md", "written", key, true}, // by the workflow itself
		{"new.md", "written", key, false},
		{"a.md", "seen", directives.PendingKey{Workflow: "w", Step: "s", Directive: 0}, false},
		{"a.md", "written", directives.PendingKey{Workflow: "other", Step: "s", Directive: 1}, false},
	} {
		if got, err := j.Memory.Done(t.Context(), c.key, c.name, c.digest); got != c.want || err != nil {
			t.Errorf("Done(%v, %s, %s): %v, %v; want %v", c.key, c.name, c.digest, got, err, c.want)
		}
	}
	if err := j.Memory.Committed(t.Context(), ref, []engine.Mark{{Directive: 1, Name: "a.md", SHA256: "edited"}}, []engine.Var{{Name: "v", Digest: "d2", Origins: []string{"web a", "web d"}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Memory.Done(t.Context(), key, "a.md", "edited"); !got || err != nil {
		t.Errorf("Done after a second mark: %v, %v", got, err)
	}
	v, set, err := j.Memory.Variable(t.Context(), "w", "v")
	if v.Digest != "d2" || !set || err != nil || !slices.Equal(v.Origins, []string{"web a", "mcp b.c", "web d"}) {
		t.Errorf("Variable: %+v, %v, %v", v, set, err)
	}
	if v, set, err := j.Memory.Variable(t.Context(), "w", "other"); v.Digest != "" || set || err != nil || v.Origins != nil {
		t.Errorf("Variable: %+v, %v, %v", v, set, err)
	}
}

func TestImports_arrivalBecomesRun(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	imported := func(id, source string) engine.Entry {
		e := entry(id, engine.ImportKey("ab", "set", source), source)
		e.Run.Kind = engine.KindImport
		e.Import = &engine.ImportRecord{ID: id, Source: source, State: engine.ImportQueued, SHA256: "ab", Created: epoch}
		return e
	}
	for _, source := range []string{"Import/q3.pdf", "Import/q_.pdf"} {
		if err := j.Imports.Arriving(t.Context(), source, engine.ImportReceiving, 10, "the PDF has no trailer yet", epoch); err != nil {
			t.Fatal(err)
		}
	}
	e := imported("r1", "Import/q3.pdf")
	create(t, j, e)
	if list, err := j.Imports.List(t.Context(), journal.ImportFilter{}); len(list) != 2 || err != nil {
		t.Fatalf("imports: %v, %v; want the run and the other arrival", list, err)
	}
	if err := j.Imports.Gone(t.Context(), "Import/q_.pdf"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := j.Imports.Imported(t.Context(), "ab", "set"); found || err != nil {
		t.Errorf("Imported before it was: %v, %v", found, err)
	}
	e.Run.Status, e.Run.Finished = engine.Done, epoch
	e.Import.State, e.Import.Finished, e.Import.Bundle = engine.ImportDone, epoch, "Imported/q3"
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if r, found, err := j.Imports.Imported(t.Context(), "ab", "set"); !found || r.Bundle != "Imported/q3" || err != nil {
		t.Errorf("Imported: %+v, %v, %v", r, found, err)
	}
	if _, found, err := j.Imports.Imported(t.Context(), "ab", "other settings"); found || err != nil {
		t.Errorf("Imported with other settings: %v, %v", found, err)
	}
	news, err := j.Imports.Unannounced(t.Context())
	if len(news) != 1 || err != nil {
		t.Fatalf("Unannounced: %v, %v", news, err)
	}
	if err := j.Imports.Announced(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	if news, err := j.Imports.Unannounced(t.Context()); len(news) != 0 || err != nil {
		t.Errorf("Unannounced after Announced: %v, %v", news, err)
	}
	if again, created, err := j.Runs.Create(t.Context(), imported("r2", "Import/q3.pdf"), true); !created || err != nil {
		t.Errorf("the same bytes dropped again: %s, %v, %v; want a new run", again.Run.ID, created, err)
	}
}

// An import that waits has the time of its next attempt, and ends when its file is gone.
func TestImports_waiting(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, name := range []string{"Import/a.txt", "Import/b.txt"} {
		e := entry(name, engine.ImportKey(name, "set", name), name)
		e.Run.Kind, e.Import = engine.KindImport, &engine.ImportRecord{ID: name, Source: name, State: engine.ImportQueued, Created: epoch}
		create(t, j, e)
		e.Run.Status, e.Run.Finished = engine.Failed, epoch
		e.Import.State, e.Import.Finished, e.Import.Reason = engine.ImportWaiting, epoch, "the disk is full"
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if err := j.Imports.Postpone(t.Context(), name, epoch.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Imports.Gone(t.Context(), "Import/b.txt"); err != nil {
		t.Fatal(err)
	}
	a, errA := j.Imports.Get(t.Context(), "Import/a.txt")
	b, errB := j.Imports.Get(t.Context(), "Import/b.txt")
	if errA != nil || a.State != engine.ImportWaiting || a.Why(time.UTC) != "the disk is full; vaultflow tries again at "+epoch.Add(time.Minute).UTC().Format("15:04:05") {
		t.Errorf("the import that waits: %+v, %v", a, errA)
	}
	if errB != nil || b.State != engine.ImportCancelled || b.Reason != engine.GoneReason {
		t.Errorf("the import whose file is gone: %+v, %v", b, errB)
	}
}

// An import whose file is held says so until the file was put away.
func TestHeld(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	finished := func(id, source string, held bool) {
		e := entry(id, engine.ImportKey(id, "set", source), source)
		e.Run.Kind = engine.KindImport
		e.Import = &engine.ImportRecord{ID: id, Source: source, State: engine.ImportQueued, SHA256: id, Created: epoch}
		create(t, j, e)
		e.Run.Status, e.Run.Finished = engine.Done, epoch
		e.Import.State, e.Import.Finished, e.Import.Held, e.Import.Filed = engine.ImportDone, epoch, held, source
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	finished("r1", "Import/a.csv", true)
	finished("r2", "Import/b.csv", true)
	finished("r3", "Import/c.pdf", false)
	for _, id := range []string{"r1", "r3"} { // the second is not held: nothing changes
		if err := j.Imports.PutAway(t.Context(), id, "Imported/a/a.csv"); err != nil {
			t.Fatal(err)
		}
	}
	list, err := j.Imports.Held(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != "r2" || !list[0].Held {
		t.Errorf("Held: %+v, %v; want r2", list, err)
	}
	for id, want := range map[string]string{"r1": "Imported/a/a.csv", "r3": "Import/c.pdf"} {
		if r, err := j.Imports.Get(t.Context(), id); err != nil || r.Held || r.Filed != want || r.SHA256 != id {
			t.Errorf("%s: %+v, %v; want it at %s", id, r, err, want)
		}
	}
}

func TestCreate_againNotAfterPassword(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := entry("r1", "k", "Import/x.pdf")
	e.Import = &engine.ImportRecord{ID: "r1", Source: "Import/x.pdf", State: engine.ImportQueued, Created: epoch}
	create(t, j, e)
	e.Run.Status, e.Run.Finished, e.Import.State = engine.Failed, epoch, engine.ImportNeedsPassword
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Run.ID = "r2"
	if held, created, err := j.Runs.Create(t.Context(), e, true); created || held.Run.ID != "r1" || err != nil {
		t.Errorf("got %s, %v, %v; want r1 again", held.Run.ID, created, err)
	}
}

func TestNote_onceByNumber(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, number := range []int{1, 1, 0, 0, 2} {
		if _, err := j.Events.Note(t.Context(), engine.Event{Run: "r", Kind: engine.EventInfo, Time: epoch, Message: fmt.Sprint(number)}, number); err != nil {
			t.Fatal(err)
		}
	}
	events, err := j.Events.List(t.Context(), "r", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, e.Message)
	}
	if diff := cmp.Diff([]string{"1", "0", "0", "2"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if rest, err := j.Events.List(t.Context(), "", events[2].Seq, 10); len(rest) != 1 || err != nil {
		t.Errorf("events after the third: %v, %v", rest, err)
	}
}

func BenchmarkNote(b *testing.B) {
	j, err := journal.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	for b.Loop() {
		if _, err := j.Events.Note(b.Context(), engine.Event{Run: "r", Kind: engine.EventInfo, Time: epoch, Message: "page"}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
