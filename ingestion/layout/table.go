package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table is a table of a page. A cell that spans others is the first of them; the others are empty.
type table struct {
	box   Box
	rows  [][][]Line // lines of each cell
	walls []float64  // places between the columns, in a table with rules

	headless bool       // its first row is like the others
	listing  []Line     // what the lines are instead of rows
	form     []fieldBox // boxes of a form, instead of rows
	group    []item     // columns that are read one after the other, instead of rows

	doubt string // why its cells may be wrong, such as "a table\'s rows could not be told apart"; usually empty
}

// ruledTables removes the lines of tables with rules and returns both.
func ruledTables(lines []Line, rules []Box) (tables []table, rest []Line) {
	rest = lines
	all, level := grids(rules), levelRules(rules)
	for _, g := range all {
		var in, out []Line
		for _, line := range rest {
			if g.box.holds(line.Box) {
				in = append(in, line)
			} else {
				out = append(out, line)
			}
		}
		if t, ok := g.fill(in, level); ok {
			rest = t.takeHead(out)
			tables = append(tables, t)
		}
	}
	return tables, cutAtColumns(rest)
}

// takeHead takes a row of names above the rules of a table into it, if they are above its columns, and returns the other lines.
func (t *table) takeHead(lines []Line) []Line {
	var near []Line
	for _, l := range lines {
		if l.Box.Y1 < t.box.Y0+0.3*l.Size && l.base() > t.box.Y0-2.2*l.Size && l.Box.X0 > t.box.X0-2 && l.Box.X1 < t.box.X1+2 {
			near = append(near, l)
		}
	}
	rows, gutters := tableRows(near), t.gutters()
	if len(rows) != 1 || len(rows[0]) < 2 || len(rows[0])*2 < len(gutters)+1 || len(rows[0]) > len(gutters)+1 {
		return lines
	}
	head := make([][]Line, len(gutters)+1)
	for _, l := range rows[0] {
		c := columnAt(gutters, l.Box.X0+0.3*l.Size)
		if len(head[c]) > 0 || c != columnAt(gutters, l.Box.X1-0.3*l.Size) {
			return lines
		}
		head[c] = []Line{l}
	}
	t.rows, t.box.Y0 = slices.Insert(t.rows, 0, head), boxOf(rows[0]).Y0
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool {
		return slices.ContainsFunc(rows[0], func(h Line) bool { return h.Box == l.Box && h.Text == l.Text })
	})
}

// fill puts lines into the cells of a grid. It fails for what is a frame, a diagram or a form without much text.
func (g grid) fill(lines []Line, rules []Box) (table, bool) {
	if g.framesWords(lines) {
		return table{}, false
	}
	g.widen(lines)
	columns := len(g.xs) - 1
	first := g.cells()
	t := table{box: g.box, rows: make([][][]Line, len(g.ys)-1), walls: slices.Clone(g.xs[1:columns])}
	for r := range t.rows {
		t.rows[r] = make([][]Line, columns)
	}
	parts := g.divided(fields(lines))
	open := g.open(parts, first)
	for _, line := range parts {
		at := g.place(line)
		if !open[first[at]] {
			at = first[at]
			t.rows[at/columns][at%columns] = append(t.rows[at/columns][at%columns], line)
			continue
		}
		for _, part := range line.cutInto(t.gutters()) {
			at = g.place(part)
			t.rows[at/columns][at%columns] = append(t.rows[at/columns][at%columns], part)
		}
	}
	t.trim()
	t.split(rules)
	filled, all := 0, map[int]bool{}
	for _, root := range first {
		all[root] = true
	}
	for _, row := range t.rows {
		filled += filledCells(row)
	}
	return t, len(t.rows) >= 2 && len(t.rows[0]) >= 2 && len(all) >= 4 && filled >= 3 && filled*4 >= len(all)
}

// cells returns, for each place of the grid, the first place of its cell: what no rule divides is one cell.
func (g grid) cells() []int {
	rows, columns := len(g.ys)-1, len(g.xs)-1
	cells := newSets(rows * columns)
	for r := range rows {
		for c := range columns {
			if c+1 < columns && !walled(g.vertical, g.xs[c+1], g.ys[r], g.ys[r+1], true) {
				cells.join(r*columns+c+1, r*columns+c)
			}
			if r+1 < rows && !walled(g.horizontal, g.ys[r+1], g.xs[c], g.xs[c+1], false) {
				cells.join((r+1)*columns+c, r*columns+c)
			}
		}
	}
	upper := map[int]int{} // the upper left place of each cell
	out := make([]int, rows*columns)
	for i := range out {
		root := cells.root(i)
		if _, ok := upper[root]; !ok {
			upper[root] = i
		}
		out[i] = upper[root]
	}
	return out
}

// place returns the place of a line in the grid.
func (g grid) place(line Line) int {
	r, c := within(g.ys, (line.Box.Y0+line.Box.Y1)/2), within(g.xs, (line.Box.X0+line.Box.X1)/2)
	return r*(len(g.xs)-1) + c
}

// open finds the cells that are rows without rules of their own: some of their lines are level, or one is in each of many rows.
func (g grid) open(lines []Line, first []int) map[int]bool {
	in, out, columns := map[int][]Line{}, map[int]bool{}, len(g.xs)-1
	for _, l := range lines {
		at := first[g.place(l)]
		in[at] = append(in[at], l)
	}
	sizes := map[int]int{}
	for _, at := range first {
		sizes[at]++
	}
	const many = 4
	for at, lines := range in {
		taken := map[int]bool{}
		for _, l := range lines {
			taken[g.place(l)] = true
		}
		out[at] = sizes[at] >= many && len(taken) == sizes[at] && g.ruledBeside(at, first)
		for _, row := range rowsOf(lines) {
			out[at] = out[at] || g.place(row[0])%columns != g.place(row[len(row)-1])%columns
		}
	}
	return out
}

// ruledBeside reports whether rules divide most of the other columns in the rows of a cell.
func (g grid) ruledBeside(cell int, first []int) bool {
	columns, divided, all := len(g.xs)-1, 0, 0
	for below := cell + columns; below < len(first) && first[below] == cell; below += columns {
		row := below - below%columns
		for c := range columns {
			if all++; first[row+c] != first[row+c-columns] {
				divided++
			}
		}
	}
	return divided*2 > all
}

// widen drops edges of columns and rows that no text fits between: those of double rules, and of shaded paragraphs within cells.
func (g *grid) widen(lines []Line) {
	if len(lines) == 0 {
		return
	}
	size := lines[0].Size
	for _, l := range lines {
		size = min(size, l.Size)
	}
	g.xs, g.ys = spaced(g.xs, 0.9*size, g.vertical, true), spaced(g.ys, 0.7*size, g.horizontal, false)
}

// spaced drops values that are too close to another, which has longer rules.
func spaced(values []float64, least float64, rules []Box, down bool) []float64 {
	var out []float64
	for _, v := range values {
		n := len(out)
		if n == 0 || v-out[n-1] >= least {
			out = append(out, v)
		} else if lengthAt(rules, v, down) > lengthAt(rules, out[n-1], down) {
			out[n-1] = v
		}
	}
	return out
}

// lengthAt is the length of the rules at a place.
func lengthAt(rules []Box, at float64, down bool) (sum float64) {
	for _, r := range rules {
		if !down {
			r = Box{r.Y0, r.X0, r.Y1, r.X1}
		}
		if math.Abs((r.X0+r.X1)/2-at) < touching {
			sum += r.height()
		}
	}
	return sum
}

// frames reports whether each of the four sides is one rule, and the lines are within them.
func (g grid) frames(lines []Line) bool {
	b := g.box
	return walled(g.horizontal, b.Y0, b.X0, b.X1, false) && walled(g.horizontal, b.Y1, b.X0, b.X1, false) &&
		walled(g.vertical, b.X0, b.Y0, b.Y1, true) && walled(g.vertical, b.X1, b.Y0, b.Y1, true) &&
		!slices.ContainsFunc(lines, func(l Line) bool { return l.Box.X0 < b.X0-touching || l.Box.X1 > b.X1+touching })
}

// framesWords reports whether the rules are boxes around words of running lines, as around links: they mostly go through word spaces,
// and nothing frames whole lines. Columns of a table can be as close as words.
func (g grid) framesWords(lines []Line) bool {
	if g.frames(lines) {
		return false
	}
	inSpaces, crossed := 0, 0
	for _, line := range lines {
		at := 0
		for _, x := range g.xs {
			if line.Edges == nil || x <= line.Box.X0+1 || x >= line.Box.X1-1 || !walled(g.vertical, x, line.Box.Y0, line.Box.Y1, true) {
				continue
			}
			if left, right := line.cutAt(x); right.Text != "" {
				at++
				if right.Box.X0-left.Box.X1 < 0.35*line.Size {
					inSpaces++
				}
			}
		}
		if at > 0 {
			crossed++
		}
	}
	return crossed*3 > len(lines) && inSpaces > crossed
}

// divided cuts lines where a vertical rule goes through them.
func (g grid) divided(lines []Line) []Line {
	var out []Line
	for _, line := range lines {
		for _, x := range g.xs[1 : len(g.xs)-1] {
			if x <= line.Box.X0+1 || x >= line.Box.X1-1 || !walled(g.vertical, x, line.Box.Y0+line.Size/2, line.Box.Y1-line.Size/2, true) {
				continue
			}
			if left, right := line.cutAt(x); right.Text != "" {
				out, line = append(out, left), right
			}
		}
		out = append(out, line)
	}
	return out
}

// split makes columns and rows of those that no rule divides.
func (t *table) split(rules []Box) {
	t.splitColumns()
	lines := make([]int, len(t.rows))
	all := 0
	for i, row := range t.rows {
		lines[i] = len(rowsOf(slices.Concat(row...)))
		all += lines[i]
	}
	var out [][][]Line
	for i, row := range t.rows {
		switch {
		case lines[i] < 2:
			out = append(out, row)
		case i == 0:
			out = append(out, t.headRows(row, rules)...)
		case labelledCells(row):
			out = append(out, row)
		case centredTogether(row):
			out = append(out, row)
		case lines[i] >= 3 && (len(t.rows) <= 3 || lines[i]*2 > all):
			out = append(out, t.openRows(row)...)
		default:
			out = append(out, divided(row)...)
		}
	}
	t.rows = out
}

// openRows divides rows that no rule divides: most of their lines fill most columns, or each has an amount in the same column.
func (t *table) openRows(row [][]Line) [][][]Line {
	s, filled := sheetOf(row, t.gutters(), t.box), 0
	if amountEach(s) {
		return s.cells
	}
	for _, cells := range s.cells {
		if filledCells(cells)*2 > filledCells(row) {
			filled++
		}
	}
	if filled*2 < len(s.rows) {
		return divided(row)
	}
	begins, _ := s.centred(0)
	return s.bodyCells(begins)
}

// amountEach reports whether each row has an amount in the same column and something beside it, and rows are further apart than lines of a cell.
func amountEach(s sheet) bool {
	const apart = 1.5 // sizes
	for i := 1; i < len(s.rows); i++ {
		if pitch(s.rows[i-1], s.rows[i]) < apart*s.rows[i][0].Size {
			return false
		}
	}
	for c, numeric := range s.numeric {
		if numeric && !slices.ContainsFunc(s.cells, func(cells [][]Line) bool {
			return len(cells[c]) != 1 || !isNumber(cells[c][0].Text) || filledCells(cells) < 2
		}) {
			return true
		}
	}
	return false
}

// headRows divides a head that has names over several columns.
func (t *table) headRows(row [][]Line, rules []Box) [][][]Line {
	s := sheetOf(row, t.gutters(), t.box)
	if len(s.rows) < 2 { // of which headCells makes nothing
		return [][][]Line{row}
	}
	s.head, s.rules = len(s.rows), amongst(rules, s.rows)
	for _, cell := range row {
		for _, l := range cell {
			// A name alone in its cell is where it belongs, however many columns that has.
			first, last := names{s}.reach(l)
			others := slices.Concat(cell, slices.Concat(row[first:last+1]...))
			if last > first && slices.ContainsFunc(others, func(o Line) bool { return o.Box != l.Box && !same(o.Box.X0+o.Box.X1, l.Box.X0+l.Box.X1) }) {
				return names{s}.headCells()
			}
		}
	}
	return divided(row)
}

// gutters returns the places between the columns as gaps.
func (t *table) gutters() []gap {
	out := make([]gap, len(t.walls))
	for i, x := range t.walls {
		out[i] = gap{x, x}
	}
	return out
}

// divided returns the rows between two rules. There are several if all cells have lines on the same baselines and no line continues
// the one above: none begins with a small letter, but for those behind the first column where two columns have amounts; and there are at least
// three, or numbers.
func divided(row [][]Line) [][][]Line {
	whole, full := [][][]Line{row}, filledCells(row)
	baselines := rowsOf(slices.Concat(row...))
	if len(baselines) < 2 || full < 2 {
		return whole
	}
	out, placed := make([][][]Line, len(baselines)), 0
	numbers, amounts, small := make([]int, len(row)), make([]int, len(row)), false
	for i, lines := range baselines {
		out[i] = make([][]Line, len(row))
		for c, cell := range row {
			for _, l := range cell {
				if math.Abs(l.base()-lines[0].base()) > 0.3*l.Size {
					continue
				}
				out[i][c] = append(out[i][c], l)
				placed++
				if !beginsUpper(l.Text) {
					if c == 0 {
						return whole
					}
					small = true
				}
				if strings.ContainsAny(l.Text, "0123456789") {
					numbers[c]++
				}
				if isNumber(l.Text) {
					amounts[c]++
				}
			}
		}
		if filledCells(out[i]) != full {
			return whole
		}
	}
	full = len(slices.DeleteFunc(amounts, func(n int) bool { return n < len(baselines) })) // columns of amounts
	if len(baselines) < 3 && slices.Max(numbers) < len(baselines) || small && full < 2 || placed != len(slices.Concat(row...)) {
		return whole
	}
	return out
}

// splitColumns divides columns in which most rows have several pieces beside one another.
func (t *table) splitColumns() {
	for c := 0; len(t.rows) > 0 && c < len(t.rows[0]); c++ {
		var rows [][]Line
		several := 0
		for _, row := range t.rows {
			for _, line := range rowsOf(row[c]) {
				rows = append(rows, fields(line))
				if len(rows[len(rows)-1]) > 1 {
					several++
				}
			}
		}
		if several < 2 || several*2 < len(rows) {
			continue
		}
		gutters := gutters(rows)
		if len(gutters) == 0 || marked(rows) {
			continue
		}
		for r, row := range t.rows {
			parts := make([][]Line, len(gutters)+1)
			for _, l := range fields(row[c]) {
				for _, part := range l.cutInto(gutters) {
					at := columnAt(gutters, part.Box.X0+0.3*part.Size)
					parts[at] = append(parts[at], part)
				}
			}
			t.rows[r] = slices.Concat(row[:c], parts, row[c+1:])
		}
		for i, g := range gutters {
			t.walls = slices.Insert(t.walls, c+i, g.middle())
		}
		c += len(gutters)
	}
}

// marked reports whether the pieces of a column are list marks with the items.
func marked(rows [][]Line) bool {
	return slices.ContainsFunc(rows, func(row []Line) bool { return len(row) > 1 && isMark(row[0].Text) })
}

// isMark reports whether a text is a mark or a number of a list, and nothing else.
func isMark(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	_, length := ordinalOf(text + " ")
	return length > len(text) || letterOf(text+" .") >= 0 && len(text) <= 3 || IsMark(text) || size == len(text) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// trim drops rows and columns without text, as double rules make them.
func (t *table) trim() {
	t.rows = slices.DeleteFunc(t.rows, func(row [][]Line) bool {
		return !slices.ContainsFunc(row, func(cell []Line) bool { return len(cell) > 0 })
	})
	if len(t.rows) == 0 {
		return
	}
	for c := len(t.rows[0]) - 1; c >= 0; c-- {
		if !slices.ContainsFunc(t.rows, func(row [][]Line) bool { return len(row[c]) > 0 }) {
			for r := range t.rows {
				t.rows[r] = slices.Delete(t.rows[r], c, c+1)
			}
			if len(t.walls) > 0 {
				at := min(c, len(t.walls)-1)
				t.walls = slices.Delete(t.walls, at, at+1)
			}
		}
	}
}

// within returns the interval of sorted values that contains v.
func within(values []float64, v float64) int {
	i, _ := slices.BinarySearch(values, v)
	return min(max(i-1, 0), len(values)-2)
}

// cellText makes one line of a cell's lines, in their order on the page.
func cellText(cell []Line, compounds map[string]bool) string {
	var lines []Line
	for _, row := range rowsOf(cell) {
		lines = append(lines, merge(row))
	}
	return joinLines(lines, compounds)
}

// merge makes one line of several on one baseline.
func merge(row []Line) Line {
	if len(row) == 1 {
		return row[0]
	}
	out := row[0]
	out.Edges, out.spans = edgesOf(row), nil
	texts := make([]string, len(row))
	longest := 0
	bold, all, at := 0, 0, 0
	for i, l := range row {
		texts[i] = l.Text
		out.Box = out.Box.join(l.Box)
		n := l.runes()
		for _, s := range l.spans {
			out.spans = append(out.spans, span{s.from + at, s.to + at, s.link, s.latex})
		}
		at += n + 1
		out.drawn = max(out.drawn, l.drawn)
		if n > longest {
			longest, out.Size, out.Font = n, l.Size, l.Font
		}
		if all += n; l.Bold {
			bold += n
		}
	}
	out.Text, out.Bold = strings.Join(texts, " "), bold*2 > all
	return out
}

// edgesOf returns the left edges of what merge makes of a row.
func edgesOf(row []Line) (edges []float64) {
	for i, l := range row {
		if len(l.Edges) != l.runes() {
			return nil
		}
		if i > 0 {
			edges = append(edges, row[i-1].Box.X1)
		}
		edges = append(edges, l.Edges...)
	}
	return edges
}

// cells returns the text of a row.
func (w *writer) cells(row [][]Line) []cell {
	out := make([]cell, len(row))
	for c, lines := range row {
		text := cellText(lines, w.compounds)
		out[c] = cell{unsigned(text), strings.ReplaceAll(w.inline(withoutStrokes(text), false), "|", `\|`)}
	}
	return out
}

// markdown writes a table of GFM. Its first row is the head, since GFM has no tables without.
func (t table) markdown(w *writer) (plain, marked string) {
	rows := make([][]cell, len(t.rows))
	for i, row := range t.rows {
		rows[i] = w.cells(row)
	}
	if t.headless {
		plain, marked = t.written(append([][]cell{make([]cell, len(rows[0]))}, rows...))
		_, plain, _ = strings.Cut(plain, "\n")
		return plain, marked
	}
	return t.written(rows)
}

// written writes rows, the head first, with the alignment that the table's own rows have.
func (t table) written(rows [][]cell) (plain, marked string) {
	var p, m strings.Builder
	for i, row := range rows {
		if i > 0 {
			p.WriteString("\n")
			m.WriteString("\n")
		}
		m.WriteString("|")
		for c, cell := range row {
			if c > 0 {
				p.WriteString("\t")
			}
			p.WriteString(cell.plain)
			m.WriteString(" " + cell.marked + " |")
		}
		if i == 0 {
			m.WriteString("\n|")
			for c := range row {
				m.WriteString(t.alignment(c))
			}
		}
	}
	return p.String(), m.String()
}

// alignment is that of a column below the head: to the right when its cells end together and do not begin together.
func (t table) alignment(c int) string {
	var lefts, rights []float64
	body := t.rows
	if !t.headless {
		body = body[1:]
	}
	for _, row := range body {
		if len(row[c]) > 0 {
			box := row[c][0].Box
			for _, l := range row[c] {
				box = box.join(l.Box)
			}
			lefts, rights = append(lefts, box.X0), append(rights, box.X1)
		}
	}
	if len(lefts) > 1 && slices.Max(lefts)-slices.Min(lefts) > 4 && slices.Max(rights)-slices.Min(rights) < 2.5 {
		return " --: |"
	}
	return " --- |"
}
