package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// digestOf is a digest for tests: one letter, over and over.
func digestOf(letter byte) string {
	text := make([]byte, 64)
	for i := range text {
		text[i] = letter
	}
	return string(text)
}

func watchedFile(name string, letter byte, at time.Time) vault.File {
	return vault.File{Name: name, SHA256: digestOf(letter), Size: 5, Modified: at}
}

func TestNotice_waitsUntilItIsDelivered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	news := []engine.Notice{
		{Workflow: "w", File: watchedFile("b.md", 'b', epoch), Batch: "1", Time: epoch, Causes: []string{"x", "y"}},
		{Workflow: "w", File: watchedFile("a.md", 'a', epoch), Batch: "1", Time: epoch},
		{Workflow: "v", File: watchedFile("a.md", 'a', epoch), Batch: "2", Time: epoch.Add(time.Second)},
		{Workflow: "w", File: watchedFile("own.md", 'c', epoch), Time: epoch},
	}
	for range 2 { // the same news again change nothing
		if err := j.Watches.Notice(t.Context(), news); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	want := []engine.Notice{
		{Workflow: "w", File: vault.File{Name: "a.md"}, Batch: "1", Time: epoch},
		{Workflow: "w", File: vault.File{Name: "b.md"}, Batch: "1", Time: epoch, Causes: []string{"x", "y"}},
		{Workflow: "v", File: vault.File{Name: "a.md"}, Batch: "2", Time: epoch.Add(time.Second)},
	}
	got, err := j.Watches.Noticed(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := j.Watches.Delivered(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Watches.Noticed(t.Context()); len(got) != 1 || got[0].Batch != "2" || err != nil {
		t.Errorf("after one batch was delivered: %+v, %v", got, err)
	}
}

func TestWatched_keepsFilesOfThoseThatAsked(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	if err := j.Watches.Watch(t.Context(), "w", "*.md", []vault.File{watchedFile("a.md", 'a', epoch), {Name: "b.md", Size: 7, Modified: epoch}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Watches.Notice(t.Context(), []engine.Notice{
		{Workflow: "w", File: watchedFile("a.md", 'd', epoch.Add(time.Nanosecond))},
		{Workflow: "w", File: vault.File{Name: "b.md"}, Gone: true},
		{Workflow: "other", File: watchedFile("a.md", 'd', epoch)},
	}); err != nil {
		t.Fatal(err)
	}
	files, ok, err := j.Watches.Watched(t.Context(), "w", "*.md")
	want := map[string]vault.File{"a.md": watchedFile("a.md", 'd', epoch.Add(time.Nanosecond))}
	if diff := cmp.Diff(want, files); diff != "" || !ok || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", ok, err, diff)
	}
	for digest, want := range map[string]bool{digestOf('d'): true, digestOf('a'): false} {
		if held, err := j.Watches.Holds(t.Context(), "w", "a.md", digest); held != want || err != nil {
			t.Errorf("Holds(%s): %v, %v", digest[:4], held, err)
		}
	}
	if _, ok, err := j.Watches.Watched(t.Context(), "w", "*.txt"); ok || err != nil {
		t.Errorf("other globs: %v, %v", ok, err)
	}
	if _, ok, err := j.Watches.Watched(t.Context(), "other", "*.md"); ok || err != nil {
		t.Errorf("a workflow that nobody keeps files for: %v, %v", ok, err)
	}
	if err := j.Watches.Unwatch(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := j.Watches.Watched(t.Context(), "w", "*.md"); ok || err != nil {
		t.Errorf("after Unwatch: %v, %v", ok, err)
	}
}

func TestWriters_tellWhatARunGoesBackTo(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	parent := entry("r1", "k1", "parent")
	parent.Run.Trigger = engine.Trigger{Kind: engine.TriggerWatch, Causes: []string{"first", "second"}}
	nested := entry("r2", "k2", "nested")
	nested.Run.Trigger = engine.Trigger{Kind: engine.TriggerTool, Parent: "r1"}
	for _, e := range []engine.Entry{parent, nested, entry("r3", "k3", "nested")} {
		create(t, j, e)
	}
	write := func(workflow, run string) {
		t.Helper()
		if err := j.Memory.Writing(t.Context(), engine.StepRef{Workflow: workflow, Run: run}, []engine.StagedFile{{Name: "a.md", New: digestOf('a')}}); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(want ...engine.Writer) {
		t.Helper()
		got, err := j.Memory.Writers(t.Context(), "a.md", digestOf('a'))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	wants()
	write("nested", "r2")
	write("gone", "of which nothing is known")
	wants(engine.Writer{Workflow: "gone"}, engine.Writer{Workflow: "nested", Causes: []string{"first", "parent", "second"}})
	write("nested", "r3") // the same content, and this time for no other's sake
	wants(engine.Writer{Workflow: "gone"}, engine.Writer{Workflow: "nested"})
}

func TestRewind_forgetsWhatDidNotRun(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	var slots []engine.SlotRecord
	for i, state := range []engine.SlotState{engine.SlotMissed, engine.SlotRan, engine.SlotMissed, engine.SlotMerged, engine.SlotLate, engine.SlotSkipped} {
		slots = append(slots, engine.SlotRecord{Workflow: "w", Slot: epoch.Add(time.Duration(i) * time.Hour), State: state, Count: 1})
	}
	if err := j.Slots.Plan(t.Context(), "w", "spec", epoch.Add(6*time.Hour), slots); err != nil {
		t.Fatal(err)
	}
	back := epoch.Add(30 * time.Minute)
	if err := j.Slots.Rewind(t.Context(), "w", back); err != nil {
		t.Fatal(err)
	}
	kept, err := j.Slots.Kept(t.Context(), "w", epoch.Add(-time.Second), epoch.Add(4*time.Hour))
	want := []time.Time{epoch, epoch.Add(time.Hour), epoch.Add(4 * time.Hour)} // up to that time, itself included
	if diff := cmp.Diff(want, kept); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if until, ok, err := j.Slots.Until(t.Context(), "w", "spec"); !until.Equal(back) || !ok || err != nil {
		t.Errorf("Until: %s, %v, %v", until, ok, err)
	}
}

func TestUnpause_alsoAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, id := range []string{"r1", "r2", "r3"} {
		e := entry(id, id, "w")
		e.Run.Status, e.Run.Finished = engine.Failed, epoch
		create(t, j, e)
	}
	if failed, err := j.Runs.Failures(t.Context(), "w", 3); len(failed) != 3 || err != nil {
		t.Fatalf("%d failures, %v", len(failed), err)
	}
	if err := j.Runs.Unpause(t.Context(), "w", epoch.Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if failed, err := j.Runs.Failures(t.Context(), "w", 3); len(failed) != 0 || err != nil {
		t.Errorf("%d failures after Unpause, %v", len(failed), err)
	}
}
