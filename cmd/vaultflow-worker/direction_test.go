package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// helvetica has the widths of letters in thousandths of the size.
var helvetica = map[rune]float64{
	'A': 667, 'B': 667, 'C': 722, 'D': 722, 'E': 667, 'F': 611, 'G': 778, 'H': 722, 'I': 278, 'J': 500, 'K': 667, 'L': 556, 'M': 833, 'N': 722, 'O': 778,
	'P': 667, 'Q': 778, 'R': 722, 'S': 667, 'T': 611, 'U': 722, 'V': 667, 'W': 944, 'X': 667, 'Y': 667, 'Z': 611, 'c': 500, 'f': 278, 'i': 222, 'j': 222,
	'k': 500, 'l': 222, 'm': 833, 'r': 333, 's': 500, 't': 278, 'v': 500, 'w': 722, 'x': 500, 'y': 500, 'z': 500, '.': 278, ',': 278, '/': 278, '-': 333,
	':': 278, '(': 333, ')': 333, '%': 889, '+': 584, ' ': 278,
}

// script draws text from right to left in Helvetica: each letter that is not ASCII has a capital.
type script struct {
	codes  map[byte]string
	byText map[string]byte
	placed []pdftest.Placed
}

func newScript() *script {
	s := &script{map[byte]string{}, map[string]byte{}, nil}
	for c := byte(' '); c < 'A'; c++ {
		s.codes[c] = string(rune(c))
	}
	for c := byte('a'); c <= 'z'; c++ {
		s.codes[c] = string(rune(c))
	}
	return s
}

func (s *script) code(text string) byte {
	if len(text) == 1 {
		return text[0]
	}
	if _, ok := s.byText[text]; !ok {
		c := byte('A' + len(s.byText))
		s.byText[text], s.codes[c] = c, text
	}
	return s.byText[text]
}

// draw draws letters, given from left to right, so that they end at a place. A file in the order of reading has each letter from right to left by
// itself, and words and numbers from left to right; others have the line in one piece.
func (s *script) draw(letters []string, right, y float64, reading bool) {
	const size = 11
	x := right
	places := make([]pdftest.Placed, len(letters))
	var line strings.Builder
	for i := len(letters) - 1; i >= 0; i-- {
		c, width := s.code(letters[i]), 556.0
		if w, ok := helvetica[rune(c)]; ok {
			width = w
		}
		x -= width / 1000 * size
		places[i] = pdftest.Placed{Text: string(rune(c)), X: x, Y: y, Coded: true}
	}
	if !reading {
		for _, p := range places {
			line.WriteString(p.Text)
		}
		s.placed = append(s.placed, pdftest.Placed{Text: line.String(), X: x, Y: y, Coded: true})
		return
	}
	for end := len(places); end > 0; {
		from := end - 1
		for from > 0 && !unicode.IsUpper(rune(places[from].Text[0])) && !unicode.IsUpper(rune(places[from-1].Text[0])) {
			from--
		}
		s.placed = append(s.placed, places[from:end]...)
		end = from
	}
}

func (s *script) page() *pdftest.Builder {
	return pdftest.New().Codes(s.codes).PlacedPage(s.placed, nil)
}

// Lines that run from right to left are read as they were written, whichever order the file has them in, and are not doubtful.
func TestText_readsLinesFromTheRight(t *testing.T) {
	t.Parallel()
	forms := []string{"ﺮ", "ﻌ", "ﺴ", "ﻟ", "ﺍ"} // the forms that letters have within a word
	for name, c := range map[string]struct {
		lines [][]string // from left to right
		want  []string
	}{
		"hebrew": {
			[][]string{
				strings.Split(".םוי לכב ₪ 1,234.56 אוה ריחמה", ""), strings.Split("דבלב 12/03/2024 דע ףקת", ""), strings.Split("03-1234567 ןופלט", ""),
				strings.Split("החנה 50% םע", ""), strings.Split("שדח office suite 365 רצומ", ""), strings.Split(".(office) רצומה לע", ""), strings.Split("(אל) ןכ", ""),
			},
			[]string{"המחיר הוא 1,234.56 ₪ בכל יום.", "תקף עד 12/03/2024 בלבד", "טלפון 03-1234567", "עם 50% הנחה", "מוצר office suite 365 חדש", "על המוצר (office).", "כן (לא)"},
		},
		"arabic": {
			[][]string{
				append(strings.Split("1,234.56 ", ""), forms...), append(strings.Split("12/03/2024 ", ""), forms...), append(strings.Split("1234567-03 ", ""), forms...),
				append(strings.Split("%50 ", ""), forms...), slices.Concat(forms, strings.Split(" office ", ""), forms),
				{"م", "لا", "س", " ", "ﻡ", "ﻼ", "ﺳ"},
			},
			[]string{"السعر 1,234.56", "السعر 12/03/2024", "السعر 03-1234567", "السعر 50%", "السعر office السعر", "سلام سلام"},
		},
	} {
		for _, reading := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " as drawn", true: " as read"}[reading], func(t *testing.T) {
				t.Parallel()
				s := newScript()
				for i, line := range c.lines {
					s.draw(line, 500, 100+30*float64(i), reading)
				}
				session, _ := opened(t, s.page().Bytes(), extract.KindPDF)
				got := ask(t, session, extract.PageRequest{N: 1, Text: true}).Text
				inTurn(t, got.Markdown, "", c.want...)
				if len(got.Doubts) > 0 {
					t.Errorf("%+v\n%s", got.Doubts, got.Markdown)
				}
			})
		}
	}
}

// The first column of a table from right to left is the rightmost, and none joins its neighbour.
func TestText_readsTablesFromTheRight(t *testing.T) {
	t.Parallel()
	for _, reading := range []bool{false, true} {
		s := newScript()
		for i, row := range [][]string{{"טירפ", "תומכ", "םוכס"}, {"םחל", "2", "1,234.56"}, {"ןמש ןובס", "15", "-17.90"}, {"office רפס", "7", "50%"}, {"הנמ", "30", "9.00"}} {
			for n, right := range []float64{500, 350, 200} {
				s.draw(strings.Split(row[n], ""), right, 100+18*float64(i), reading)
			}
		}
		session, _ := opened(t, s.page().Bytes(), extract.KindPDF)
		got := ask(t, session, extract.PageRequest{N: 1, Text: true}).Text
		inTurn(t, got.Markdown, "", "| פריט | כמות | סכום |", "| לחם | 2 | 1,234.56 |", "| סבון שמן | 15 | -17.90 |", "| ספר office | 7 | 50% |", "| מנה | 30 | 9.00 |")
		if doubt.Has(got.Doubts, doubt.Order) || doubt.Has(got.Doubts, doubt.Table) {
			t.Errorf("%+v\n%s", got.Doubts, got.Markdown)
		}
	}
}

// What no program draws by the rules of Unicode is doubtful, and so is what only PDFium reads.
func TestText_doubtsContradictions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"בא 3 gb גד": true, "בא gb 3 גד": false} {
		s := newScript()
		s.draw(strings.Split(text, ""), 500, 100, false)
		session, _ := opened(t, s.page().Bytes(), extract.KindPDF)
		if got := ask(t, session, extract.PageRequest{N: 1, Text: true}).Text; doubt.Has(got.Doubts, doubt.Order) != want {
			t.Errorf("%q: %+v\n%s", text, got.Doubts, got.Markdown)
		}
		session, _ = mustOpen(t, s.page().Bytes(), extract.Open{WithoutMuPDF: true})
		if got := ask(t, session, extract.PageRequest{N: 1, Text: true}).Text; !doubt.Has(got.Doubts, doubt.Order) {
			t.Errorf("%q, with PDFium: %+v\n%s", text, got.Doubts, got.Markdown)
		}
	}
}
