package layout

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	leastColumn = 3         // rows in which a column begins, or ends, at one place
	leastSpace  = 0.3       // sizes between two cells; blanks of most fonts are narrower
	wideSpace   = 0.6       // sizes, before a number
	proseSpace  = 1.5       // sizes, before other cells; no blank of prose is as wide
	closeRows   = 2.5       // sizes between rows
	maxPlaces   = 2_000_000 // words times the places where columns may begin
)

// word is a word of a row.
type word struct {
	box    Box
	text   string
	space  float64 // sizes to the word before it in its row; 0 for the first
	line   Line    // which has it
	at     int     // its first rune in the line
	end    float64 // of the word before it
	number bool
	blank  float64 // the widest space between words of its line that are not numbers
	label  bool    // the word before it ends with a colon
	triple bool    // it may be the end of a number with a blank after the thousands
}

var triple = regexp.MustCompile(`^\d{3}(?:\D|$)`)

// wordsOf returns the words of a row. The end of a word before a blank that the renderer only supposes is estimated.
func wordsOf(row []Line) (out []word) {
	for _, l := range row {
		runes := []rune(l.Text)
		if len(l.Edges) != len(runes) || l.Mono() || l.latex != "" {
			out = append(out, word{box: l.Box, text: l.Text, line: l, number: isNumber(l.Text)})
			continue
		}
		for from := 0; from < len(runes); from++ {
			to := from
			for to < len(runes) && runes[to] != ' ' {
				to++
			}
			if to == from {
				continue
			}
			box, text := l.Box, string(runes[from:to])
			if box.X0 = l.Edges[from]; to < len(runes) {
				wide := 0.56
				if r := runes[to-1]; !unicode.IsDigit(r) && !unicode.IsLower(r) {
					wide = 0.8
				}
				box.X1 = min(l.Edges[to], l.Edges[to-1]+wide*l.Size)
			}
			out = append(out, word{box: box, text: text, line: l, at: from, number: isNumber(text) && !strings.HasSuffix(text, "–") || text == "-" || text == "–"})
			from = to
		}
	}
	for i := 1; i < len(out); i++ {
		w, before := &out[i], out[i-1]
		w.space = (w.box.X0 - before.box.X1) / w.line.Size
		w.end, w.label = before.box.X1, strings.HasSuffix(before.text, ":")
		w.triple = w.space < wideSpace && before.number && triple.MatchString(w.text)
	}
	for from := 0; from < len(out); {
		to, blank := from, 0.0
		for to < len(out) && out[to].key() == out[from].key() {
			if to > from && !out[to].number && !out[to-1].number && out[to].space < wideSpace {
				blank = max(blank, out[to].space)
			}
			to++
		}
		for ; from < to; from++ {
			out[from].blank = blank
		}
	}
	return out
}

// lineKey is what a line is known by.
type lineKey struct {
	box  Box
	text string
}

func (w word) key() lineKey { return lineKey{w.line.Box, w.line.Text} }

// place is where a word begins, or ends.
func (w word) place(right bool) float64 {
	if right {
		return w.box.X1
	}
	return w.box.X0
}

// cutAtColumns divides lines where a column of the rows around them begins: renderers take cells that are as close as words for one line. The
// cells of a column begin at one place, or are numbers that end there, in at least three rows and in half of those between them; nothing
// crosses the place, and some cells are further from what is before them than words are.
func cutAtColumns(lines []Line) []Line {
	rows := rowsOf(lines)
	words, all := make([][]word, len(rows)), 0
	for i, row := range rows {
		words[i] = wordsOf(row)
		all += len(words[i])
	}
	cuts := map[lineKey][]word{} // before which a line is cut
	for _, pass := range []struct{ right, sure bool }{{false, false}, {true, false}, {false, true}} {
		right, least := pass.right, wideSpace
		if pass.sure { // there are columns: further ones may be as close everywhere
			least = leastSpace
		}
		var xs []float64
		for _, w := range slices.Concat(words...) {
			if w.space >= least && (!pass.sure || w.number) {
				xs = append(xs, w.place(right))
			}
		}
		slices.Sort(xs)
		xs = slices.CompactFunc(xs, same)
		if len(xs)*all > maxPlaces {
			return lines
		}
		for _, x := range xs {
			for from := 0; from < len(rows); {
				var cells []word
				first, last, to := -1, -1, from
				for ; to < len(rows) && (to == from || pitch(rows[to-1], rows[to]) <= closeRows*rows[to][0].Size); to++ {
					at, free := cellAt(words[to], x, right)
					if !free {
						break
					}
					if at < 0 {
						continue
					}
					if cells, last = append(cells, words[to][at]), to; first < 0 {
						first = to
					}
				}
				if from = max(to, from+1); len(cells) < leastColumn || len(cells)*2 < last-first+1 {
					continue
				}
				beside := 0 // rows that are divided elsewhere
				for _, w := range cells {
					if pass.sure && len(cuts[w.key()]) > 0 {
						beside++
					}
				}
				if !isColumn(cells, right, beside*3 >= 2*len(cells)) {
					continue
				}
				for _, w := range cells {
					if w.at > 0 && (w.number || !right) {
						cuts[w.key()] = append(cuts[w.key()], w)
					}
				}
			}
		}
	}
	var out []Line
	for _, l := range lines {
		places, runes := cuts[lineKey{l.Box, l.Text}], []rune(l.Text)
		slices.SortFunc(places, func(a, b word) int { return cmp.Compare(b.at, a.at) })
		at := len(out)
		for _, w := range slices.CompactFunc(places, func(a, b word) bool { return a.at == b.at }) {
			out = slices.Insert(out, at, l.slice(runes, w.at, len(runes)))
			l, runes = l.slice(runes, 0, w.at-1), runes[:w.at-1]
			l.Box.X1 = w.end
		}
		out = slices.Insert(out, at, l)
	}
	return out
}

// cellAt returns the word of a row that begins, or ends, at x; or -1. The place is not free if a word crosses it, or is as near to the one before
// as words of a line are.
func cellAt(words []word, x float64, right bool) (at int, free bool) {
	at = -1
	for i, w := range words {
		switch {
		case same(w.place(right), x):
			if i > 0 && w.space < max(leastSpace, 1.1*w.blank) || w.triple {
				return -1, false
			}
			at = i
		case w.box.X0 < x && w.box.X1 > x:
			return -1, false
		}
	}
	return at, true
}

// isColumn reports whether words at one place are the cells of a column, and no words of running lines. It is sure where most of the rows are
// divided elsewhere.
func isColumn(cells []word, right, sure bool) bool {
	numbers, wide, apart, labels := 0, 0, 0, false
	for _, w := range cells {
		if w.number {
			numbers++
		}
		if w.space >= wideSpace {
			wide++
		}
		if w.space >= proseSpace {
			apart++
		}
		labels = labels || w.label
	}
	if numbers >= leastColumn && numbers*3 >= 2*len(cells) {
		return wide > 0 || sure
	}
	return !right && !labels && apart >= 2 && apart*3 >= len(cells)
}
