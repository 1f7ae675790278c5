package directives

import (
	"fmt"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// forEach reads one line of an @for_each.
func forEach(line string) (*ForEach, []diag.Diagnostic) {
	set, faults := read("@for_each " + line)
	return set.ForEach, faults
}

func TestForEach_parts(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]ForEach{
		"pages of [[Workbook]] (pending, window=20, overlap=1)":    {Parts: "pages", Window: 20, Overlap: 1, Target: Target{Scheme: "file", Path: "Workbook", Link: true}, Selection: Selection{Pending: true}},
		"Chapters of file: Imported/*/*.md (level=2)":              {Parts: "chapters", Level: 2, Target: Target{Scheme: "file", Path: "Imported/*/*.md"}},
		"sections of trigger":                                      {Parts: "sections", Target: Target{Scheme: "trigger"}},
		"pages of trigger (window=5, parallel=2)":                  {Parts: "pages", Window: 5, Parallel: 2, Target: Target{Scheme: "trigger"}},
		"pages of file: [[A b|c]] (window=5)":                      {Parts: "pages", Window: 5, Target: Target{Scheme: "file", Path: "A b", Link: true, Alias: "c"}},
		`pages of file: "Books (2024)/of mice.md"`:                 {Parts: "pages", Target: Target{Scheme: "file", Path: "Books (2024)/of mice.md", Literal: true}},
		"file: pages of [1].md":                                    {Target: Target{Scheme: "file", Path: "pages of [1].md"}},
		"pages  of   file: Imported/Of mice and men.md (window=3)": {Parts: "pages", Window: 3, Target: Target{Scheme: "file", Path: "Imported/Of mice and men.md"}},
	} {
		got, faults := forEach(line)
		if len(faults) > 0 || got == nil {
			t.Errorf("%s: %v", line, faults)
			continue
		}
		got.At, got.Target.At, got.Selection = diag.Position{}, diag.Position{}, Selection{Pending: got.Selection.Pending}
		if *got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, *got, want)
		}
	}
	for line, code := range map[string]string{
		"page of [[Workbook]]":                         CodePartWord,
		"files of [[Workbook]]":                        CodePartWord,
		"pages of [[Workbook]] (batch=3)":              CodePartBatch,
		"pages of [[Workbook]] (window=3, overlap=3)":  CodePartOverlap,
		"pages of [[Workbook]] (overlap=1)":            CodePartOverlap,
		"pages of variable: x":                         CodePartSource,
		"pages of [[Workbook#Heading]]":                CodeFragment,
		"pages of [[Workbook]] (level=2)":              CodeParamElsewhere,
		"chapters of [[Workbook]] (overlap=1)":         CodeParamElsewhere,
		"file: Inbox/*.md (window=2)":                  CodeParamElsewhere,
		"pages of [[Workbook":                          CodeQuoteOpen,
		"pages of Workbook":                            CodeNoScheme,
		"pages of [[Workbook]] (window=0)":             CodeParamValue,
		"sections of [[Workbook]] (level=7)":           CodeParamValue,
		"pages of [[Workbook]] (window=20, window=20)": CodeRepeatedParam,
	} {
		_, faults := forEach(line)
		if len(faults) == 0 || faults[0].Code != code {
			t.Errorf("%s: got %v, want %s", line, faults, code)
		}
	}
	// The place of a fault is that of the text.
	if _, faults := forEach("pages of [[Workbook#Heading]]"); len(faults) != 1 || faults[0].Column != 22 {
		t.Errorf("got %+v", faults)
	}
}

func TestPagesFor(t *testing.T) {
	t.Parallel()
	in := each(t, "file: Imported/Book/Book.md (pages={item}, required)")
	if in.PagesText != "{item}" || !in.Required {
		t.Fatalf("%+v", in)
	}
	for value, want := range map[string]string{
		"3-9": "[{3 9}]", "pages 12–20": "[{12 20}]", "p. 7": "[{7 7}]", "1-3, 9": "[{1 3} {9 9}]", "pp. 4 to 6 and 8": "[{4 6} {8 8}]",
	} {
		got, err := in.PagesFor(Facts{Item: value})
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("%q: got %v, %v, want %s", value, got, err, want)
		}
	}
	if _, err := in.PagesFor(Facts{Item: "chapter two"}); err == nil {
		t.Error("a chapter's name is no page")
	}
}
