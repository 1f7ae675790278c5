package layout

import (
	"math"
	"slices"
	"strings"
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
	if left == l.Box.X0 && right == l.Box.X1 {
		first, last = s.overMany(l, first, last)
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

// overMany widens the columns of a name to those whose middle it is above, three or more, or with which it begins. Each has a name on one row below,
// and nothing above that.
func (s names) overMany(l Line, first, last int) (from, to int) {
	at := slices.IndexFunc(s.rows[:s.head], func(row []Line) bool { return row[0].base() > l.base()-0.3*l.Size })
	below := at + 1
	for below < s.head && (s.rows[below][0].base() < l.base()+0.5*l.Size || len(s.cells[below][first]) == 0 || len(s.cells[below][last]) == 0) {
		below++
	}
	if at < 0 || below >= s.head || !s.isFree(first, below, l) || !s.isFree(last, below, l) {
		return first, last
	}
	left, right := first, last
	for s.isFree(left-1, below, l) {
		left--
	}
	for s.isFree(right+1, below, l) {
		right++
	}
	if begin, end := s.beginning(l), s.untilNext(l, at, below, right); end > begin && s.areNamed(l, below, begin, end) {
		return begin, end
	}
	for wide := right - left; wide > 1; wide-- {
		for from := max(left, last-wide); from <= first && from+wide <= right; from++ {
			if s.middleOf(from, from+wide, l) && (s.areNamed(l, below, from, from+wide) || s.isRowAbove(l, below)) {
				return from, from + wide
			}
		}
	}
	return first, last
}

// isFree reports whether a column may be below a name: it has one of its own on a row of the head, and nothing else above.
func (s names) isFree(c, row int, l Line) bool {
	return c > 0 && c < s.columns() && len(s.cells[row][c]) > 0 && beginsUpper(s.cells[row][c][0].Text) &&
		!slices.ContainsFunc(s.cells[:row], func(above [][]Line) bool {
			return len(above[c]) > 0 && above[c][0].Box != l.Box && s.beginning(above[c][0]) <= c
		})
}

// beginning returns the column that a name is above, the second of two that it is between.
func (s names) beginning(l Line) int {
	c := s.column(l)
	if c+1 < s.columns() && l.Box.X0 > s.extents[c].X1 {
		c++
	}
	return c
}

// untilNext returns the last column before the next name of a row, at most right, if all its names begin where columns do and none of these is before the
// first name; else -1.
func (s names) untilNext(l Line, row, below, right int) (last int) {
	begun := false
	for _, o := range s.rows[row] {
		c := s.beginning(o)
		if c == 0 {
			continue
		}
		name := s.cells[below][c]
		if !begun && s.isFree(c-1, below, l) || len(name) == 0 || o.Box.X0 > name[0].Box.X0+0.4*l.Size {
			return -1
		}
		if begun = true; o.Box.X0 > l.Box.X1 {
			right = min(right, c-1)
		}
	}
	return right
}

// middleOf reports whether a line is at the middle of columns. Beside them is as much space as between them, at most.
func (s names) middleOf(first, last int, l Line) bool {
	space := 0.0
	for c := first; c < last; c++ {
		space = max(space, s.extents[c+1].X0-s.extents[c].X1)
	}
	left, right, near := s.extents[first].X0, s.extents[last].X1, 0.3*l.Size
	widerLeft, widerRight := max(left-space, s.extents[first-1].X1), right
	if last+1 < s.columns() {
		widerRight = min(right+space, s.extents[last+1].X0)
	}
	middle := l.Box.X0 + l.Box.X1
	return middle > widerLeft+right-2*near && middle < left+widerRight+2*near
}

// areNamed reports whether a line names columns, and does not begin the name below it: each has a name of its own, and those are years or numbered,
// or come again beside these, or the line is not set like the column's cells.
func (s names) areNamed(l Line, row, first, last int) bool {
	if slices.ContainsFunc(s.cells[row][first:last+1], func(cell []Line) bool { return len(cell) == 0 }) {
		return false
	}
	form, counted, again := digits.ReplaceAllString(s.cells[row][first][0].Text, "#"), true, false
	own := map[string]bool{}
	for _, cell := range s.cells[row][first : last+1] {
		if own[cell[0].Text] {
			return false
		}
		own[cell[0].Text] = true
		counted = counted && digits.ReplaceAllString(cell[0].Text, "#") == form
	}
	for _, cell := range slices.Concat(s.cells[row][:first], s.cells[row][last+1:]) {
		again = again || len(cell) > 0 && own[cell[0].Text]
	}
	return again || counted && strings.Contains(form, "#") || !s.inColumn(l, row)
}

// inColumn reports whether a line of the head is in line with the name below it, at the right if the cells of its column end together.
func (s names) inColumn(l Line, row int) bool {
	c := slices.IndexFunc(s.cells[row], func(cell []Line) bool { return len(cell) > 0 && overlap(cell[0].Box, l.Box) > 0 })
	if c < 0 {
		return false
	}
	name, together, apart := s.cells[row][c][0], true, false
	for _, cells := range s.cells[s.head:] {
		for _, o := range cells[c] {
			together = together && math.Abs(o.Box.X1-name.Box.X1) < 0.1*l.Size
			apart = apart || math.Abs(o.Box.X0-name.Box.X0) > 0.3*l.Size
		}
	}
	if together && apart {
		return math.Abs(l.Box.X1-name.Box.X1) < 0.2*l.Size
	}
	return inLineWith(l.Box, name.Box, 0.4*l.Size)
}

// isRowAbove reports whether a line is as far from the names below as the rows of the table are, and further than the lines of one name, or of another weight.
func (s names) isRowAbove(l Line, row int) bool {
	step := s.rows[row][0].base() - l.base()
	return l.Bold != s.rows[row][0].Bold || s.head+1 < len(s.rows) && step > 1.5*l.Size && step > 0.95*s.pitch(s.head+1)
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
