package directives

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// apply makes edits, which do not overlap, to lines.
func apply(text string, edits []diag.Edit) string {
	lines := strings.Split(text, "\n")
	offset := func(line, column int) int {
		n := 0
		for _, l := range lines[:line-1] {
			n += len(l) + 1
		}
		return n + len(string([]rune(lines[line-1])[:column-1]))
	}
	edits = slices.Clone(edits)
	slices.Reverse(edits)
	for _, e := range edits {
		text = text[:offset(e.Line, e.Column)] + e.New + text[offset(e.EndLine, e.EndColumn):]
	}
	return text
}

// mended applies the edits of every diagnostic until none is left.
func mended(t *testing.T, text string) string {
	t.Helper()
	for range 10 {
		_, faults := read(text)
		i := slices.IndexFunc(faults, func(d diag.Diagnostic) bool { return len(d.Edits) > 0 })
		if i < 0 {
			return text
		}
		text = apply(text, faults[i].Edits)
	}
	t.Errorf("edits never end: %q", text)
	return text
}

func TestDiagnostics_editsMend(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"@inptu file: a":                                           "@input file: a",
		"@Modell: sonnet":                                          "@model: sonnet",
		"@model=gpt":                                               "@model gpt",
		"  @model==gpt":                                            "  @model gpt",
		"@output\"file: a\"":                                       "@output \"file: a\"",
		"@input file: ä (requird, hed=10)":                         "@input file: ä (required, head=10)",
		"@input file: a (Imges = Autoo)":                           "@input file: a (images = auto)",
		"@input file: a (head=1) (required)":                       "@input file: a (head=1, required)",
		"@input file: a (head=1)(required, tail=2)":                "@input file: a (head=1, required, tail=2)",
		"@input fiel: a":                                           "@input file: a",
		"@input notes/a (head=3)":                                  "@input file: notes/a (head=3)",
		"@output [[Log]]":                                          "@output file: [[Log]]",
		"@for_each Inbox/* (batch=2)":                              "@for_each file: Inbox/* (batch=2)",
		"@input file: ü\\b\\c":                                     "@input file: ü/b/c",
		"@input file: folder/":                                     "@input file: folder/*",
		"@input file: {tody}/{this_week}":                          "@input file: {today}/{this-week}",
		"@header {tomorow:dddd} is":                                "@header {tomorrow:dddd} is",
		"@write_mode apend":                                        "@write_mode append",
		"@write-mode sektion (heading=x)":                          "@write-mode section (heading=x)",
		"@run_on mondey, Fri, dayly":                               "@run_on monday, Fri, daily",
		"@when exist a":                                            "@when exists a",
		"@when exists not a":                                       "@when not exists a",
		"@when empty plan":                                         "@when empty variable: plan",
		"@when not nonempy variable: plan":                         "@when not nonempty variable: plan",
		"@budget max_images=5, max_pages=3":                        "@budget (max_images=5, max_pages=3)",
		"@budget (max_imges=5, when_exceeded=dorp_oldest)":         "@budget (max_images=5, when_exceeded=drop_oldest)",
		"@cache dayly":                                             "@cache daily",
		"@approve output":                                          "@approve outputs",
		"@input file: a (output=file: b, write_mode=repalce)":      "@input file: a (output=file: b, write_mode=replace)",
		"@tools read_chunks (outptu=discard)":                      "@tools read_chunks (output=discard)",
		"@foreach file: a/* (on-error=skipp)\n@input file: {item}": "@for_each file: a/* (on-error=skip)\n@input file: {item}",
		// In doubt a person decides.
		"@john please":                            "@john please",
		"@input context":                          "@input context",
		"@input file: a (xx=1)":                   "@input file: a (xx=1)",
		"@input file: /etc/passwd":                "@input file: /etc/passwd",
		"@output file: a/":                        "@output file: a/",
		"@cache 1":                                "@cache 1",
		"@budget 5 (max_images=5)":                "@budget 5 (max_images=5)",
		"@input file: a (output=file: b, w_mode)": "@input file: a (output=file: b, w_mode)",
		"@recent_runs 3":                          "@recent_runs 3",
		"@input \"notes/a\"":                      "@input \"notes/a\"",
	} {
		if got := mended(t, text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
