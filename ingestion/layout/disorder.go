package layout

import (
	"cmp"
	"slices"
)

// Limits of a doubt about the order: lines of this length, that many of them, the share of them that the file continues with, how many lines
// may be left out there, and the share that is in each other's place.
const (
	longLine      = 12
	disorderLines = 12
	inFileOrder   = 0.5
	leftOut       = 3
	overprinted   = 0.3
)

// disorder returns why the order of a page's lines is doubtful, or "". The order of the file is a reason if it is neither this order nor the
// one from the top down, which says nothing about columns.
func disorder(items []item) string {
	var lines, long []Line
	for _, it := range items {
		if it.table != nil {
			continue
		}
		if lines = append(lines, it.line); it.line.runes() >= longLine {
			long = append(long, it.line)
		}
	}
	if over := overlaps(lines); len(lines) >= disorderLines && float64(over) > overprinted*float64(len(lines)) {
		return "lines are printed over one another"
	}
	if len(long) < disorderLines || agreement(long) >= inFileOrder {
		return ""
	}
	slices.SortStableFunc(long, func(a, b Line) int { return cmp.Or(cmp.Compare(a.base(), b.base()), cmp.Compare(a.Box.X0, b.Box.X0)) })
	if agreement(long) >= inFileOrder {
		return ""
	}
	return "the file has the text in another order than the page"
}

// agreement is the share of the lines that the file has next.
func agreement(lines []Line) float64 {
	n := 0
	for i := 1; i < len(lines); i++ {
		if step := lines[i].at - lines[i-1].at; step > 0 && step <= leftOut {
			n++
		}
	}
	return float64(n) / float64(len(lines)-1)
}

// overlaps counts lines that cover much of one that begins close above.
func overlaps(lines []Line) int {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b Line) int { return cmp.Compare(a.Box.Y0, b.Box.Y0) })
	n := 0
	for i, l := range sorted {
		for _, above := range sorted[max(0, i-8):i] {
			width, height := overlap(l.Box, above.Box), overlapping(l.Box, above.Box)
			if width > 0.3*min(l.Box.width(), above.Box.width()) && height > 0.5*min(l.Box.height(), above.Box.height()) {
				n++
				break
			}
		}
	}
	return n
}
