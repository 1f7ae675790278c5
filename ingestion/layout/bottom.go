package layout

import (
	"math"
	"slices"
)

// bottoms is a sheet whose cells may be set at the bottom of their rows.
type bottoms struct{ sheet }

// begins returns where rows begin, and the first of them, if cells are set at the bottom of their rows, as spreadsheets do: those of one column have a line
// each, and those of every other column end on its level. Where all lines are equally far apart, cells at the top of their rows may end so too: then a line
// above the first row, or one that continues on the level of the column, shows which it is.
func (s bottoms) begins(from int) ([]bool, int) {
	for first := from; first >= 1 && s.mayBegin(first, from); first-- {
		var out []bool
		fewest := len(s.rows) + 1
		for key := range s.columns() { // lines of one cell pass for cells beside a column that has more in each
			if begins, n, ok := s.endingAt(key, first); ok && n < fewest {
				out, fewest = begins, n
			}
		}
		if out != nil {
			return out, first
		}
	}
	return nil, from
}

// mayBegin reports whether the lines from row first on, above the first numbers, may be of their row and not of the head: all columns have a name
// above, and these lines are not in columns of numbers.
func (s bottoms) mayBegin(first, head int) bool {
	for c := range s.columns() {
		named := slices.ContainsFunc(s.cells[:first], func(row [][]Line) bool { return len(row[c]) > 0 })
		if first < head && !named || s.numeric[c] && slices.ContainsFunc(s.cells[first:head], func(row [][]Line) bool { return len(row[c]) > 0 }) {
			return false
		}
	}
	return true
}

// endingAt returns where rows begin, and how many there are, if the cells of a column have a line each, from a row on, and all others end on its level.
func (s bottoms) endingAt(key, from int) (begins []bool, n int, ok bool) {
	keys := linesAt(s.cells, key, from)
	if len(keys) < 3 || keys[len(keys)-1].row != len(s.rows)-1 {
		return nil, 0, false
	}
	out := make([]bool, len(s.rows))
	for i, k := range keys {
		if i > 0 && (k.row == keys[i-1].row || k.base-keys[i-1].base < 0.9*k.size) || isMark(k.text) {
			return nil, 0, false
		}
		if out[from] = true; i > 0 {
			out[keys[i-1].row+1] = true
		}
	}
	above, level, several := 0, 0, 0
	for c := range s.columns() {
		lines := linesAt(s.cells, c, from)
		for i, k := range keys {
			n := 0
			for n < len(lines) && lines[n].base < k.base+0.15*k.size {
				n++
			}
			cell := lines[:n]
			lines = lines[n:]
			if n == 0 {
				continue
			}
			title := c == 0 && n > 1 && beginsUpper(cell[n-1].text) && filledCells(s.cells[cell[0].row]) == 1
			if title || !s.endsAt(cell, k) {
				return nil, 0, false
			}
			if n > 1 {
				several++
				if i == 0 {
					above++
				}
				if !beginsUpper(cell[n-1].text) && !s.smalls[c] {
					level++
				}
			}
		}
		if len(lines) > 0 {
			return nil, 0, false
		}
	}
	for i := from + 1; i < len(s.rows); i++ {
		if s.ruled[i] && !out[i] {
			return nil, 0, false
		}
	}
	return out, len(keys), several > 1 && (above > 0 || level > 0)
}

// endsAt reports whether the lines of a cell are text that ends on the level of a key, close to one another, and begins like a name.
func (s bottoms) endsAt(cell []lineAt, key lineAt) bool {
	last := cell[len(cell)-1]
	if math.Abs(last.base-key.base) > 0.15*key.size || len(cell) > 1 && (isNumber(last.text) || !beginsUpper(cell[0].text)) {
		return false
	}
	for i := 1; i < len(cell); i++ {
		if cell[i].base-cell[i-1].base > 1.6*key.size {
			return false
		}
	}
	return !slices.ContainsFunc(cell, func(l lineAt) bool { return len(cell) > 1 && isMark(l.text) })
}
