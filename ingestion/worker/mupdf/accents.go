package mupdf

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// accents are signs that TeX prints over or under a letter, and what they are as a part of it.
var accents = map[string]string{
	"´": "\u0301", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a", "¯": "\u0304", "˙": "\u0307", "˘": "\u0306", "˝": "\u030b",
	"¸": "\u0327", "˛": "\u0328",
}

func hasAccents(text string) bool {
	return strings.ContainsAny(text, "´¨ˆ˜ˇ˚¯˙˘˝¸˛")
}

// withAccents makes one letter of each accent and the letter over which it is printed, in the same font. What only follows it stays.
func withAccents(line *layout.Line, run []glyph, ends []int) ([]glyph, []int) {
	if !hasAccents(line.Text) {
		return run, ends
	}
	composed := map[int]string{} // by the number of the accent among the line's letters, or of the letter before it
	for i := 1; i < len(run); i++ {
		for _, p := range [][2]int{{i - 1, i}, {i, i - 1}} {
			accent, base := run[p[0]], run[p[1]]
			if one := together(accent, base); one != "" && ends[i]-ends[i-1] == 1 {
				composed[ends[i-1]-1] = one
				break
			}
		}
	}
	if len(composed) == 0 {
		return run, ends
	}
	var text strings.Builder
	at, skip := 0, false
	for _, r := range line.Text {
		if r == ' ' {
			if !skip {
				text.WriteRune(r)
			}
			continue
		}
		switch one, ok := composed[at]; {
		case skip:
			skip = false
		case ok:
			text.WriteString(one)
			skip = true
		default:
			text.WriteRune(r)
		}
		at++
	}
	line.Text = text.String()
	var outRun []glyph
	var outEnds []int
	gone := 0
	for i, g := range run {
		if i > 0 && composed[ends[i-1]-1] != "" {
			gone++
			outRun[len(outRun)-1].x = min(outRun[len(outRun)-1].x, g.x)
			continue
		}
		outRun, outEnds = append(outRun, g), append(outEnds, ends[i]-gone)
	}
	return outRun, outEnds
}

// together returns the letter that an accent and a letter make, or "" if they are two.
func together(accent, base glyph) string {
	mark, ok := accents[accent.text]
	if !ok || accent.font() != base.font() || accent.turns != base.turns {
		return ""
	}
	if off := accent.x - base.x; off < -0.25*base.size || off > 0.25*base.size || math.Abs(accent.y-base.y) > 0.5*base.size {
		return ""
	}
	letter := strings.NewReplacer("ı", "i", "ȷ", "j").Replace(base.text)
	one := layout.Normal(letter + mark)
	if utf8.RuneCountInString(letter) != 1 || utf8.RuneCountInString(one) != 1 {
		return ""
	}
	return one
}
