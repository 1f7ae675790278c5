package layout

import (
	"slices"
	"strings"
	"unicode"
)

// RightToLeft reports whether a letter is of a script that is written from right to left.
func RightToLeft(r rune) bool {
	const first = '\u0591' // before it are most letters of most pages
	return r >= first && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
}

// MixedDirections reports whether a line of a page has words that run from right to left beside numbers or words that run from left to
// right, in an order that the places of the letters do not confirm. Renderers disagree about it.
func MixedDirections(page Page) bool {
	return slices.ContainsFunc(page.Lines, func(l Line) bool {
		return !l.Logical && strings.ContainsFunc(l.Text, RightToLeft) && strings.ContainsFunc(l.Text, func(r rune) bool {
			return unicode.IsDigit(r) || unicode.In(r, unicode.Latin)
		})
	})
}

// Leftwards reports whether most letters of lines are of scripts that are written from right to left.
func Leftwards(lines []Line) bool {
	all, toLeft := 0, 0
	for _, l := range lines {
		for _, r := range l.Text {
			if unicode.IsLetter(r) {
				all++
				if RightToLeft(r) {
					toLeft++
				}
			}
		}
	}
	return toLeft*2 > all
}

// mirrored returns a page whose text runs from right to left as if it ran from left to right, so that columns, rows and margins are found
// in their order. Other pages stay as they are.
func mirrored(lines []Line, page Page) ([]Line, Page) {
	if !Leftwards(lines) {
		return lines, page
	}
	turn := func(b Box) Box { return Box{page.Width - b.X1, b.Y0, page.Width - b.X0, b.Y1} }
	out := make([]Line, len(lines))
	for i, l := range lines {
		l.Box, l.Edges = turn(l.Box), nil
		out[i] = l
	}
	rules := make([]Box, len(page.Rules))
	for i, r := range page.Rules {
		rules[i] = turn(r)
	}
	tags := make([]Tag, len(page.Tags))
	for i, t := range page.Tags {
		t.Box = turn(t.Box)
		tags[i] = t
	}
	page.Rules, page.Tags = rules, tags
	return out, page
}

// uprightBox is around the lines that are upright.
func uprightBox(lines []Line) (box Box) {
	found := false
	for _, l := range lines {
		switch {
		case l.Turns != 0:
		case !found:
			box, found = l.Box, true
		default:
			box = box.join(l.Box)
		}
	}
	return box
}
