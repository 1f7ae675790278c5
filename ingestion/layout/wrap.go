package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// column is a column of a sheet, of which cells may have several lines.
type column struct {
	sheet
	at int
}

// limit returns where lines of the column wrap: where several of them end that others may continue, all at the top or all at the bottom of their rows, or
// before the next column.
func (s column) limit() float64 {
	c := s.at
	e, ends := s.extents[c], map[int]int{}
	for _, row := range s.cells {
		for _, l := range row[c] {
			if c < len(s.gutters) && l.Box.X1 < s.gutters[c].to {
				e.X1 = max(e.X1, l.Box.X1) // it is wider than the others
			}
		}
	}
	for i, row := range s.cells {
		for _, l := range row[c] {
			if l.Box.X1 > e.X1-min(2*l.Size, 0.25*e.width()) && l.Box.X1 <= e.X1 && !isNumber(l.Text) {
				ends[s.goesOn(i)]++
			}
		}
	}
	if c == len(s.gutters) {
		return e.X1
	}
	next := s.gutters[c].to
	if ends[0]+max(ends[1], ends[-1]) > 1 && next-e.X1 < e.width() { // nobody leaves more room than is used
		return e.X1
	}
	return max(e.X1, next-s.rows[0][0].Size)
}

// never is what goesOn returns for a cell that does not continue.
const never = 2

// goesOn reports how the cell of the column in row i may continue in the next one: 0 if that begins with a small letter here, -1 or 1 if it has fewer
// or more cells and not both are rows with amounts.
func (s column) goesOn(i int) int {
	c := s.at
	switch {
	case i+1 == len(s.cells) || len(s.cells[i+1][c]) == 0:
		return never
	case !beginsUpper(s.cells[i+1][c][0].Text):
		return 0
	}
	if more := cmp.Compare(filledCells(s.cells[i+1]), filledCells(s.cells[i])); more != 0 && !(hasAmount(s.cells[i]) && hasAmount(s.cells[i+1])) {
		return more
	}
	return never
}

func hasAmount(row [][]Line) bool {
	return slices.ContainsFunc(row[1:], func(cell []Line) bool { return len(cell) > 0 && isNumber(cell[0].Text) })
}

// hasRoom reports whether the first word of a line would have had room behind the line above.
func (s column) hasRoom(above, line Line) bool {
	word, _, _ := strings.Cut(line.Text, " ")
	each := line.Box.width() / float64(max(line.runes(), 1))
	return above.Box.X1+each*float64(utf8.RuneCountInString(word)+1) <= s.limits[s.at]
}

// inSmalls reports whether the names of the column begin with small letters: most of them would have had room behind the line above. In other columns
// a small letter continues that line.
func (s column) inSmalls() bool {
	const few = 3
	small, room := 0, 0
	for i := 1; i < len(s.cells); i++ {
		above, line := s.cells[i-1][s.at], s.cells[i][s.at]
		if len(above) == 0 || len(line) == 0 || beginsUpper(line[0].Text) {
			continue
		}
		if small++; s.hasRoom(above[len(above)-1], line[0]) {
			room++
		}
	}
	return small >= few && room*2 > small
}

// wraps reports whether the line of a column continues the one above: its first word had no room there.
func (s sheet) wraps(c, i int) bool {
	above, line := s.cells[i-1][c], s.cells[i][c]
	if len(above) == 0 || len(line) == 0 {
		return false
	}
	last, first := above[len(above)-1], line[0]
	if last.Bold != first.Bold || isNumber(last.Text) || endTogether(boxOf(above), boxOf(line), last.Size) || setApartFrom(boxOf(above), boxOf(line), last.Size) {
		return false
	}
	return !beginsUpper(first.Text) && !s.smalls[c] || !column{s, c}.hasRoom(last, first)
}

// endTogether reports whether two lines end at one place and neither begin there nor are centred: a line that wraps has no such rest.
func endTogether(above, below Box, size float64) bool {
	return above.X0-below.X0 > size && math.Abs(above.X1-below.X1) < size && math.Abs(above.X0+above.X1-below.X0-below.X1) > size
}

// setApartFrom reports whether two lines neither begin nor end at one place, nor have one middle, as those of a cell do. A line may hang.
func setApartFrom(above, below Box, size float64) bool {
	const hang = 3 // sizes
	return math.Abs(above.X0-below.X0) > hang*size && !inLineWith(above, below, size)
}
