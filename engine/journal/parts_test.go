package journal_test

import (
	"fmt"
	"strings"
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

// Undo makes what is known of parts what it was before the run, and the undo of the undo takes that back. What a later run has recorded
// stays, and so does what is known of a part with a file that kept what the run wrote.
func TestTakeBackParts(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, run := range []string{"r0", "r1", "r2", "u1", "u2"} {
		create(t, j, entry(run, run, "w"))
	}
	state := func(name string, page int) engine.PartState {
		s := engine.PartState{Document: "Book.md", Files: map[string]string{name + ".md": digest("x")}, Others: []string{name + " log.md"}}
		s.Part = parts.Part{Kind: parts.Pages, Name: name, Pages: []parts.Page{{N: page, ID: name}}}
		return s
	}
	did := func(run, name string, page int) {
		t.Helper()
		s := state(name, page)
		mark := engine.Mark{Directive: engine.ForEachDirective, Name: s.Key(), SHA256: s.Digest(), Part: &s}
		if err := j.Memory.Committed(t.Context(), engine.StepRef{Run: run, Workflow: "w", Step: "s"}, []engine.Mark{mark}, nil); err != nil {
			t.Fatal(err)
		}
	}
	known := func() string {
		t.Helper()
		list, err := j.Memory.Parts(t.Context(), "w", "s", "Book.md")
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, p := range list {
			words = append(words, fmt.Sprintf("%s at %d", p.Name, p.Pages[0].N))
		}
		return strings.Join(words, ", ")
	}
	for _, name := range []string{"moved", "gone", "later", "edited", "logged"} {
		did("r0", name, 1)
	}
	for _, name := range []string{"moved", "moved", "later", "edited", "logged", "new"} {
		did("r1", name, 2)
	}
	for range 2 {
		if err := j.Memory.ForgetPart(t.Context(), engine.StepRef{Run: "r1", Workflow: "w", Step: "s"}, state("gone", 1)); err != nil {
			t.Fatal(err)
		}
	}
	did("r2", "later", 3)
	const after = "edited at 2, later at 3, logged at 2, moved at 2, new at 2"
	if known() != after {
		t.Fatalf("before: %s", known())
	}
	for _, step := range []struct{ run, of, want string }{
		{"u1", "r1", "edited at 2, gone at 1, later at 3, logged at 2, moved at 1"},
		{"u1", "r1", "edited at 2, gone at 1, later at 3, logged at 2, moved at 1"}, // its process died
		{"u2", "u1", after},
	} {
		if err := j.Undo.TakeBackParts(t.Context(), step.run, step.of, []string{"edited.md", "logged log.md"}); err != nil || known() != step.want {
			t.Errorf("%s: %v, known: %s; want %s", step.run, err, known(), step.want)
		}
	}
}
