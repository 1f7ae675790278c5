package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Letters are read as people see them, however a file places them.
func TestWorker_readsLettersAsPrinted(t *testing.T) {
	t.Parallel()
	var twice, beside []pdftest.Placed
	for i := range 4 {
		text, y := fmt.Sprintf("Bold by printing line %d twice.", i), 100+14*float64(i)
		twice = append(twice, pdftest.Placed{Text: text, X: 72, Y: y}, pdftest.Placed{Text: text, X: 72.3, Y: y})
	}
	for i := range 9 { // the exponent rises from the first column's line
		y := 100 + 14*float64(i)
		beside = append(beside,
			pdftest.Placed{Text: fmt.Sprintf("Left side %d of it grows as n", i), X: 72, Y: y},
			pdftest.Placed{Text: "k", X: 206, Y: y - 4, Size: 7},
			pdftest.Placed{Text: " if the page is long", X: 210, Y: y},
			pdftest.Placed{Text: fmt.Sprintf("Right side %d of it grows too, and", i), X: 320, Y: y})
	}
	spaced := []pdftest.Placed{{Text: "TABLE OF THE", X: 72, Y: 100, Spacing: 4}, {Text: "figures in it", X: 72, Y: 140, Spacing: 2.5}, {Text: "Plain words below", X: 72, Y: 180}}
	arabic := map[byte]string{'A': "لا", 'B': "س", 'C': "م", ' ': " "}                                                                        // salaam: its lam and alef are one glyph
	shadowed := []pdftest.Placed{{Text: "Sum of 53.7 in all", X: 72, Y: 100}, {Text: "53", X: 110.51, Y: 100}, {Text: "7", X: 125.8, Y: 100}} // its font has no stop
	for name, c := range map[string]struct {
		pdf  *pdftest.Builder
		want []string // in this order
		not  string
	}{
		"printed twice": {pdftest.New().PlacedPage(twice, nil), []string{"line 0", "line 1", "line 2", "line 3 twice."}, "line 0 twice. Bold by printing line 0"},
		"shadowed":      {pdftest.New().PlacedPage(shadowed, nil), []string{"Sum of 53.7 in all"}, "53 7"},
		"spaced":        {pdftest.New().PlacedPage(spaced, nil), []string{"TABLE OF THE", "figures in it", "Plain words below"}, ""},
		"exponents":     {pdftest.New().PlacedPage(beside, nil), []string{"Left side 0", "long Left side 8", "Right side 0", "and Right side 8"}, "|"},
		"a ligature":    {pdftest.New().Codes(arabic).PlacedPage([]pdftest.Placed{{Text: "CAB", X: 72, Y: 100, Coded: true}}, nil), []string{"سلام"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, c.pdf.Bytes(), extract.KindPDF)
			inTurn(t, ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown, c.not, c.want...)
		})
	}
}

// A page that lies on its side is read line by line, whichever way it is turned.
func TestWorker_readsPagesOnTheirSide(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("Line number %d of a paragraph that goes on", i))
	}
	for _, degrees := range []int{90, 180, 270} {
		t.Run(fmt.Sprint(degrees), func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, pdftest.New().TextPage(pdftest.Text(lines...)...).Rotated(degrees).Bytes(), extract.KindPDF)
			inTurn(t, ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown, "\n", lines...)
		})
	}
}

// inTurn fails unless the words stand in the text in this order, and not is nowhere.
func inTurn(t *testing.T, text, not string, words ...string) {
	t.Helper()
	rest := text
	for _, word := range words {
		_, after, ok := strings.Cut(rest, word)
		if !ok {
			t.Fatalf("%q is not behind the words before it:\n%s", word, text)
		}
		rest = after
	}
	if not != "" && strings.Contains(text, not) {
		t.Errorf("%q is in the text:\n%s", not, text)
	}
}
