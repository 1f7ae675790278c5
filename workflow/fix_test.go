package workflow

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// mistake is a diagnostic with edits, for tests of how they are made.
func mistake(message string, edits ...diag.Edit) diag.Diagnostic {
	return diag.Diagnostic{Line: 1, Column: 1, Message: message, Edits: edits}
}

func edit(line, column, endLine, endColumn int, text string) diag.Edit {
	return diag.Edit{Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, New: text}
}

func TestApply(t *testing.T) {
	t.Parallel()
	const src = "---\nmodel: blå\nwatch: a\n---\n## A\n@model x\n@header y\n\nPrompt\n"
	for name, tt := range map[string]struct {
		list []diag.Diagnostic
		want string
		done string // messages of what was mended
	}{
		"characters, not bytes": {[]diag.Diagnostic{mistake("a", edit(2, 10, 2, 11, "?"))}, strings.Replace(src, "blå", "bl?", 1), "a"},
		"insert at both ends": {
			[]diag.Diagnostic{mistake("a", edit(2, 8, 2, 8, `"`), edit(2, 11, 2, 11, `"`)), mistake("b", edit(2, 8, 2, 11, "x"))},
			strings.Replace(src, "blå", `"x"`, 1), "a b",
		},
		"the first of two that overlap": {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 7, "m")), mistake("b", edit(6, 4, 6, 9, "n"))}, strings.Replace(src, "@model x", "@m x", 1), "a"},
		"two insertions at one place":   {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 2, "1")), mistake("b", edit(6, 2, 6, 2, "2"))}, strings.Replace(src, "@model", "@1model", 1), "a"},
		"an insertion inside of one":    {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 7, "m")), mistake("b", edit(6, 4, 6, 4, "2"))}, strings.Replace(src, "@model", "@m", 1), "a"},
		"all edits or none":             {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 7, "m"), edit(99, 1, 99, 2, ""))}, src, ""},
		"neighbours":                    {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 4, "1")), mistake("b", edit(6, 4, 6, 7, "2"))}, strings.Replace(src, "model x", "12 x", 1), "a b"},
		"whole lines":                   {[]diag.Diagnostic{mistake("a", edit(6, 1, 7, 1, "")), mistake("b", edit(7, 1, 8, 1, "@run_on mon\n@model z\n"))}, strings.Replace(src, "@model x\n@header y\n", "@run_on mon\n@model z\n", 1), "a b"},
		"prompt text":                   {[]diag.Diagnostic{mistake("a", edit(9, 1, 9, 2, "p")), mistake("b", edit(7, 1, 9, 2, ""))}, src, ""},
		"outside":                       {[]diag.Diagnostic{mistake("a", edit(2, 40, 2, 41, "")), mistake("b", edit(0, 1, 0, 1, "x")), mistake("c", edit(6, 5, 6, 4, "")), mistake("d")}, src, ""},
		"nothing changes":               {[]diag.Diagnostic{mistake("a", edit(6, 2, 6, 7, "model"))}, src, ""},
	} {
		for ends, end := range map[string]string{"lf": "\n", "crlf": "\r\n", "cr": "\r"} {
			for mark, bom := range map[string]string{"": "", " with a mark": "\uFEFF"} {
				source := bom + strings.ReplaceAll(src, "\n", end)
				got, fixed := Apply([]byte(source), tt.list)
				var done []string
				for _, f := range fixed {
					done = append(done, f.Message)
				}
				if want := bom + strings.ReplaceAll(tt.want, "\n", end); string(got) != want || strings.Join(done, " ") != tt.done {
					t.Errorf("%s, %s%s: %q, mended %v; want %q, %q", name, ends, mark, got, done, want, tt.done)
				}
			}
		}
	}
}

func TestApply_saysWhichLinesChanged(t *testing.T) {
	t.Parallel()
	_, fixed := Apply([]byte("## A\n@model x\n@header y\nP\n"), []diag.Diagnostic{mistake("a", edit(2, 1, 3, 1, "")), mistake("b", edit(3, 10, 3, 10, "z\n@run_on mon"))})
	if len(fixed) != 2 || !slices.Equal(fixed[0].Removed, []string{"@model x"}) || len(fixed[0].Added) != 0 ||
		!slices.Equal(fixed[1].Removed, []string{"@header y"}) || !slices.Equal(fixed[1].Added, []string{"@header yz", "@run_on mon"}) {
		t.Errorf("got %+v", fixed)
	}
}

// A misspelt trigger is no file of that name.
func TestFix_trigger(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"@input triger": "@input trigger", "@input Tirgger (pages=1)": "@input trigger (pages=1)", "@for_each triggers": "@for_each trigger",
		"@for_each pages of trigge": "@for_each pages of trigger", "@input {triger}": "@input trigger", "@input {trigger}": "@input trigger",
		"@input bigger": "@input file: bigger", "@input tiger Notes": "@input file: tiger Notes", "@output triger": "@output file: triger",
	} {
		src := "## A\n" + line + "\n\nx\n"
		if got, _ := Fix("w", "w.md", []byte(src), nil); string(got) != strings.Replace(src, line, want, 1) {
			t.Errorf("%s became %q", line, got)
		}
	}
}

func TestFix_leavesTheAuthorsWords(t *testing.T) {
	t.Parallel()
	const src = "---\nmodle: x\n---\n@inptu here\n\n## Instructions\n@inptu there\n\n## A\n@inptu file: a\nSay\n@modle x\n```directives\n@inptu\n```\n"
	got, fixed := Fix("w", "w.md", []byte(src), nil)
	want := strings.Replace(src, "@inptu file", "@input file", 1)
	if string(got) != want || len(fixed) != 1 {
		t.Errorf("got %q, want %q; %v", got, want, fixed)
	}
	for _, src := range []string{"", "---\nmodle: x\n", "a\xff@inptu", strings.Repeat("@inptu ", MaxSize/6), "Prompt only\n@inptu x"} {
		if got, fixed := Fix("w", "w.md", []byte(src), nil); string(got) != src || len(fixed) > 0 {
			t.Errorf("%.40q was changed: %v", src, fixed)
		}
	}
}

func TestFix_mendsWhatTheWorldSays(t *testing.T) {
	t.Parallel()
	more := func(p *Plan) []diag.Diagnostic {
		if m := p.Steps[0].Model; m != nil && m.Alias == "sonet" {
			return []diag.Diagnostic{directives.At(m.At, directives.CodeUnknownModel, "", "no such model").Mended(diag.Replace(m.At, 5, "sonnet"))}
		}
		return nil
	}
	if got, _ := Fix("w", "w.md", []byte("## A\n@model=sonet\nx\n"), more); string(got) != "## A\n@model sonnet\nx\n" {
		t.Errorf("got %q", got)
	}
}

func TestFindAbroad(t *testing.T) {
	t.Parallel()
	old := &fstest.MapFile{Data: []byte("---\nworkflow_engine: step\n---\n## A\nx\n")}
	fsys := fstest.MapFS{
		"AssistantMD/Workflows/a.md": old, "AssistantMD/Workflows/_b.md": old, "AssistantMD/Workflows/sub/c.md": old,
		"AssistantMD/Workflows/_parts/d.md": old, "AssistantMD/Workflows/sub/deep/e.md": old, "AssistantMD/Workflows/f.txt": old,
		"AssistantMD/Workflows/notes.md": {Data: []byte("---\ntitle: x\n---\nworkflow_engine: step\n")}, "AssistantMD/Workflows/huge.md": {Data: bytes.Repeat([]byte("x"), MaxSize+1)},
		"Other/g.md": old,
	}
	want := []Abroad{
		{"AssistantMD/Workflows/_b.md", "Flows/_b.md"}, {"AssistantMD/Workflows/a.md", "Flows/a.md"}, {"AssistantMD/Workflows/sub/c.md", "Flows/sub/c.md"},
	}
	if diff := cmp.Diff(want, FindAbroad(fsys, "Flows")); diff != "" {
		t.Error(diff)
	}
	for _, dir := range []string{"AssistantMD/Workflows", "AssistantMD", ".", "assistantmd"} {
		if got := FindAbroad(fsys, dir); got != nil {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// Whatever the note: a fix ends, keeps every prompt, and leaves nothing that it could still mend.
func FuzzFix(f *testing.F) {
	f.Add([]byte(full))
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, parts := archive(string(src))
		for _, p := range parts {
			f.Add([]byte(p.text))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, fixed := Fix("w", "w.md", src, nil)
		if len(fixed) == 0 && !bytes.Equal(got, src) {
			t.Fatalf("changed without a word: %q became %q", src, got)
		}
		if again, more := Fix("w", "w.md", got, nil); !bytes.Equal(again, got) {
			t.Fatalf("not stable: %q, then %q, then %q: %v", src, got, again, more)
		}
		before, _ := Parse("w", "w.md", src)
		after, _ := Parse("w", "w.md", got)
		if diff := cmp.Diff(prompts(before), prompts(after)); diff != "" {
			t.Fatalf("%q became %q with other prompts:\n%s\n%v", src, got, diff, fixed)
		}
	})
}

func prompts(p *Plan) []string {
	list := []string{p.Instructions}
	for _, s := range p.Steps {
		list = append(list, s.Name+": "+s.Prompt)
	}
	return list
}
