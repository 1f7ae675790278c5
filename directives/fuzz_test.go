package directives

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// seedLines are the directive lines of the golden files.
func seedLines(f *testing.F) []string {
	f.Helper()
	files, err := filepath.Glob("../workflow/testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("../workflow/testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	var lines []string
	for _, name := range append(files, more...) {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if strings.HasPrefix(line, "@") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// Positions lie inside the text, results hold allowed names only, and no accepted path leads out of the vault.
func FuzzParse(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Add("```directives\n@input file: a (pages=1,2)\n```\nPrompt")
	f.Add("@schema (retries=1)\n```yaml\ntype: object\nrequired: [a, &x b, *x]\n```\n@cache 7d\nPrompt")
	f.Add("````directives\n@schema\n```json\n{\"a\": [1, 2.5e3, null]}\n```\n@for_each variable: x (batch=2)\n@input file: {item}\n````")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		lines := strings.Split(text, "\n")
		at := diag.Position{File: "w.md", Line: 7, Column: 1}
		b, faults := Cut(lines, at)
		if b.Rest < 0 || b.Rest > len(lines) || b.At.Line < 7 || b.At.Line+len(b.Lines) > 7+len(lines) {
			t.Fatalf("block %+v of %d lines", b, len(lines))
		}
		list, more := Parse(b.Lines, b.At)
		set, typed := Interpret(list)
		inside := func(line, column int) bool {
			return line >= 7 && line < 7+len(lines) && column >= 1 && column <= utf8.RuneCountInString(lines[line-7])+1
		}
		for _, d := range slices.Concat(faults, more, typed) {
			if !inside(d.Line, d.Column) {
				t.Errorf("%v lies outside of %q", d, text)
			}
			for _, e := range d.Edits {
				if !inside(e.Line, e.Column) || !inside(e.EndLine, e.EndColumn) || e.EndLine < e.Line || e.EndLine == e.Line && e.EndColumn < e.Column {
					t.Errorf("the edit %+v of %v lies outside of %q", e, d, text)
				}
			}
		}
		checkTypes(t, set, typed)
		for _, d := range list {
			g, ok := byName[d.Name]
			if !ok || d.Faulty && (d.Text != "" || d.Params != nil || d.Body != nil) {
				t.Errorf("directive %+v", d)
			}
			for _, p := range d.Params {
				if !slices.Contains(g.grammar.params, p.Key) {
					t.Errorf("parameter %q of %s", p.Key, d.Name)
				}
			}
		}
		if diag.HasErrors(typed) {
			return
		}
		for _, in := range set.Inputs {
			stays(t, in.Target)
		}
		for _, w := range set.When {
			stays(t, w.Target)
		}
		if set.ForEach != nil {
			stays(t, set.ForEach.Target)
		}
		if set.Schema != nil && set.Schema.Target != nil {
			stays(t, *set.Schema.Target)
		}
		for _, out := range set.Outputs {
			stays(t, out.Target)
			if name, err := out.Name(OutputEnv{Facts: sample}); err == nil && out.Target.Scheme == SchemeFile && (outputFault(name) != nil || Inside(name, "Import")) {
				t.Errorf("%s is written to %q", out.Target, name)
			}
		}
	})
}

// checkTypes looks at what the directives of a step have become.
func checkTypes(t *testing.T, set Set, typed []diag.Diagnostic) {
	t.Helper()
	if diag.HasErrors(typed) {
		return
	}
	if s := set.Schema; s != nil && (s.Target == nil) == (s.Inline == nil) || s != nil && s.Inline != nil && !json.Valid(s.Inline) {
		t.Errorf("schema %+v", s)
	}
	if each := set.ForEach; each != nil && (each.Batch < 0 || each.Parallel < 0 || each.Parallel > maxParallel) {
		t.Errorf("for_each %+v", each)
	}
	for i, w := range set.When {
		if w.Index != i || !slices.Contains(whenTests, w.Test) || w.ofVariable() != (w.Target.Scheme == SchemeVariable) {
			t.Errorf("condition %+v", w)
		}
	}
	if (set.WriteMode.Mode == ModeSection) != (set.WriteMode.Heading != "") {
		t.Errorf("write mode %+v", set.WriteMode)
	}
	if set.Tools != nil && (set.Tools.None && (set.Tools.All || len(set.Tools.Uses) > 0)) {
		t.Errorf("tools %+v", set.Tools)
	}
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatalf("%+v: %v", set, err)
	}
	var back Set
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("after JSON:\n%s\n%s", data, again)
	}
}

func stays(t *testing.T, target Target) {
	t.Helper()
	if target.Scheme != SchemeFile || target.Link {
		return
	}
	name := target.Path
	if !target.Literal {
		glob, err := ExpandGlob(name, sample)
		if err != nil {
			return // an output, where braces have fewer meanings
		}
		name = unescape(glob)
	}
	if bad := faultOf(name); bad != nil {
		t.Errorf("%s was accepted: %s", target, bad.message)
	}
}

// Without braces nothing changes; with doubled braces the text comes back; one scan never yields more patterns.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"{today}", "{today:YYYY-[W]WW}", "{{x}}", "a/{latest:3}", "*.{png,jpg}", "{a,{today}}", "{step}", "}{", "{today:[}]}"} {
		f.Add(s, "step {today} *")
	}
	f.Fuzz(func(t *testing.T, pattern, step string) {
		facts := sample
		facts.Step = step
		doubled := strings.NewReplacer("{", "{{", "}", "}}").Replace(pattern)
		if got, err := Expand(doubled, facts); err != nil || got != pattern {
			t.Errorf("Expand(%q) = %q, %v", doubled, got, err)
		}
		if !strings.ContainsAny(pattern, "{}") {
			if got, err := ExpandPath(pattern, facts); err != nil || got != pattern {
				t.Errorf("ExpandPath(%q) = %q, %v", pattern, got, err)
			}
		}
		for _, m := range []mode{modeText, modePath, modeGlob} {
			_, faults := scan(pattern, m)
			for _, fault := range faults {
				if fault.Offset < 0 || fault.Offset > len(pattern) {
					t.Errorf("fault at %d of %q", fault.Offset, pattern)
				}
			}
			if _, err := expand(pattern, facts, m); (err == nil) != (len(faults) == 0) && step != "" && len(faults) > 0 {
				t.Errorf("expand(%q): %v, faults %v", pattern, err, faults)
			}
		}
		if step != "" {
			if got, err := ExpandGlob("{step}", facts); err != nil || unescape(got) != plain(step) || hasMeta(got) {
				t.Errorf("the step %q became the glob %q, %v", step, got, err)
			}
		}
	})
}
