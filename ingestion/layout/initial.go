package layout

import (
	"math"
	"unicode"
)

// maxInitials is how many large letters of a page are looked at.
const maxInitials = 20

// withInitials joins large first letters, which go down over several lines, to the line beside their top.
func withInitials(lines []Line) []Line {
	gone := map[int]bool{}
	for i, initial := range lines {
		if len(gone) == maxInitials || !initial.isInitial() {
			continue
		}
		best, beside := -1, 0
		for j, l := range lines {
			if !initial.leads(l) {
				continue
			}
			if beside++; best < 0 || l.Box.Y0 < lines[best].Box.Y0 {
				best = j
			}
		}
		if beside < 2 { // a large letter, with a line of its own
			continue
		}
		first := &lines[best]
		first.Text, first.Edges, first.Glyphs = initial.Text+first.Text, nil, nil
		first.Box.X0 = initial.Box.X0
		for k := range first.spans {
			first.spans[k].from += initial.runes()
			first.spans[k].to += initial.runes()
		}
		gone[i] = true
	}
	if len(gone) == 0 {
		return lines
	}
	out := make([]Line, 0, len(lines))
	for i, l := range lines {
		if !gone[i] {
			out = append(out, l)
		}
	}
	return out
}

func (l Line) isInitial() bool {
	letters := []rune(l.Text)
	return len(letters) == 1 && unicode.IsUpper(letters[0]) && l.Turns == 0
}

// leads reports whether a line of text is beside a large letter: close to its right, within its height, and in much smaller type.
func (l Line) leads(o Line) bool {
	return l.Size > 1.7*o.Size && o.runes() > 12 && math.Abs(o.Box.X0-l.Box.X1) < 1.5*o.Size &&
		o.Box.Y0 > l.Box.Y0-0.5*o.Size && o.base() < l.Box.Y1+0.3*o.Size
}
