package workflow

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/google/go-cmp/cmp"
)

// A plan is always there, survives JSON, has its positions inside the note, and no prompt starts with a directive.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	plans, err := filepath.Glob("testdata/language/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, plans...) {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, parts := archive(string(src))
		for i := 0; i < len(parts); i += 2 {
			f.Add([]byte(parts[i].text))
		}
	}
	f.Add([]byte("## A\n````directives\n@schema\n```yaml\ntype: object\n```\n@for_each file: a/*\n@input file: {item}\n````\nx"))
	f.Fuzz(func(t *testing.T, src []byte) {
		plan, list := Parse("a/b", "w.md", src)
		text := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r", "\n")
		lines := strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\n")
		for _, d := range list {
			if d.Line < 1 || d.Line > len(lines) || d.Column < 1 || d.Column > utf8.RuneCountInString(lines[d.Line-1])+1 {
				t.Errorf("%v lies outside of %q", d, src)
			}
		}
		data, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var back Plan
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*plan, back); diff != "" {
			t.Errorf("after JSON (-want +got):\n%s", diff)
		}
		if len(list) > MaxDiagnostics+1 {
			t.Errorf("%d diagnostics", len(list))
		}
		once, fixed := Fix("a/b", "w.md", src, nil)
		if len(fixed) == 0 && !bytes.Equal(once, src) {
			t.Errorf("a note was changed and nothing is said about it: %q became %q", src, once)
		}
		if diag.HasErrors(list) {
			return
		}
		if len(plan.Steps) == 0 {
			t.Error("no step and no error")
		}
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for _, s := range plan.Meta.Schedules {
			if next := s.Next(now, time.UTC); !next.IsZero() && !next.After(now) {
				t.Errorf("%s fires at %s", s, next)
			}
		}
		world := World{Now: now, Zone: time.UTC, Models: []string{"sonnet"}, Tools: []string{"read_chunks"}, FS: fstest.MapFS{"notes/today.md": {}}}
		for _, d := range append(Check(plan, world), Inspect(t.Context(), plan, world)...) {
			if d.Line < 1 || d.Line > len(lines) || d.Column < 1 || d.Column > utf8.RuneCountInString(lines[d.Line-1])+1 {
				t.Errorf("%v lies outside of %q", d, src)
			}
		}
	})
}
