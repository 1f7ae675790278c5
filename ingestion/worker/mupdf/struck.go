package mupdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// struckMark is around words that are crossed out, as in documents of other kinds.
const struckMark = "~~"

// markStruck writes marks around the words that are crossed out.
func markStruck(page *layout.Page) {
	if page.Turned {
		return
	}
	// From the right, so that the places of the letters before stay.
	slices.SortFunc(page.Struck, func(a, b layout.Box) int { return cmp.Compare(b.X0, a.X0) })
	for _, s := range page.Struck {
		middle := (s.Y0 + s.Y1) / 2
		for i := range page.Lines {
			l := &page.Lines[i]
			if l.Turns != 0 || middle < l.Box.Y0 || middle > l.Box.Y1 {
				continue
			}
			if from, to := lettersIn(*l, s); marksWords(l.Text, from, to) {
				insert(l, to, struckMark, layout.Box{X0: s.X1, X1: s.X1})
				insert(l, from, struckMark, layout.Box{X0: s.X0, X1: s.X0})
				break
			}
		}
	}
}

// marksWords reports whether a part of a text has words, and no mark yet: some programs draw two lines.
func marksWords(text string, from, to int) bool {
	runes := []rune(text)
	part := string(runes[from:to])
	return strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) &&
		!strings.Contains(part, struckMark) && !strings.HasSuffix(string(runes[:from]), struckMark)
}

// lettersIn returns the letters of a line whose middles are within a box, without blanks at their ends.
func lettersIn(l layout.Line, box layout.Box) (from, to int) {
	runes := []rune(l.Text)
	if len(l.Edges) != len(runes) {
		if l.Box.X0 > box.X0-0.5*l.Size && l.Box.X1 < box.X1+0.5*l.Size { // nothing else is in the line
			return 0, len(runes)
		}
		return 0, 0
	}
	for i, r := range runes {
		right := l.Box.X1
		if i+1 < len(runes) {
			right = l.Edges[i+1]
		}
		if middle := (l.Edges[i] + right) / 2; unicode.IsSpace(r) || middle < box.X0 || middle > box.X1 {
			continue
		}
		if to == 0 {
			from = i
		}
		to = i + 1
	}
	return from, to
}
