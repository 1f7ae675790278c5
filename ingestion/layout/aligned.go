package layout

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxColumns limits the columns of a table without rules.
const maxColumns = 30

// alignedTables removes the lines of tables without rules and returns both: such tables are rows close to one another, with gaps at
// the same places.
func alignedTables(lines []Line) (tables []table, rest []Line) {
	rows := rowsOf(lines)
	for from := 0; from < len(rows); {
		if len(rows[from]) < 2 {
			rest = append(rest, rows[from]...)
			from++
			continue
		}
		to := runOfRows(rows, from)
		taken := false
		// A run may end with lines of another kind: text below, that begins with short lines.
		for end := to; end > from+1 && end > to-3; end-- {
			if t, ok := aligned(rows[from:end]); ok {
				tables, from, taken = append(tables, t), end, true
				break
			}
		}
		if !taken {
			for _, row := range rows[from:max(to, from+1)] {
				rest = append(rest, row...)
			}
			from = max(to, from+1)
		}
	}
	return tables, rest
}

// runOfRows returns the end of the rows that may belong to one table.
func runOfRows(rows [][]Line, from int) int {
	last := from
	box := boxOf(rows[from])
	for i := from + 1; i < len(rows); i++ {
		gap := rows[i][0].base() - rows[i-1][0].base()
		if size := rows[i][0].Size; gap > 3*size || size > 1.4*rows[from][0].Size || size < 0.6*rows[from][0].Size {
			break
		}
		if len(rows[i]) == 1 {
			// A single line continues a cell if it does not reach over all columns, and only between rows or below one.
			b := rows[i][0].Box
			if b.width() > 0.6*box.width() || gap > 2*rows[i][0].Size || i-last > 3 {
				break
			}
			continue
		}
		last = i
		box = box.join(boxOf(rows[i]))
	}
	// Lines below the last row are cells' when they stand closer than rows do.
	end := last + 1
	for end < len(rows) && len(rows[end]) == 1 && last > from && rows[end][0].Box.X0 > box.X0+rows[end][0].Size &&
		rows[end][0].base()-rows[end-1][0].base() < 1.6*rows[end][0].Size {
		end++
	}
	return end
}

func boxOf(lines []Line) Box {
	b := lines[0].Box
	for _, l := range lines[1:] {
		b = b.join(l.Box)
	}
	return b
}

// aligned makes a table of rows when they are one.
func aligned(rows [][]Line) (table, bool) {
	starts := gutters(rows)
	if len(starts) < 1 || len(starts)+1 > maxColumns {
		return table{}, false
	}
	columns := len(starts) + 1
	var multi int
	placed := make([][][]Line, len(rows))
	for i, row := range rows {
		placed[i] = make([][]Line, columns)
		for _, l := range row {
			c := 0
			for c < len(starts) && starts[c] <= l.Box.X0+0.5 {
				c++
			}
			placed[i][c] = append(placed[i][c], l)
		}
		if filledCells(placed[i]) >= 2 {
			multi++
		}
	}
	if multi < 2 || columns == 2 && multi < 3 || multi*2 < len(rows) && columns < 3 {
		return table{}, false
	}
	t := table{box: boxOf(slices.Concat(rows...)), rows: united(placed)}
	if prose(placed) || listing(rows) || contents(placed) || items(placed) || len(t.rows) < 2 {
		return table{}, false
	}
	return t, true
}

func filledCells(row [][]Line) (n int) {
	for _, cell := range row {
		if len(cell) > 0 {
			n++
		}
	}
	return n
}

// gutters returns the middles of the gaps that run through the rows. One line in seven may cross one.
func gutters(rows [][]Line) []float64 {
	box := boxOf(slices.Concat(rows...))
	if box.width() <= 0 {
		return nil
	}
	const bins = 1200
	scale := bins / box.width()
	bin := func(x float64) int { return min(max(int((x-box.X0)*scale), 0), bins) }
	var over [bins + 2]int
	for _, row := range rows {
		for _, l := range row {
			over[bin(l.Box.X0)]++
			over[max(bin(l.Box.X1), bin(l.Box.X0)+1)]--
		}
	}
	allowed := len(rows) / 7
	var out []float64
	depth, from := 0, -1
	for i := range bins {
		depth += over[i]
		switch {
		case depth <= allowed && from < 0:
			from = i
		case depth > allowed && from >= 0:
			if gap := float64(i-from) / scale; from > 0 && gap >= 0.45*rows[0][0].Size {
				out = append(out, box.X0+(float64(from+i)/2)/scale)
			}
			from = -1
		}
	}
	return out
}

// united joins the rows of lines that make one row of a table: by the space between them if rows are apart, else by the first
// column.
func united(rows [][][]Line) [][][]Line {
	bases := make([]float64, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			if len(cell) > 0 {
				bases[i] = cell[0].base()
			}
		}
	}
	least := 1e9
	for i := 1; i < len(rows); i++ {
		least = min(least, bases[i]-bases[i-1])
	}
	full := 0
	for _, row := range rows {
		full = max(full, filledCells(row))
	}
	bySpace, inGroups, fullInGroups := []bool{true}, 0, 0
	for i := 1; i < len(rows); i++ {
		apart := bases[i]-bases[i-1] > 1.12*least
		bySpace = append(bySpace, apart)
		if !apart {
			inGroups++
			if filledCells(rows[i]) == full && filledCells(rows[i-1]) == full {
				fullInGroups++
			}
		}
	}
	spaced := inGroups > 0 && fullInGroups*2 < inGroups && slices.Contains(bySpace[1:], true)
	var out [][][]Line
	for i, row := range rows {
		begins := len(row[0]) > 0 || filledCells(row)*2 > full
		if spaced {
			begins = bySpace[i]
		}
		if len(out) == 0 || begins {
			out = append(out, slices.Clone(row))
			continue
		}
		for c, cell := range row {
			out[len(out)-1][c] = slices.Concat(out[len(out)-1][c], cell)
		}
	}
	return out
}

// prose reports whether every column is set like text: with long lines that mostly fill it.
func prose(rows [][][]Line) bool {
	for c := range rows[0] {
		var runes, lines int
		var widest, sum float64
		for _, row := range rows {
			for _, l := range row[c] {
				runes += l.runes()
				lines++
				widest, sum = max(widest, l.Box.width()), sum+l.Box.width()
			}
		}
		if lines == 0 || runes < 20*lines || sum < 0.7*widest*float64(lines) {
			return false
		}
	}
	return true
}

// listing reports whether all lines are in type of one width, like program code.
func listing(rows [][]Line) bool {
	for _, row := range rows {
		for _, l := range row {
			if !l.mono() {
				return false
			}
		}
	}
	return true
}

var (
	entry  = regexp.MustCompile(`(?:\.\s?){4,}\s*(?:\d{1,4}|[ivxlc]{1,8})$`) // of a table of contents
	leader = regexp.MustCompile(`(?:\.\s?){4,}|…{2,}`)
	whole  = regexp.MustCompile(`^\d{1,4}$`)
)

// contents reports whether the rows are a table of contents: titles with rising page numbers.
func contents(rows [][][]Line) bool {
	leaders, pages, rising, last := 0, 0, true, -1
	for _, row := range rows {
		for _, cell := range row {
			if slices.ContainsFunc(cell, func(l Line) bool { return leader.MatchString(l.Text) }) {
				leaders++
				break
			}
		}
		end := row[len(row)-1]
		if len(end) != 1 || !whole.MatchString(strings.TrimSpace(end[0].Text)) {
			continue
		}
		n, _ := strconv.Atoi(end[0].Text)
		rising, last = rising && n >= last, n
		pages++
	}
	return leaders*2 > len(rows) || pages == len(rows) && rising && len(rows[0]) <= 3
}

// items reports whether the first of two columns holds the marks of a list and nothing else.
func items(rows [][][]Line) bool {
	if len(rows[0]) != 2 {
		return false
	}
	for _, row := range rows {
		for _, l := range row[0] {
			if n, _ := ordinalOf(l.Text + " "); n < 0 && !bullet.MatchString(l.Text+" ") {
				return false
			}
		}
	}
	return true
}
