package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A comb is a field of a form that has a box for each letter, or ticks between them.
const (
	combLetters = 3    // fewer are boxes to tick
	combPitch   = 3.0  // sizes from one letter to the next, at most
	combUneven  = 1.5  // times the usual distance: more is a box without a letter
	combBlank   = 4.0  // times the usual distance: more is another comb
	combHigh    = 3.0  // sizes; higher rules are those of a table
	maxCombs    = 2000 // letters, on a hostile page
)

// withCombs joins the letters of combs, which are a word or a number, and drops the rules between them, which are no columns'.
func withCombs(lines []Line, rules []Box) ([]Line, []Box) {
	var apart []Line
	heads := map[int]Line{} // of lines whose end is apart, such as a label before a comb
	for _, l := range lines {
		if head, tail := spelledEnd(l); tail.Text != "" {
			apart, heads[l.at] = append(apart, tail), head
		}
	}
	if len(apart) == 0 || len(apart) > maxCombs || len(rules) > maxRules {
		return lines, rules
	}
	down := merged(slices.DeleteFunc(slices.Clone(rules), func(r Box) bool { return r.width() > thick || r.height() <= r.width() }), true)
	pieces, inComb := map[int][]Line{}, map[int]bool{} // by the lines that they begin in
	for _, row := range rowsOf(apart) {
		var letters []Line
		for _, l := range row {
			letters = append(letters, singly(l)...)
		}
		slices.SortStableFunc(letters, func(a, b Line) int { return cmp.Compare(a.Box.X0, b.Box.X0) })
		walls := slices.DeleteFunc(slices.Clone(down), func(r Box) bool {
			base, size := row[0].base(), row[0].Size
			return r.height() > combHigh*size || r.Y0 > base+0.6*size || r.Y1 < base-0.8*size
		})
		for len(letters) > 0 {
			word, n, ok := combOf(letters, walls)
			if head := heads[letters[0].at]; ok && head.Text != "" && !wallBetween(walls, head.Box.X1, word.Box.X0) {
				n, ok = 1, false // the last letter of a sentence
			}
			if ok {
				for _, l := range letters[:n] {
					inComb[l.at] = true
				}
				rules = slices.DeleteFunc(slices.Clone(rules), func(r Box) bool {
					return r.height() > r.width() && r.height() <= combHigh*word.Size && r.Y1 > word.Box.Y0 && r.Y0 < word.Box.Y1 && r.X0 > word.Box.X0 && r.X1 < word.Box.X1
				})
				pieces[word.at] = append(pieces[word.at], word)
			} else {
				for _, l := range letters[:n] {
					pieces[l.at] = append(pieces[l.at], l)
				}
			}
			letters = letters[n:]
		}
	}
	var out []Line
	for _, l := range lines {
		if inComb[l.at] {
			if head := heads[l.at]; head.Text != "" {
				out = append(out, head)
			}
			out = append(out, pieces[l.at]...)
		} else {
			out = append(out, l)
		}
	}
	return out, rules
}

// spelledEnd divides a line before the letters, digits and signs, with nothing but blanks and empty boxes between them, that it ends with.
func spelledEnd(l Line) (head, tail Line) {
	text := strings.ReplaceAll(l.Text, "[ ]", "   ")
	runes := []rune(text)
	from := len(runes)
	for from > 0 {
		word := from
		for word > 0 && runes[word-1] == ' ' {
			word--
		}
		if word > 0 && (!spells(runes[word-1]) || word > 1 && runes[word-2] != ' ') {
			break
		}
		from = max(0, word-1)
	}
	if strings.TrimSpace(string(runes[from:])) == "" {
		return l, Line{}
	}
	for runes[from] == ' ' {
		from++
	}
	tail = l.slice(runes, from, len(runes))
	if words := len([]rune(strings.TrimRight(string(runes[:from]), " "))); words > 0 {
		head = l.slice(runes, 0, words)
	}
	return head, tail
}

func spells(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(",.-/:", r)
}

// wallBetween reports whether a rule stands between two places.
func wallBetween(walls []Box, from, to float64) bool {
	return slices.ContainsFunc(walls, func(r Box) bool { return r.X0 > from && r.X1 < to })
}

// singly returns the letters of a line, each as a line.
func singly(l Line) (out []Line) {
	runes := []rune(l.Text)
	for i, r := range runes {
		if r != ' ' {
			out = append(out, l.slice(runes, i, i+1))
		}
	}
	return out
}

func (b Box) middle() float64 { return (b.X0 + b.X1) / 2 }

// combOf returns how many letters on one baseline, from the first one on, have rules between them at most a few boxes apart, and the word that they
// are if that is a comb. A scale of numbers and a row of crosses are none.
func combOf(letters []Line, walls []Box) (word Line, n int, ok bool) {
	var steps []float64
	for i := 1; i < len(letters); i++ {
		from, to := letters[i-1].Box.middle(), letters[i].Box.middle()
		if to-from > combBlank*combPitch*letters[i].Size || !wallBetween(walls, from, to) {
			break
		}
		steps = append(steps, to-from)
	}
	if len(steps)+1 < combLetters {
		return Line{}, len(steps) + 1, false
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual := sorted[(len(sorted)-1)/2]
	word = letters[0]
	word.Edges, word.Glyphs = nil, nil
	counts, differ := strings.Contains("01", word.Text), false
	for n = 1; n <= len(steps) && steps[n-1] <= combBlank*usual; n++ {
		l := letters[n]
		if steps[n-1] > combUneven*usual {
			word.Text += " "
		}
		before, _ := utf8.DecodeRuneInString(letters[n-1].Text)
		now, _ := utf8.DecodeRuneInString(l.Text)
		counts, differ = counts && now == before+1, differ || now != before
		word.Text, word.Box = word.Text+l.Text, word.Box.join(l.Box)
	}
	return word, n, usual <= combPitch*word.Size && n >= combLetters && !counts && differ
}
