package main

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Words are crossed out by a line from their first letter to their last, through the middle of small letters. Other lines near words cross out
// nothing.
func TestStruck(t *testing.T) {
	t.Parallel()
	const text, wide, base = "The fee is 900 700 dollars.", 6.6, 100.0
	line := func(from, to int, above float64) pdftest.Rule {
		return pdftest.Rule{X0: 72 + wide*float64(from), X1: 72 + wide*float64(to), Y0: base - above, Y1: base - above}
	}
	for name, c := range map[string]struct {
		rules []pdftest.Rule
		fill  []pdftest.Rule
		want  string
	}{
		"a number":           {rules: []pdftest.Rule{line(11, 14, 3)}, want: "The fee is ~~900~~ 700 dollars."},
		"in two parts":       {rules: []pdftest.Rule{line(12, 14, 3), line(11, 12, 3)}, want: "The fee is ~~900~~ 700 dollars."},
		"by two lines":       {rules: []pdftest.Rule{line(11, 14, 2), line(11, 14, 4)}, want: "The fee is ~~900~~ 700 dollars."},
		"all words":          {rules: []pdftest.Rule{line(0, 27, 3)}, want: "~~The fee is 900 700 dollars.~~"},
		"two words":          {rules: []pdftest.Rule{line(0, 3, 3), line(15, 18, 3)}, want: "~~The~~ fee is 900 ~~700~~ dollars."},
		"a thin bar":         {fill: []pdftest.Rule{{X0: 144.6, Y0: 96.7, X1: 164.4, Y1: 97.3}}, want: "The fee is ~~900~~ 700 dollars."},
		"below":              {rules: []pdftest.Rule{line(11, 14, -1.5)}, want: text},
		"above":              {rules: []pdftest.Rule{line(11, 14, 9)}, want: text},
		"behind a title":     {rules: []pdftest.Rule{{X0: 40, Y0: base - 3, X1: 550, Y1: base - 3}}, want: text},
		"through one letter": {rules: []pdftest.Rule{line(1, 2, 3)}, want: text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := pdftest.New().PlacedPage([]pdftest.Placed{{Text: text, X: 72, Y: base, Mono: true}}, c.rules).Fill(0, c.fill...)
			s, _ := opened(t, doc.Bytes(), extract.KindPDF)
			if got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
