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
