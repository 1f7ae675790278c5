package doubt

import (
	"slices"
	"testing"
)

func TestWordsOf_joinsWhatLinesDivide(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"exam-\nple":           {"example"},
		"exam- \t\n ple":       {"example"},
		"exam\u00ad\nple":      {"example"},
		"exam\u2010\nple":      {"example"},
		"a line\nexam-\nple\n": {"a", "line", "example"},
		"exam-\n\nple":         {"exam", "ple"},
		"exam-\nPle":           {"exam", "ple"},
		"exam-ple\nend":        {"exam", "ple", "end"},
	} {
		if got := wordsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                             "plain",
		"see [this](https://a.example) now": "see [this  now",
		"a[i](x y) < b] \\n":                "a[i](x y) < b] \\n",
		"x<br>y</td>z":                      "x y z",
		"<a <b>":                            "<a  ",
		`\frac{1}{2}\`:                      ` {1}{2}\`,
		"](](a)":                            "]( ",
	} {
		if got := seen(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
