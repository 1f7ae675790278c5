package layout

import (
	"cmp"
	"slices"
)

// A column is overhung if that many lines touch what begins beside them, and that many reach into it, by at most so many times their size.
const (
	abutting       = 4
	overhanging    = 2
	widestOverhang = 3
)

// withoutOverhang ends lines before the column beside them. No text is printed over another one time and again from one place on, so the
// widths are wrong: the text below a scan is set in a font that is wider than the letters of the picture.
func withoutOverhang(lines []Line) []Line {
	for _, x := range overhung(lines) {
		for i, l := range lines {
			if end := x - l.Size; l.Turns == 0 && l.Box.X0 < end && l.Box.X1 > end && l.Box.X1 < x+widestOverhang*l.Size {
				lines[i].Box.X1, lines[i].Edges = end, nil
			}
		}
	}
	return lines
}

// overhung returns where columns begin that lines at their left reach into.
func overhung(lines []Line) (columns []float64) {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b Line) int { return cmp.Compare(a.Box.Y0, b.Box.Y0) })
	type edge struct{ x, over float64 }
	var edges []edge
	for i, l := range sorted {
		for _, o := range sorted[max(0, i-8):i] {
			left, right := l, o
			if left.Box.X0 > right.Box.X0 {
				left, right = right, left
			}
			over := left.Box.X1 - right.Box.X0
			level := overlapping(left.Box, right.Box) > 0.5*min(left.Box.height(), right.Box.height())
			if left.Turns == 0 && right.Turns == 0 && level && right.Box.X0-left.Box.X0 > 8*left.Size && over > -0.3*left.Size && over < widestOverhang*left.Size {
				edges = append(edges, edge{right.Box.X0, over / left.Size})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.x, b.x) })
	for from := 0; from < len(edges); {
		to, n := from, 0
		for ; to < len(edges) && same(edges[to].x, edges[from].x); to++ {
			if edges[to].over > 0.3 {
				n++
			}
		}
		if to-from >= abutting && n >= overhanging {
			columns = append(columns, edges[from].x)
		}
		from = to
	}
	return columns
}
