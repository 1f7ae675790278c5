package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/parts"
)

// A part of a document is remembered with its pages; undoing the run that did it makes it pending again, and keeps its place.
func TestParts(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, run := range []string{"r1", "u1"} {
		create(t, j, entry(run, run, "w"))
	}
	ref := engine.StepRef{Run: "r1", Workflow: "w", Step: "s"}
	state := engine.PartState{Document: "Book.md", Files: map[string]string{"Out.md": digest("x")}}
	state.Part = parts.Part{Kind: parts.Pages, Name: "part 01", Pages: []parts.Page{{N: 1, ID: "a"}}}
	mark := engine.Mark{Directive: engine.ForEachDirective, Name: state.Key(), SHA256: state.Digest(), Part: &state}
	if err := j.Memory.Committed(t.Context(), ref, []engine.Mark{mark}, nil); err != nil {
		t.Fatal(err)
	}
	key := directives.PendingKey{Workflow: "w", Step: "s", Directive: directives.ForEachIndex}
	done := func() bool {
		t.Helper()
		done, err := j.Memory.Done(t.Context(), key, state.Key(), state.Digest())
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	known := func() []engine.PartState {
		t.Helper()
		list, err := j.Memory.Parts(t.Context(), "w", "s", "Book.md")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if diff := cmp.Diff([]engine.PartState{state}, known()); diff != "" || !done() {
		t.Error(diff)
	}
	undone := engine.Memory{Run: "r1", Workflow: "w", Step: "s", Directive: engine.ForEachDirective, Name: state.Key(), After: state.Digest()}
	if _, err := j.Undo.TakeBack(t.Context(), "u1", []engine.Memory{undone}); err != nil || done() || len(known()) != 1 {
		t.Errorf("after undo: %v, done %v, known %d", err, done(), len(known()))
	}
	if err := j.Memory.ForgetPart(t.Context(), ref, state); err != nil || len(known()) != 0 {
		t.Errorf("forgotten: %v, known %d", err, len(known()))
	}
}
