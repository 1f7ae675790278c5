package step

import (
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

func TestWhen(t *testing.T) {
	t.Parallel()
	file := func(test, path string) directives.When { return directives.When{Test: test, Target: fileTarget(path)} }
	variable := func(test, name string) directives.When {
		return directives.When{Test: test, Target: variableTarget(name)}
	}
	not := func(w directives.When) directives.When { w.Not = true; return w }
	tests := []struct {
		name   string
		when   []directives.When
		reason string // empty: all hold
	}{
		{"exists", []directives.When{file("exists", "a")}, ""},
		{"exists, glob", []directives.When{file("exists", "in/*.md")}, ""},
		{"does not exist", []directives.When{file("exists", "nope/*.md")}, "@when exists nope/*.md"},
		{"not exists", []directives.When{not(file("exists", "nope"))}, ""},
		{"not exists, but does", []directives.When{not(file("exists", "a"))}, "@when not exists a"},
		{"missing", []directives.When{file("missing", "nope")}, ""},
		{"missing, but there", []directives.When{file("missing", "a.md")}, "@when missing a.md"},
		{"not missing", []directives.When{not(file("missing", "a.md"))}, ""},
		{"changed", []directives.When{file("changed", "in/*.md")}, ""},
		{"changed, nothing there", []directives.When{file("changed", "nope/*.md")}, "@when changed nope/*.md"},
		{"not changed", []directives.When{not(file("changed", "in/*.md"))}, "@when not changed in/*.md"},
		{"empty, not set", []directives.When{variable("empty", "none")}, ""},
		{"empty, blank", []directives.When{variable("empty", "blank")}, ""},
		{"empty, holds something", []directives.When{variable("empty", "full")}, "@when empty variable: full"},
		{"nonempty", []directives.When{variable("nonempty", "full")}, ""},
		{"nonempty, of the workflow", []directives.When{variable("nonempty", "kept")}, ""},
		{"nonempty, blank", []directives.When{variable("nonempty", "blank")}, "@when nonempty variable: blank"},
		{"not nonempty", []directives.When{not(variable("nonempty", "none"))}, ""},
		{"all must hold", []directives.When{file("exists", "a"), file("missing", "a"), file("exists", "nope")}, "@when missing a"},
		{"with patterns", []directives.When{file("exists", "log/{today}")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"a.md": "A", "in/1.md": "1", "log/2026-03-04.md": "x"}, workflow.Step{Prompt: "x", Set: directives.Set{When: tt.when}})
			w.Shared["kept"] = w.put("yes")
			vars := []engine.Var{{Name: "blank", Digest: w.put(" \n\t")}, {Name: "full", Digest: w.put("x")}}
			got, err := w.steps().Conditions.When(t.Context(), engine.StepIn{StepRef: w.ref(), Vars: vars})
			if err != nil || got.Reason != tt.reason || got.Skip != (tt.reason != "") {
				t.Errorf("got %+v, %v, want the reason %q", got, err, tt.reason)
			}
		})
	}
}

func TestWhen_changedIsPerContent(t *testing.T) {
	t.Parallel()
	when := directives.When{Test: directives.WhenChanged, Target: fileTarget("in/*.md")}
	other := directives.When{Index: 1, Test: directives.WhenChanged, Target: fileTarget("in/*.md")}
	w := newWorld(t, map[string]string{"in/1.md": "1", "in/2.md": "2"}, workflow.Step{Prompt: "x", Set: directives.Set{When: []directives.When{when, other}}})
	ref := w.ref()
	ask := func() engine.WhenOut {
		t.Helper()
		got, err := w.steps().Conditions.When(t.Context(), engine.StepIn{StepRef: ref})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := ask()
	if len(first.Marks) != 4 || first.Marks[0].Directive == first.Marks[2].Directive || first.Marks[0].Directive >= directives.ForEachIndex {
		t.Fatalf("marks %+v: want two of each condition, under keys of their own", first.Marks)
	}
	if got := ask(); got.Skip {
		t.Error("asking alone marks nothing")
	}
	if err := w.Committed(t.Context(), ref, first.Marks, nil); err != nil {
		t.Fatal(err)
	}
	if got := ask(); !got.Skip || len(got.Marks) != 0 {
		t.Errorf("after the commit: %+v, want skipped", got)
	}
	w.vault.Put("in/2.md", "new")
	if got := ask(); got.Skip || len(got.Marks) != 2 || got.Marks[0].Name != "in/2.md" {
		t.Errorf("after an edit: %+v, want the edited file", got)
	}
}
