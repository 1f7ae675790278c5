package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// A hostile note is read, or refused, at once: each of these took from a second to two minutes.
func TestParse_hostileNotes(t *testing.T) {
	t.Parallel()
	many := func(text string, n int) string { return "## A\n" + strings.Repeat(text, n/len(text)) }
	const size = 400 << 10
	var steps strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&steps, "## Step %d\nx\n", i)
	}
	for _, tt := range []struct {
		name, text, want string
	}{
		{"brackets", many("[", size), ""},
		{"links that do not close", many("[a](", size), ""},
		{"pictures that do not close", many("![", size), ""},
		{"emphasis", many("*a ", size), ""},
		{"quotes", many(">", size), "opens more than 100 quotes or lists"},
		{"lists", many("- ", size), "opens more than 100 quotes or lists"},
		{"definitions", many("[a]: b\n", size), "more than 500 lines start with a bracket"},
		{"definitions in a quote", many("> [a]: b\n", size), "more than 500 lines start with a bracket"},
		{"inputs", many("@input file: a\n", size), "the step has 27306 directives; at most 300 are allowed"},
		{"inputs of many steps", strings.Repeat(many("@input file: a\n", 200*15), 20), "the workflow has more than 2000 directives"},
		{"steps", steps.String(), "the workflow has more than 500 steps"},
		{"properties", "---\na: " + strings.Repeat("[", size) + "\n---\n## A\nx\n", "exceeded max depth"},
		{"a large note", strings.Repeat("x", MaxSize+1), "a workflow may have at most 1048576"},
	} {
		_, list := Parse("w", "w.md", []byte(tt.text))
		text := ""
		for _, d := range list {
			text += d.String() + "\n"
		}
		if tt.want == "" && diag.HasErrors(list) || !strings.Contains(text, tt.want) {
			t.Errorf("%s: got %.500s, want %q", tt.name, text, tt.want)
		}
	}
}
