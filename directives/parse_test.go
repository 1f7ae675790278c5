package directives

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var here = diag.Position{File: "w.md", Line: 1, Column: 1}

// input parses the value of one @input, which must be without error.
func input(t *testing.T, value string) Input {
	t.Helper()
	in, faults := ParseInput(value)
	if diag.HasErrors(faults) {
		t.Fatalf("@input %s: %v", value, faults)
	}
	return in
}

func TestParse_valueAndParameters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, text string
		params     string // key=value, separated by |
	}{
		{"@model gpt", "gpt", ""},
		{"@model: gpt", "gpt", ""},
		{"@model:gpt", "gpt", ""},
		{"  @MODEL gpt  ", "gpt", ""},
		{"@run-on monday", "monday", ""},
		{"@input file: notes/a (2024 draft).md", "file: notes/a (2024 draft).md", ""},
		{"@input file: notes/a (2024 draft)", "file: notes/a (2024 draft)", ""},
		{"@input file: notes/with (2 parens) (refs_only)", "file: notes/with (2 parens)", "refs_only"},
		{"@input file: notes/a(required)", "file: notes/a", "required"},
		{"@input file: notes/a ( head = 10 , required , )", "file: notes/a", "head=10|required"},
		{`@input file: "notes/plan (required)"`, `file: "notes/plan (required)"`, ""},
		{`@input file: "notes/plan (required)" (head=2)`, `file: "notes/plan (required)"`, "head=2"},
		{`@input "file: notes/x (y)" (required)`, `"file: notes/x (y)"`, "required"},
		{"@input FILE: [[Plan|the (plan)]] (Refs-Only)", "FILE: [[Plan|the (plan)]]", "refs_only"},
		{"@input file: a (pages=1-20,25, images=auto)", "file: a", "pages=1-20,25|images=auto"},
		{"@input file: a (properties=status, due, required)", "file: a", "properties=status, due|required"},
		{`@input file: a (properties="a, b")`, "file: a", "properties=a, b"},
		{`@input file: a (output="file: b (c)", required)`, "file: a", "output=file: b (c)|required"},
		{"@input file: a (output=file: b (c).md)", "file: a", "output=file: b (c).md"},
		{"@input file: it's (required)", "file: it's", "required"},
		{"@header Plan (draft)", "Plan (draft)", ""},
		{"@header \"{today}\"", "\"{today}\"", ""},
		{"@input file: a ()", "file: a ()", ""},
	}
	for _, tt := range tests {
		list, faults := Parse([]string{tt.line}, here)
		if len(faults) > 0 || len(list) != 1 {
			t.Errorf("Parse(%q) = %d directives, faults %v", tt.line, len(list), faults)
			continue
		}
		var got []string
		for _, p := range list[0].Params {
			if p.Bare {
				got = append(got, p.Key)
			} else {
				got = append(got, p.Key+"="+p.Value)
			}
		}
		if list[0].Text != tt.text || strings.Join(got, "|") != tt.params {
			t.Errorf("Parse(%q) = %q (%s), want %q (%s)", tt.line, list[0].Text, strings.Join(got, "|"), tt.text, tt.params)
		}
	}
}

func TestParse_faultsHavePositions(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"@inptu file: a", "1:1 VF140"},
		{"@john please", "1:1 VF140"},
		{"@model", "1:7 VF142"},
		{"@model=gpt", "1:7 VF148"},
		{"@input file: a (hed=10)", "1:17 VF150"},
		{"@input file: äöü (hed=10)", "1:19 VF150"},
		{"@input file: a (draft)", "1:17 VF150"},
		{"@input file: a (head=1, head=2)", "1:25 VF151"},
		{"@input file: a (head=x)", "1:22 VF152"},
		{"@input file: a (head=-1)", "1:22 VF152"},
		{"@input file: a (required=maybe)", "1:26 VF152"},
		{"@input file: a (images=none)", "1:24 VF152"},
		{"@input file: a (as='x)", "1:20 VF153"},
		{`@input file: "a`, "1:14 VF153"},
		{"@input file: [[a", "1:14 VF153"},
		{`@input file: "a" b`, "1:18 VF154"},
		{"@input file: a (head=10, 2024 draft)", "1:26 VF155"},
		{"@input file: a (head=1) (required)", "1:16 VF156"},
		{"@input file: a (latest, pending)", "1:17 VF157"},
		{"@input file: d/{latest:2} (limit=3)", "1:16 VF157"},
		{"@input variable: a (pending)", "1:21 VF158"},
		{"@input notes/a", "1:8 VF160"},
		{"@output context", "1:9 VF160"},
		{"@input fiel: notes/a", "1:8 VF161"},
		{"@input file: /etc/passwd", "1:14 VF162"},
		{`@input file: C:\x`, "1:14 VF162"},
		{"@input file: https://example.org", "1:19 VF162"},
		{"@input file: a/../b", "1:16 VF163"},
		{`@input file: a\b`, "1:15 VF164"},
		{"@input file: a\x00b", "1:15 VF164"},
		{"@input file: a/.obsidian/b", "1:16 VF165"},
		{"@output file: .hidden/x", "1:15 VF165"},
		{"@output file: a.png", "1:16 VF167"},
		{"@input variable: a b", "1:18 VF169"},
		{`@input file: "notes/{today}"`, "1:15 VF170"},
		{"@input file: a/[b", "1:14 VF171"},
		{"@output file: a/*", "1:17 VF172"},
		{"@input file: notes/", "1:14 VF174"},
		{"@input file: {tody}", "1:14 VF175"},
		{"@header {tomorow}", "1:9 VF175"},
		{"@input file: a/{today", "1:16 VF176"},
		{"@output file: a}", "1:16 VF176"},
		{"@input file: {yesterday:3}", "1:14 VF177"},
		{"@output file: {step:YYYY}", "1:15 VF177"},
		{"@output file: {latest}", "1:15 VF178"},
		{"@output file: {item}", "1:15 VF178"},
		{"@header {today:Kalender YYYY}", "1:9 VF179"},
		{"@model a b", "1:8 VF190"},
		{"@model a (temperature=hot)", "1:23 VF152"},
		{"@model a (thinking=much)", "1:20 VF152"},
		{"@write_mode overwrite", "1:13 VF190"},
		{"@write_mode section", "1:13 VF159"},
		{"@write_mode append (heading=x)", "1:21 VF158"},
		{"@run_on mondey", "1:9 VF190"},
		{"@run_on monday, funday", "1:17 VF190"},
		{"@output file: a (scope=run)", "1:18 VF196"},
		{"@input file: a (scope=run)", "1:17 VF196"},
		{"@input file: a (write_mode=new)", "1:17 VF158"},
		{"@input file: a (output=file: ../x)", "1:30 VF163"},
		{"@input file: a (output=file: /x)", "1:30 VF162"},
		{"@input file: a (output=context)", "1:24 VF152"},
		{"@input file: a (lines=9-3)", "1:23 VF152"},
		{"@input file: a, file: b", "1:14 VF148"},
		{"@output file: a:b", "1:16 VF164"},
		{"@output file: a/b.", "1:17 VF164"},
	}
	for _, tt := range tests {
		list, faults := Parse([]string{tt.line}, here)
		_, more := Interpret(list)
		faults = append(faults, more...)
		got := make([]string, len(faults))
		for i, f := range faults {
			got[i] = strings.TrimPrefix(diag.Position{File: "", Line: f.Line, Column: f.Column}.String(), ":") + " " + f.Code
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q: got %v, want %s\n%v", tt.line, got, tt.want, faults)
		}
	}
}

func TestParse_reportsEveryFaultInOnePass(t *testing.T) {
	t.Parallel()
	lines := []string{"@input fiel: a", "", "@modl x", "@model a", "@model b", "@tool all", "@run_on never, funday"}
	list, faults := Parse(lines, diag.Position{File: "w.md", Line: 10, Column: 1})
	_, more := Interpret(list)
	var got []int
	for _, f := range diag.Sort(append(faults, more...)) {
		got = append(got, f.Line)
	}
	if want := []int{10, 12, 14, 15, 16}; !cmp.Equal(got, want) {
		t.Errorf("faults on lines %v, want %v", got, want)
	}
}

func TestInterpret_types(t *testing.T) {
	t.Parallel()
	noPlaces := cmpopts.IgnoreTypes(diag.Position{})
	tests := []struct {
		value string
		want  Input
	}{
		{"file: [[Plan#Goals|the plan]]", Input{Target: Target{Scheme: "file", Path: "Plan", Link: true, Fragment: "Goals", Alias: "the plan"}}},
		{"file: [[Plan#^block-id]]", Input{Target: Target{Scheme: "file", Path: "Plan", Link: true, Fragment: "^block-id"}}},
		{`file: [[E.jpg#a#b\|x]]`, Input{Target: Target{Scheme: "file", Path: "E.jpg", Link: true, Fragment: `a#b\|x`[:3], Alias: "x"}}},
		{"File: d/{latest:3}", Input{Target: Target{Scheme: "file", Path: "d/{latest:3}"}, Selection: Selection{Latest: true, Limit: 3}}},
		{"file: d/* (pending, limit=5, order=mtime, dir=desc)", Input{Target: Target{Scheme: "file", Path: "d/*"}, Selection: Selection{Pending: true, Limit: 5, Order: "mtime", Dir: "desc"}}},
		{"file: a (head=5, tail=6, lines=10-80, required=no, refs_only=1)", Input{Target: Target{Scheme: "file", Path: "a"}, Head: 5, Tail: 6, Lines: &Range{10, 80}, RefsOnly: true}},
		{"file: a.pdf (pages=1-20,25,30-)", Input{Target: Target{Scheme: "file", Path: "a.pdf"}, Pages: []Range{{1, 20}, {25, 25}, {30, 0}}}},
		{"file: a (properties)", Input{Target: Target{Scheme: "file", Path: "a"}, Properties: &Properties{}}},
		{"file: a (properties=x,y)", Input{Target: Target{Scheme: "file", Path: "a"}, Properties: &Properties{Keys: []string{"x", "y"}}}},
		{"file: a (images=ignore, comments=keep, embeds=ref, trust=untrusted, as=Book)", Input{Target: Target{Scheme: "file", Path: "a"}, Images: "ignore", Comments: "keep", Embeds: "ref", Trust: "untrusted", As: "Book"}},
		{"file: a (output=discard)", Input{Target: Target{Scheme: "file", Path: "a"}, Route: &Route{To: "discard"}}},
		{"file: a (output=variable: v, write_mode=replace, scope=workflow)", Input{Target: Target{Scheme: "file", Path: "a"}, Route: &Route{To: "variable", Target: &Target{Scheme: "variable", Path: "v"}, WriteMode: "replace", Scope: "workflow"}}},
		{"variable: v (scope=workflow)", Input{Target: Target{Scheme: "variable", Path: "v"}, Scope: "workflow"}},
		{"notes/a", Input{Target: Target{Scheme: "file", Path: "notes/a"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, input(t, tt.value), noPlaces); diff != "" {
			t.Errorf("@input %s (-want +got):\n%s", tt.value, diff)
		}
	}
}

func TestCut_separatesDirectivesFromPrompt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		lines      int // of the block, blank ones left out
		rest       string
		code       string
	}{
		{"plain", "\n@model a\n\n@run_on daily\n\nPrompt", 2, "\n\nPrompt", ""},
		{"no prompt", "@model a", 1, "", ""},
		{"no directive", "Prompt\n@john", 0, "\nPrompt\n@john", ""},
		{"escaped", `\@model is a word`, 0, "\n" + `\@model is a word`, ""},
		{"a number is no name", "@2x is prompt", 0, "\n@2x is prompt", ""},
		{"fenced", "```directives\n@model a\n```\nPrompt", 1, "\nPrompt", ""},
		{"tildes", "~~~ directives\n@model a\n~~~\nPrompt", 1, "\nPrompt", ""},
		{"mixed, fence first", "```directives\n@model a\n```\n@run_on daily\nPrompt", 1, "\nPrompt", CodeMixedBlock},
		{"mixed, lines first", "@model a\n```directives\n@run_on daily\n```\nPrompt", 1, "\nPrompt", CodeMixedBlock},
		{"open fence", "```directives\n@model a", 0, "", CodeFenceOpen},
		{"late", "Prompt\n@model a", 0, "\nPrompt\n@model a", CodeLateDirective},
		{"late in code", "Prompt\n```\n@model a\n```", 0, "\nPrompt\n```\n@model a\n```", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(tt.text, "\n")
			b, faults := Cut(lines, here)
			n := 0
			for _, l := range b.Lines {
				if strings.TrimSpace(l) != "" {
					n++
				}
			}
			rest := ""
			for _, l := range lines[b.Rest:] {
				rest += "\n" + l
			}
			code := ""
			if len(faults) == 1 {
				code = faults[0].Code
			}
			if n != tt.lines || strings.TrimLeft(rest, "\n") != strings.TrimLeft(tt.rest, "\n") || code != tt.code {
				t.Errorf("Cut(%q) = %d lines, rest %q, faults %v", tt.text, n, rest, faults)
			}
		})
	}
}

func TestCodes_areSortedCompleteAndUnique(t *testing.T) {
	t.Parallel()
	list := Codes()
	for i, c := range list {
		if i > 0 && list[i-1].Code >= c.Code {
			t.Errorf("%s stands after %s", c.Code, list[i-1].Code)
		}
		if c.Meaning == "" || c.Fix == "" || c.Severity == "" {
			t.Errorf("%s is incomplete: %+v", c.Code, c)
		}
	}
}
