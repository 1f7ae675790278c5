package directives

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/failure/diag"
)

func TestNameOf(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"Imported/Book/index.md": "Book", "Imported/Book/INDEX.md": "Book", "a/b.md": "b", "b": "b", "index.md": "index", "a/.md": ".md",
	} {
		if got := NameOf(file); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", file, got, want)
		}
	}
}

// Of the patterns of the language, prompt text has only those about the trigger and the item.
func TestReplaceInText(t *testing.T) {
	t.Parallel()
	f := Facts{Files: []string{"Imported/Book/index.md"}}
	show := func(name, value string) string { return "<" + name + ":" + value + ">" }
	for text, want := range map[string]string{
		"About {trigger-name}, {today}.":    "About <trigger-name:Book>, {today}.",
		"{{trigger}} {item} {trigger":       "{{trigger}} {item} {trigger",
		"{trigger-index} {trigger}{trigger": "{trigger-index} <trigger:Imported/Book/index.md>{trigger",
		"{ {trigger-ext} }":                 "{ <trigger-ext:md> }",
	} {
		if got, err := ReplaceInText(text, f, show); err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", text, got, err, want)
		}
	}
	for n, hint := range map[int]string{0: "vaultflow run WORKFLOW FILE", 2: "@for_each trigger"} {
		f.Files = slices.Repeat([]string{"a.md"}, n)
		_, err := ReplaceInText("{trigger-title}", f, show)
		if fault, ok := errors.AsType[*PatternError](err); !ok || !strings.Contains(fault.Suggestion, hint) {
			t.Errorf("with %d files: %v", n, err)
		}
	}
}

func TestResolve_trigger(t *testing.T) {
	t.Parallel()
	list, faults := Parse([]string{"@input Trigger (images=auto)", "@for_each trigger (batch=5)", "@input file: [[trigger]]", "@output file: {trigger-folder}/{trigger-name} notes"}, diag.Position{Line: 1, Column: 1})
	set, more := Interpret(list)
	if len(faults)+len(more) > 0 {
		t.Fatal(faults, more)
	}
	if in := set.Inputs[0]; in.Target.Scheme != SchemeTrigger || in.Target.String() != "trigger" || set.ForEach.Target.Scheme != SchemeTrigger || set.Inputs[1].Target.Scheme != SchemeFile {
		t.Fatalf("%+v", set)
	}
	env := ResolveEnv{FS: fstest.MapFS{"b.md": {}, "a/c.png": {}}, Facts: Facts{Files: []string{"b.md", "gone.md", "a/c.png"}}}
	found, err := set.Inputs[0].Resolve(context.Background(), env)
	if err != nil || len(found.Files) != 2 || found.Files[1].Name != "b.md" || found.Missing {
		t.Errorf("%+v, %v", found, err)
	}
	env.Facts.Files = nil
	if found, err = set.Inputs[0].Resolve(context.Background(), env); err != nil || !found.Missing {
		t.Errorf("without files: %+v, %v", found, err)
	}
	for _, line := range []string{"@output trigger", "@schema trigger"} {
		list, _ := Parse([]string{line}, diag.Position{Line: 1, Column: 1})
		_, faults := Interpret(list)
		if len(faults) == 0 || !strings.Contains(faults[0].Suggestion, "{trigger}") {
			t.Errorf("%s: %v", line, faults)
		}
	}
}

// Names from outside keep to one cleaned part of a path, as those of items do.
func TestPlace_foreignTrigger(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]Place{
		"Meetings/{trigger-title}":             {Name: "Meetings/x y.md", Named: NamedInSegment},
		"{trigger-folder}/{trigger-name} tags": {Name: "Imported/Stand-up/Stand-up tags.md", Named: NamedInSegment},
		"{trigger}":                            {Name: "Imported/Stand-up/index.md"},
		"{trigger-title}/a":                    {Name: "", Named: NamedByForeign},
		"Meetings/{today}":                     {Name: "Meetings/2026-03-01.md"},
	} {
		f := Facts{Now: march, Files: []string{"Imported/Stand-up/index.md"}, ForeignFiles: true, Title: func(string) string { return "../x: y" }}
		out := Output{Target: Target{Scheme: SchemeFile, Path: pattern}}
		got, _ := out.Place(OutputEnv{Facts: f})
		if want.Name == "" {
			got.Name = ""
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", pattern, got, want)
		}
		f.ChosenFiles = true
		if got, _ := out.Place(OutputEnv{Facts: f}); strings.HasPrefix(pattern, "{") && got.Named != NamedByForeign {
			t.Errorf("%s chosen by content from outside: %+v", pattern, got)
		}
	}
}
