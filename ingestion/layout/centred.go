package layout

import (
	"cmp"
	"math"
	"slices"
)

// lineAt is what is on a baseline of a column, and its row of the sheet.
type lineAt struct {
	base, size float64
	text       string
	row        int
}

// centred returns where rows begin, and the first of them, if cells are set at the middle of their rows: those of one column have a line each,
// and those of every other column have their middle at one of these.
func (s sheet) centred(from int) ([]bool, int) {
	for first := from; first >= 0; first-- { // a line above the first numbers may be of their row, and not of the head
		for key := range s.columns() {
			spans, ok := s.around(key, first)
			if !ok || spans[0][1] < from {
				continue
			}
			out := make([]bool, len(s.rows))
			for _, span := range spans {
				out[span[0]] = true
			}
			return out, first
		}
	}
	return nil, from
}

// around returns the first and the last row of each cell of a column with the cells that have their middle there.
func (s sheet) around(key, from int) (spans [][2]int, ok bool) {
	keys := linesAt(s.cells, key, from)
	if len(keys) < 2 || len(s.gutters) == 1 && len(keys) < 3 {
		return nil, false
	}
	for i, k := range keys {
		if i > 0 && k.base-keys[i-1].base < 0.9*k.size || isMark(k.text) {
			return nil, false
		}
		spans = append(spans, [2]int{k.row, k.row})
	}
	beside, proof := make([][][]lineAt, len(keys)), false
	for c := range s.columns() {
		if c == key {
			continue
		}
		cells, ok := cellsAround(keys, linesAt(s.cells, c, from))
		if !ok {
			return nil, false
		}
		for i, cell := range cells {
			if len(cell) == 0 {
				continue
			}
			// Cells at the top of their rows begin on a level with the key, and none is off by half a line. What is above the first key may
			// be the rest of the row above.
			proof = proof || len(cell) > 1 && i == 0 && beginsUpper(cell[0].text) || len(cell)%2 == 0
			spans[i] = [2]int{min(spans[i][0], cell[0].row), max(spans[i][1], cell[len(cell)-1].row)}
			beside[i] = append(beside[i], cell)
		}
	}
	for i, span := range spans {
		if i > 0 && span[0] <= spans[i-1][1] || slices.Contains(s.ruled[span[0]+1:span[1]+1], true) || areRows(beside[i]) {
			return nil, false
		}
	}
	return spans, proof
}

// linesAt returns the lines of a column from a row on.
func linesAt(rows [][][]Line, c, from int) (out []lineAt) {
	for i := from; i < len(rows); i++ {
		for _, l := range rows[i][c] {
			out = append(out, lineAt{l.base(), l.Size, l.Text, i})
		}
	}
	slices.SortStableFunc(out, func(a, b lineAt) int { return cmp.Compare(a.base, b.base) })
	return slices.CompactFunc(out, func(a, b lineAt) bool { return math.Abs(a.base-b.base) < 0.3*a.size })
}

// cellsAround divides the lines of a column into cells with their middle at the keys. It fails if that leaves some, or if the lines of a cell
// are as far apart as cells are.
func cellsAround(keys, lines []lineAt) (cells [][]lineAt, ok bool) {
	filled, several := 0, false
	within, between := 0.0, math.Inf(1) // distances of lines
	cells = make([][]lineAt, len(keys))
	for i, k := range keys {
		near := 0.15 * k.size
		if len(lines) == 0 || lines[0].base > k.base+near {
			continue
		}
		end, last := 0, 2*k.base-lines[0].base
		for ; end+1 < len(lines) && lines[end].base < last-near; end++ {
			within, several = max(within, lines[end+1].base-lines[end].base), true
		}
		if math.Abs(lines[end].base-last) > near {
			return nil, false
		}
		if end+1 < len(lines) {
			between = min(between, lines[end+1].base-lines[end].base)
		}
		cells[i], lines = lines[:end+1], lines[end+1:]
		filled++
	}
	// A column that is lower than the others by half a line seems to fill every other cell.
	return cells, len(lines) == 0 && (!several || filled*2 > len(keys)) && within <= 1.6*keys[0].size && within <= 1.05*between
}

// centredTogether reports whether the cells of a row have one middle and different numbers of lines, and are no rows beside a name for all of them.
func centredTogether(row [][]Line) bool {
	var cells [][]lineAt
	proof := false
	for c := range row {
		cell := linesAt([][][]Line{row}, c, 0)
		if len(cell) == 0 {
			continue
		}
		cells = append(cells, cell)
		first := cells[0]
		off := cell[0].base + cell[len(cell)-1].base - first[0].base - first[len(first)-1].base
		if math.Abs(off)/2 > 0.15*cell[0].size {
			return false
		}
		proof = proof || len(cell) != len(first)
	}
	return proof && !areRows(slices.DeleteFunc(cells, func(cell []lineAt) bool { return len(cell) == 1 }))
}

// areRows reports whether the cells beside a key are rows beside a name for all of them: amounts, or as many lines in each that continue none.
func areRows(beside [][]lineAt) bool {
	level, small := len(beside) > 1, false
	for _, cell := range beside {
		level = level && len(cell) > 1 && len(cell) == len(beside[0])
		amounts := len(cell) > 1
		for i, l := range cell {
			amounts = amounts && isNumber(l.text)
			small = small || i > 0 && !beginsUpper(l.text)
		}
		if amounts {
			return true
		}
	}
	return level && !small
}
