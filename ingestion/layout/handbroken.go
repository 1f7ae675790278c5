package layout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// brokenByHand reports whether the lines of a paragraph end where somebody ended them, as in an address or a poem: the word that begins the next
// line would have fitted, and lines begin with capitals and numbers. A program that fills lines leaves no such room, but beside a figure it seems to.
// Short lines that all begin so need no room if there are four, or three with a number: prose has none.
func brokenByHand(lines []Line) bool {
	const most, short = 60, 30 // lines of a stanza; letters of a line
	if len(lines) < 2 || len(lines) > most {
		return false
	}
	box, longest := boxOf(lines), lines[0].runes()
	begin, room, numbers := 0, 0, strings.ContainsFunc(lines[0].Text, unicode.IsDigit)
	for i, l := range lines[1:] {
		before := lines[i]
		if l.base()-before.base() < 0.5*l.Size || l.drawn > 0 || l.latex != "" || before.latex != "" || strings.TrimRight(before.Text, hyphens) != before.Text {
			return false
		}
		longest, numbers = max(longest, l.runes()), numbers || strings.ContainsFunc(l.Text, unicode.IsDigit)
		if beginsVerse(l.Text, len(lines) > 2) {
			begin++
		}
		if roomIn(box, before) > widthOfFirst(l)+0.8*l.Size {
			room++
		}
	}
	breaks := len(lines) - 1
	if begin == breaks && (longest <= short && numbers && breaks > 1 || breaks > 2) {
		return longest <= short || 3*room >= breaks
	}
	return 2*room >= breaks && 3*begin >= 2*breaks
}

// beginsVerse reports whether a line begins with a capital, or with a digit if numbers may. Text in capitals shows nothing.
func beginsVerse(text string, numbers bool) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `"'“‘(«¿¡+`))
	return unicode.IsUpper(first) && strings.ContainsFunc(text, unicode.IsLower) || numbers && unicode.IsDigit(first)
}

// roomIn returns how much wider a line could be in the box of its paragraph, which is set to the left, to the right or to the middle.
func roomIn(box Box, l Line) float64 {
	left, right := l.Box.X0-box.X0, box.X1-l.Box.X1
	if right < 0.1*l.Size || math.Abs(left-right) < 0.5*l.Size {
		return left + right
	}
	return right
}

// widthOfFirst is the width of the first word.
func widthOfFirst(l Line) float64 {
	n := utf8.RuneCountInString(l.Text)
	word, _, _ := strings.Cut(l.Text, " ")
	return l.edge(utf8.RuneCountInString(word), n) - l.Box.X0
}
