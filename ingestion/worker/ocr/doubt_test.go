package ocr

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// A number that is unsure makes a good page doubtful, because nobody sees a wrong digit. The doubt names a few.
func TestDoubts_namesNumbers(t *testing.T) {
	t.Parallel()
	page := func(of ...Word) (words []Word) {
		for range 60 {
			words = append(words, Word{Text: "reading", Confidence: 95})
		}
		return append(words, of...)
	}
	number := func(text string, confidence float64) Word { return Word{Text: text, Confidence: confidence} }
	for name, c := range map[string]struct {
		words []Word
		want  string
	}{
		"sure":       {page(number("26.518,9", 82), number("14", 56)), ""},
		"one":        {page(number("26.5189", 54)), "little confidence: 26.5189"},
		"many":       {page(number("1", 54), number("2", 9), number("3", 54), number("4", 54), number("5", 54), number("6", 54)), "1 and 2 and 3 and 4 and 2 more"},
		"hardly":     {page(Word{Text: "5", Confidence: 56}, Word{Text: ")", Confidence: 20}), "confidence: )"},
		"a line's":   {page(Word{Text: "•", Confidence: 20, Line: 1}), ""},
		"a word":     {page(number("gutter", 54)), ""},
		"long words": {page(number(strings.Repeat("1", 300), 54)), "11"},
	} {
		got := doubt.Words(attempt{}.doubts(c.words, 93, version{}))
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
