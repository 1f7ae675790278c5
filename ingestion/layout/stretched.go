package layout

import (
	"math"
	"slices"
)

// widestSpace is how wide a word space of a stretched line is at most, in sizes of the type.
const widestSpace = 2.5

// withStretched joins the words of lines that are stretched to both edges of their paragraph, where each space is as wide as a gap. They are as
// wide as the line above or below, begin and end where it does, and their spaces are alike.
func withStretched(lines []Line) []Line {
	out := make([]Line, 0, len(lines))
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && follows(lines[to-1], lines[to]) {
			to++
		}
		run := lines[from:to]
		beside := slices.Concat(lines[max(0, from-1):from], lines[to:min(to+1, len(lines))])
		if len(run) < 2 || !alike(run) || !slices.ContainsFunc(beside, func(l Line) bool { return frames(l, run) }) {
			out = append(out, run...)
		} else {
			joined := run[0]
			for _, l := range run[1:] {
				joined = joined.with(l)
			}
			out = append(out, joined)
		}
		from = to
	}
	for i := range out {
		out[i].at = i
	}
	return out
}

// follows reports whether the next line of the file is on the same baseline, to the right.
func follows(l, next Line) bool {
	gap := next.Box.X0 - l.Box.X1
	return l.Edges != nil && next.Edges != nil && l.Turns == 0 && next.Turns == 0 && gap > 0 && gap < widestSpace*l.Size &&
		math.Abs(l.base()-next.base()) < 0.1*l.Size && same(l.Size, next.Size)
}

// alike reports whether the gaps between lines are about as wide as one another; one alone has to be narrow.
func alike(run []Line) bool {
	narrow, wide := math.Inf(1), 0.0
	for i := 1; i < len(run); i++ {
		gap := run[i].Box.X0 - run[i-1].Box.X1
		narrow, wide = min(narrow, gap), max(wide, gap)
	}
	if len(run) == 2 {
		return wide < 1.2*run[0].Size
	}
	return wide-narrow < 0.35*run[0].Size
}

// frames reports whether a line of prose has the edges of a row, and is the one above or below.
func frames(l Line, row []Line) bool {
	first, last := row[0], row[len(row)-1]
	return l.runes() > 25 && same(l.Size, first.Size) && math.Abs(l.base()-first.base()) < 2*l.Size &&
		math.Abs(l.Box.X0-first.Box.X0) < 1 && math.Abs(l.Box.X1-last.Box.X1) < 1
}
