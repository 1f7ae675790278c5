package layout

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// tail returns where the rows of one cell end that continue a table below its last row: in one of its columns, and as far apart as its rows
// are. Text that follows at that distance is none of them.
func tail(rows [][]Line, from, end int) int {
	if end-from < 3 {
		return end
	}
	last := end - 1
	for last > from+1 && len(fields(rows[last])) < 2 {
		last--
	}
	step, columns := pitch(rows[last-1], rows[last]), fields(rows[last])
	to := end
	for to < len(rows) && len(rows[to]) == 1 && keepsTo(columns, rows[to][0]) && math.Abs(pitch(rows[to-1], rows[to])-step) < 0.1*columns[0].Size {
		to++
	}
	if to < len(rows) && pitch(rows[to-1], rows[to]) < 1.2*step {
		return end
	}
	return to
}

// keepsTo reports whether a line is set like one of the cells of the row above, and stays in its column.
func keepsTo(row []Line, l Line) bool {
	for i, o := range row {
		if !same(o.Box.X0, l.Box.X0) && !same(o.Box.X1, l.Box.X1) || !same(o.Size, l.Size) || o.Bold != l.Bold {
			continue
		}
		return (i == 0 || row[i-1].Box.X1 < l.Box.X0) && (i+1 == len(row) || l.Box.X1 < row[i+1].Box.X0-o.Size)
	}
	return false
}

// ending is the last rows of a sheet, if they have one cell each, and all rows above have more and are as far apart.
type ending struct {
	sheet
	first int // of these rows; the number of all rows without any
}

func endingOf(s sheet) ending {
	from, n := max(s.head, 1), len(s.rows)
	first := n
	for first > 0 && filledCells(s.cells[first-1]) == 1 {
		first--
	}
	if first-from < 2 {
		return ending{s, n}
	}
	for i := from; i < n; i++ {
		if i < first && filledCells(s.cells[i]) < 2 || i > from && math.Abs(s.pitch(i)-s.pitch(n-1)) > 0.1*s.rows[i][0].Size {
			return ending{s, n}
		}
	}
	return ending{s, first}
}

// beginsAt reports whether row i is one of the last rows. Lines of a cell that wraps have no room for another word.
func (e ending) beginsAt(i int) bool {
	if i < e.first {
		return false
	}
	c := slices.IndexFunc(e.cells[i], func(cell []Line) bool { return len(cell) > 0 })
	first, above := e.cells[i][c][0], e.cells[i-1][c]
	word, _, _ := strings.Cut(first.Text, " ")
	switch {
	case len(above) == 0 || IsMark(word):
		return true
	case !beginsUpper(first.Text):
		return false
	}
	const narrow = 12 // sizes: no cell wraps at less, if no other cell does
	limit := e.extents[c].X0 + narrow*first.Size
	if c < len(e.gutters) {
		limit = e.gutters[c].to - first.Size
	}
	each := first.Box.width() / float64(max(first.runes(), 1))
	return above[len(above)-1].Box.X1+each*float64(utf8.RuneCountInString(word)+1) < limit
}

// totalsOf returns the first of the last rows that are a label and an amount in the last column, as below the items of an invoice; the number of all rows
// without any. No rule or space needs to be between them.
func totalsOf(s sheet) int {
	first, last := len(s.rows), s.columns()-1
	for last > 1 && first > max(s.head, 1) {
		row := s.cells[first-1]
		label := slices.IndexFunc(row, func(cell []Line) bool { return len(cell) > 0 })
		if filledCells(row) != 2 || label < 1 || len(row[label])*len(row[last]) != 1 || !isNumber(row[last][0].Text) ||
			isNumber(row[label][0].Text) || !beginsUpper(row[label][0].Text) {
			break
		}
		first--
	}
	return first
}
