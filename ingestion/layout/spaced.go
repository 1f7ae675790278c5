package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	maxSpaced   = 2000 // lines of a hostile page
	maxLeadings = 4    // that are tried
	lookAhead   = 40   // lines, for the next one of a column
	extraSpace  = 1.12 // between rows, in distances of lines
)

// spacedTables removes the lines of tables without upright rules whose rows are further apart than the lines of a cell, or have a rule between
// them, and returns both. There the space divides the rows, wherever in its row a cell of several lines is: at the top, the middle or the bottom.
func spacedTables(lines []Line, rules []Box) (tables []table, rest []Line) {
	if len(lines) > maxSpaced {
		return nil, lines
	}
	rest = lines
	for _, leading := range leadings(lines) {
		rows, last := spacedRows(fields(rest), rules, leading), 0 // the end of the table before
		for from := 0; from < len(rows); from++ {
			columns, to := sameColumns(rows[from:])
			if to += from; to-from < 3 {
				continue
			}
			s := spacing{leading: leading, columns: columns}
			if t, ok := s.table(rows[from:to]); ok && !s.tears(rows, from, to, last) {
				for up := from - 1; up >= named(rows, from, to, last, rules); up-- {
					t.box, t.rows = t.box.join(boxOf(rows[up])), slices.Insert(t.rows, 0, s.over(rows[up]))
					t.rows[0][0], t.rows[1][0] = slices.Concat(t.rows[0][0], t.rows[1][0]), nil // a name with nothing above is in the first row
				}
				tables, from, last = append(tables, t), to-1, to
			}
		}
		rest = slices.DeleteFunc(slices.Clone(rest), func(l Line) bool {
			return slices.ContainsFunc(tables, func(t table) bool { return t.box.holds(l.Box) })
		})
	}
	return tables, rest
}

// leadings returns the commonest distances of lines below one another.
func leadings(lines []Line) []float64 {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	var all []float64
	for i, l := range sorted {
		for _, next := range sorted[i+1 : min(len(sorted), i+1+lookAhead)] {
			if step := next.base() - l.base(); step > 0.9*l.Size && overlap(l.Box, next.Box) > 0 {
				if step < 1.8*l.Size && same(l.Size, next.Size) {
					all = append(all, step)
				}
				break
			}
		}
	}
	slices.Sort(all)
	var out []float64
	many := map[float64]int{}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to] < 1.04*all[from] {
			to++
		}
		middle := all[(from+to)/2]
		out, many[middle], from = append(out, middle), to-from, to
	}
	slices.SortStableFunc(out, func(a, b float64) int { return cmp.Compare(many[b], many[a]) })
	return out[:min(len(out), maxLeadings)]
}

// spacedRows divides lines where they are further apart than those of a cell, at rules, and where the size of the type changes.
func spacedRows(lines []Line, rules []Box, leading float64) (rows [][]Line) {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	for i, l := range sorted {
		step := math.Inf(1)
		if i > 0 {
			step = l.base() - sorted[i-1].base()
		}
		if step > extraSpace*leading || step > 0.5*l.Size && (!same(l.Size, sorted[i-1].Size) || ruledBetween(rules, sorted[i-1], l, boxOf(rows[len(rows)-1]))) {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], l)
	}
	return rows
}

// ruledBetween reports whether a rule over most of a row divides two lines.
func ruledBetween(rules []Box, above, below Line, row Box) bool {
	from, _ := slices.BinarySearchFunc(rules, above.base()-1, func(r Box, y float64) int { return cmp.Compare(r.Y0, y) })
	for _, r := range rules[from:] {
		if r.Y0 > below.base()-0.5*below.Size {
			return false
		}
		if overlap(r, row) > 0.75*row.width() {
			return true
		}
	}
	return false
}

// sameColumns returns the columns of rows, and how many of the rows keep to them. The first and the last of these have several cells.
func sameColumns(rows [][]Line) (columns []gap, n int) {
	for i, row := range rows {
		next, ok := withRow(columns, row)
		if !ok || i == 0 && len(next) < 2 || len(next) > maxColumns {
			break
		}
		columns = next
		if slices.ContainsFunc(row, func(l Line) bool { return columnOf(columns, l) != columnOf(columns, row[0]) }) {
			n = i + 1
		}
	}
	columns = nil
	for _, row := range rows[:n] {
		columns, _ = withRow(columns, row)
	}
	return columns, n
}

// withRow widens columns by the lines of a row. It fails if a line reaches into several columns.
func withRow(columns []gap, row []Line) ([]gap, bool) {
	out := slices.Clone(columns)
	for _, l := range row {
		near := 0.5 * l.Size
		first := slices.IndexFunc(out, func(c gap) bool { return c.to+near > l.Box.X0 })
		switch {
		case first < 0:
			out = append(out, gap{l.Box.X0, l.Box.X1})
		case out[first].from-near > l.Box.X1:
			out = slices.Insert(out, first, gap{l.Box.X0, l.Box.X1})
		case first+1 < len(out) && out[first+1].from-near < l.Box.X1:
			return nil, false
		default:
			c := gap{min(out[first].from, l.Box.X0), max(out[first].to, l.Box.X1)}
			if first > 0 && out[first-1].to+near > c.from {
				return nil, false
			}
			out[first] = c
		}
	}
	return out, true
}

func columnOf(columns []gap, l Line) int {
	return slices.IndexFunc(columns, func(c gap) bool { return l.Box.X0 >= c.from && l.Box.X1 <= c.to })
}

// spacing is how the cells of a table are set.
type spacing struct {
	leading float64
	columns []gap
}

// table makes a table of rows if all cells are at the top, the middle or the bottom of their rows, and lines of cells continue.
func (s spacing) table(rows [][]Line) (table, bool) {
	t := table{box: boxOf(slices.Concat(rows...))}
	uneven, filled, small, more := 0, 0, 0, 0
	apart := false  // whether lines seem to be rows
	var off [3]bool // whether cells are not at the top, the middle, the bottom
	for _, row := range rows {
		cells := make([][]Line, len(s.columns))
		for _, l := range row {
			c := columnOf(s.columns, l)
			cells[c] = append(cells[c], l)
		}
		if !s.level(cells, &off) {
			return table{}, false
		}
		several := slices.DeleteFunc(slices.Clone(cells), func(cell []Line) bool { return len(cell) == 0 })
		filled += len(several)
		if slices.ContainsFunc(several, func(cell []Line) bool { return len(cell) != len(several[0]) }) {
			uneven++
		}
		var beside [][]lineAt
		for _, cell := range several {
			for _, l := range cell[1:] {
				if more++; !beginsUpper(l.Text) {
					small++
				}
			}
			if len(cell) > 1 {
				beside = append(beside, linesAt([][][]Line{{cell}}, 0, 0))
			}
		}
		apart = apart || areRows(beside)
		t.rows = append(t.rows, cells)
	}
	for _, c := range s.columns[1:] {
		t.walls = append(t.walls, c.from-0.1)
	}
	// What is at the top everywhere may be blocks beside one another.
	if !off[0] && (len(s.columns) < 3 || uneven < 2 || small*3 < more) || off[0] && off[1] && off[2] {
		return table{}, false
	}
	cells := cellByCell(t.rows)
	return t, uneven > 0 && (small > 0 && !apart || cells) && filled*10 >= 6*len(rows)*len(s.columns) && linedUp(t.rows[1:])
}

// cellByCell reports whether the file has one row after the other, and in these one cell after the other, with lines of one before what is beside its
// first line: in at least two rows.
func cellByCell(rows [][][]Line) bool {
	const least = 2
	last, n := -1, 0
	for _, row := range rows {
		several, whole := false, false // a cell of several lines, and another one behind it
		for _, cell := range row {
			for _, l := range cell {
				if l.at < last {
					return false
				}
				last = l.at
			}
			whole = whole || several && len(cell) > 0
			several = several || len(cell) > 1
		}
		if whole {
			n++
		}
	}
	return n >= least
}

// tears reports whether a row above or below is as near as the table's rows are, and has lines beside one another: a table that leaves out some of
// its rows is none.
func (s spacing) tears(rows [][]Line, from, to, last int) bool {
	near := func(above, below, other []Line) bool {
		return pitch(above, below) < 2*s.leading && len(rowsOf(other)) < len(other)
	}
	return from > last && near(rows[from-1], rows[from], rows[from-1]) || to < len(rows) && near(rows[to-1], rows[to], rows[to])
}

// over puts names over several columns into the first of them.
func (s spacing) over(row []Line) [][]Line {
	cells := make([][]Line, len(s.columns))
	for _, l := range row {
		c := max(0, slices.IndexFunc(s.columns, func(c gap) bool { return c.to > l.Box.X0 }))
		cells[c] = append(cells[c], l)
	}
	return cells
}

// level reports whether the lines of each cell are below one another at the table's distance, and notes where cells are not.
func (s spacing) level(cells [][]Line, off *[3]bool) bool {
	var first, last float64
	seen := false
	for c, cell := range cells {
		for i, l := range cell {
			if l.Turns != 0 || l.latex != "" || l.drawn > 0 || c == 0 && isMark(l.Text) || i > 0 && (math.Abs(l.base()-cell[i-1].base()-s.leading) > 0.08*s.leading || !same(l.Size, cell[0].Size)) {
				return false
			}
		}
		if len(cell) == 0 {
			continue
		}
		if len(cell) > proseLines {
			return false
		}
		top, bottom, near := cell[0].base(), cell[len(cell)-1].base(), 0.15*cell[0].Size
		if seen {
			off[0] = off[0] || math.Abs(top-first) > near
			off[1] = off[1] || math.Abs(top+bottom-first-last)/2 > near
			off[2] = off[2] || math.Abs(bottom-last) > near
		} else {
			first, last, seen = top, bottom, true
		}
	}
	return true
}

// linedUp reports whether the cells of each column begin, end or have their middle at one place.
func linedUp(rows [][][]Line) bool {
	for c := range rows[0] {
		var lefts, rights, middles []float64
		size := 0.0
		for _, row := range rows {
			if len(row[c]) > 0 && strings.ContainsFunc(row[c][0].Text, speaks) { // a dash may be anywhere
				box := boxOf(row[c])
				lefts, rights, middles, size = append(lefts, box.X0), append(rights, box.X1), append(middles, (box.X0+box.X1)/2), row[c][0].Size
			}
		}
		if best := max(commonest(lefts, 0.4*size), commonest(rights, 0.4*size), commonest(middles, 0.4*size)); len(lefts) > 0 && best*10 < 7*len(lefts) {
			return false
		}
	}
	return true
}
