package layout

import (
	"math"
	"slices"
)

// names is a sheet whose head is read: names of columns, and names over several of them.
type names struct{ sheet }

// headCells joins the lines of the head: names over several columns make rows, and the names below them another. A name with nothing
// above goes into the first row.
func (s names) headCells() [][][]Line {
	if s.head < 2 {
		return nil
	}
	var out [][][]Line
	used := make([]int, s.columns())  // rows that each column has
	level := make([]int, s.columns()) // the row where its next line goes
	over := make([]Line, s.columns()) // the name above that reaches over several columns
	for _, row := range s.cells[:s.head] {
		for _, l := range slices.Concat(row...) {
			first, last := s.reach(l)
			at := level[first]
			if last > first {
				at = slices.Max(used[first : last+1])
				if before := over[first]; before.Text != "" && l.base()-before.base() < 1.4*l.Size && s.sameReach(before, l) {
					at = level[first] - 1 // the next line of a name
				}
			}
			for c := first; c <= last; c++ {
				used[c] = max(used[c], at+1)
				if last > first {
					level[c], over[c] = at+1, l
				}
			}
			for len(out) <= at {
				out = append(out, make([][]Line, s.columns()))
			}
			out[at][first] = append(out[at][first], l)
		}
	}
	return out
}

// reach returns the columns that a name in the head covers: those of the rule below it if it has one for itself, else those that it
// is above. It does not reach over a column that has a name beside it.
func (s names) reach(l Line) (first, last int) {
	first = s.column(l)
	last = first
	for c := range s.extents {
		if e := s.extents[c]; e.X1 > e.X0 && e.X0 < l.Box.X1-1 && e.X1 > l.Box.X0+1 {
			last = max(last, c)
		}
	}
	if over := l.Box.X1 > s.extents[first].X0 && l.Box.X0 < s.extents[first].X1; !over && last == first && first+1 < s.columns() {
		last++ // between two columns
	}
	if last == first {
		first, last = s.overGutter(l, first)
	}
	left, right := l.Box.X0, l.Box.X1 // of the rule below
	for _, r := range s.rules {
		if r.width() < 0.9*s.box.width() && r.Y0 >= l.base() && r.Y0 < l.Box.Y1+0.9*l.Size && r.X0 <= l.Box.X0+2 && r.X1 >= l.Box.X1-2 {
			left, right = r.X0, r.X1
		}
	}
	from, to := first, last
	for c, e := range s.extents {
		if min(e.X1, right)-max(e.X0, left) > 0.5*e.width() && e.width() > 0 {
			from, to = min(from, c), max(to, c)
		}
	}
	for _, row := range s.rows[:s.head] {
		if math.Abs(row[0].base()-l.base()) > 0.3*l.Size {
			continue
		}
		for _, o := range row {
			if o.Box.X0 > l.Box.X1 {
				at := columnAt(s.gutters, o.Box.X0+0.5)
				if last = min(last, max(first, at-1)); at <= to {
					from, to = first, last
				}
			} else if o.Box.X1 < l.Box.X0 && columnAt(s.gutters, o.Box.X1-0.5) >= from {
				from, to = first, last
			}
		}
	}
	return from, max(to, last)
}

// overGutter returns the columns of a name whose middle is between the cells of two columns: both, if each has a name below and the other one has none
// on its level.
func (s names) overGutter(l Line, c int) (first, last int) {
	var cells []Line // of the column's body
	for _, row := range s.cells[s.head:] {
		cells = append(cells, row[c]...)
	}
	if len(cells) == 0 {
		return c, c
	}
	first, last = c, c
	switch box, middle := boxOf(cells), (l.Box.X0+l.Box.X1)/2; {
	case middle > box.X1 && c+1 < s.columns():
		last++
	case middle < box.X0 && c > 1:
		first--
	default:
		return c, c
	}
	below := false
	for i, row := range s.cells[:s.head] {
		switch base := s.rows[i][0].base(); {
		case math.Abs(base-l.base()) < 0.3*l.Size && len(row[first+last-c]) > 0:
			return c, c
		case base > l.base():
			below = below || len(row[first]) > 0 && len(row[last]) > 0
			if slices.ContainsFunc(row[c], func(o Line) bool { return inLineWith(l.Box, o.Box, 0.4*l.Size) }) {
				return c, c // lines of one name
			}
		}
	}
	if !below {
		return c, c
	}
	return first, last
}

// inLineWith reports whether two boxes begin, end or have their middle at one place.
func inLineWith(a, b Box, near float64) bool {
	return math.Abs(a.X0-b.X0) < near || math.Abs(a.X1-b.X1) < near || math.Abs(a.X0+a.X1-b.X0-b.X1) < 2*near
}

func (s names) sameReach(a, b Line) bool {
	a0, a1 := s.reach(a)
	b0, b1 := s.reach(b)
	return a0 == b0 && a1 == b1
}
