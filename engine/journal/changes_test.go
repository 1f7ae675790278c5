package journal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

func TestChanges_keptByCallUntilTheRunIsReopened(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	run := entry("r1", "k1", "w")
	create(t, j, run)
	ref := engine.StepRef{Run: run.Run.ID, Workflow: "w", Step: "s", Batch: 2}
	first := engine.Change{Kind: engine.ChangeWrite, Name: "a.md", Before: "1", After: "2", Tool: "append_file"}
	second := engine.Change{Kind: engine.ChangeMove, Name: "a.md", To: "b.md", Before: "2", After: "2", Tool: "move_file"}
	now := time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := j.Changes.Intended(t.Context(), ref, "1/0"); !errors.Is(err, engine.ErrNotFound) {
		t.Fatalf("nothing intended: %v", err)
	}
	must(j.Changes.Intend(t.Context(), ref, "1/0", engine.Change{Kind: engine.ChangeWrite, Name: "a.md", Before: "0", After: "x"}, "early", now))
	must(j.Changes.Intend(t.Context(), ref, "1/0", first, "said", now))
	c, said, made, err := j.Changes.Intended(t.Context(), ref, "1/0")
	if diff := cmp.Diff(first, c); diff != "" || said != "said" || made || err != nil {
		t.Fatalf("intended %v %q, made %v, %v", c, said, made, err)
	}
	must(j.Changes.Made(t.Context(), ref, "1/0", true))
	must(j.Changes.Intend(t.Context(), ref, "1/1", second, "", now))
	must(j.Changes.Intend(t.Context(), ref, "1/2", first, "", now))
	must(j.Changes.Made(t.Context(), ref, "1/2", false))
	doubtful := second
	doubtful.Doubt = true
	list, err := j.Changes.Of(t.Context(), run.Run.ID)
	if diff := cmp.Diff([]engine.Change{first, doubtful}, list); diff != "" || err != nil {
		t.Errorf("changes (-want +got):\n%s%v", diff, err)
	}
	if shown, err := j.Runs.Run(t.Context(), run.Run.ID); err != nil || len(shown.Changes) != 2 {
		t.Errorf("the run's record has %d changes, want 2 (%v)", len(shown.Changes), err)
	}
	other := ref
	other.Batch = 1
	if _, _, _, err := j.Changes.Intended(t.Context(), other, "1/0"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("another batch: %v", err)
	}
	must(j.Runs.Reopen(t.Context(), run, nil))
	if _, _, _, err := j.Changes.Intended(t.Context(), ref, "1/0"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a new attempt finds the change of the one before: %v", err)
	}
	if list, _ = j.Changes.Of(t.Context(), run.Run.ID); len(list) != 2 {
		t.Errorf("%d changes after the run was reopened, want 2", len(list))
	}
}

// What a workflow wrote to a file is known without what was undone, and again when the undo was undone.
func TestMemory_writtenAndNotUndone(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	do := func(run, workflow string, kind engine.Kind, name, before, after string) {
		t.Helper()
		e := entry(run, run, workflow)
		e.Run.Kind = kind
		create(t, j, e)
		ref := engine.StepRef{Run: run, Workflow: workflow}
		if err := j.Changes.Intend(t.Context(), ref, "c", engine.Change{Kind: engine.ChangeWrite, Name: name, Before: before, After: after}, "", time.Now()); err != nil {
			t.Fatal(err)
		}
		if run != "dead" {
			if err := j.Changes.Made(t.Context(), ref, "c", true); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect := func(want ...string) {
		t.Helper()
		list, err := j.Memory.Written(t.Context(), "w", "a.md")
		var got []string
		for _, c := range list {
			got = append(got, c.After)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	expect()
	do("r1", "w", engine.KindWorkflow, "a.md", "", "1")
	do("v1", "v", engine.KindWorkflow, "a.md", "1", "v")
	do("r2", "w", engine.KindWorkflow, "a.md", "1p", "2")
	do("b1", "w", engine.KindWorkflow, "b.md", "", "b")
	do("dead", "w", engine.KindWorkflow, "a.md", "2", "x")
	expect("1", "2")
	do("u1", "w", engine.KindUndo, "a.md", "2", "1p")
	expect("1")
	do("u2", "w", engine.KindUndo, "a.md", "1p", "2")
	expect("1", "2")
	do("u3", "w", engine.KindUndo, "a.md", "2", "1p")
	do("r3", "w", engine.KindWorkflow, "a.md", "1p", "3")
	expect("1", "3")
}
