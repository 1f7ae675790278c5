package mupdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// closeBy is how far from its text a box to tick may be, in sizes of the type.
const closeBy = 2.0

// writeTicks writes boxes to tick into the lines beside them: before the text on their right, else behind the one on their left. A line of its
// own becomes an item of a list.
func writeTicks(page *layout.Page) {
	if page.Turned {
		return
	}
	// From the right, so that the places of the letters before stay.
	slices.SortFunc(page.Ticks, func(a, b layout.Tick) int {
		if a.Box.X0 > b.Box.X0 {
			return -1
		}
		return 1
	})
	for _, t := range page.Ticks {
		var line *layout.Line
		at, nearest, beside := 0, 0.0, 0
		for i := range page.Lines {
			l := &page.Lines[i]
			if middle := (t.Box.Y0 + t.Box.Y1) / 2; l.Turns != 0 || middle < l.Box.Y0 || middle > l.Box.Y1 {
				continue
			}
			beside++
			n, gap := gapTo(*l, t.Box)
			if gap <= closeBy*l.Size && (line == nil || gap < nearest) {
				line, at, nearest = l, n, gap
			}
		}
		if line == nil || !strings.ContainsFunc(line.Text, unicode.IsLetter) {
			continue
		}
		mark := "[ ]"
		if t.On {
			mark = "[x]"
		}
		alone := beside == 1 && at == 0 && !slices.ContainsFunc(page.Ticks, func(o layout.Tick) bool {
			return o != t && o.Box.Y0 < t.Box.Y1 && o.Box.Y1 > t.Box.Y0
		})
		switch {
		case alone:
			mark = "- " + mark + " "
		case at == utf8.RuneCountInString(line.Text):
			mark = " " + mark
		default:
			mark += " "
		}
		insert(line, at, mark, t.Box)
	}
}

// gapTo returns how far a box is from the letter of a line that follows it, and which that is; or from the end of the line, if none follows.
func gapTo(l layout.Line, box layout.Box) (at int, gap float64) {
	if l.Box.X1 <= box.X0+1 {
		return utf8.RuneCountInString(l.Text), max(0, box.X0-l.Box.X1) + 0.5*l.Size // text on the right is rather its own
	}
	if l.Box.X0 >= box.X0-1 { // it may begin with the blank that is left of a tick
		return 0, max(0, l.Box.X0-box.X1)
	}
	runes := []rune(l.Text)
	if len(l.Edges) == len(runes) {
		for i, x := range l.Edges {
			if runes[i] != ' ' && x >= box.X1-1 {
				return i, x - box.X1
			}
		}
	}
	return 0, closeBy*l.Size + 1
}

// insert puts a mark before a letter of a line.
func insert(l *layout.Line, at int, mark string, box layout.Box) {
	runes := []rune(l.Text)
	l.Text = string(runes[:at]) + mark + string(runes[at:])
	if len(l.Edges) == len(runes) {
		l.Edges = slices.Insert(l.Edges, at, slices.Repeat([]float64{box.X0}, utf8.RuneCountInString(mark))...)
	}
	if !slices.IsSorted(l.Edges) {
		l.Edges = nil
	}
	l.Glyphs = nil
	l.Box.X0, l.Box.X1 = min(l.Box.X0, box.X0), max(l.Box.X1, box.X1)
	l.Text = strings.TrimSpace(l.Text)
}
