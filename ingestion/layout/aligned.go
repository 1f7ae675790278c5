package layout

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// alignedTables removes the lines of tables without rules and returns both: such tables are rows close to one another, with gaps at
// the same places.
func alignedTables(lines []Line, rules []Box) (tables []table, rest []Line) {
	rows := tableRows(lines)
	last := 0 // end of the table before
	for from := 0; from < len(rows); {
		if len(fields(rows[from])) < 2 {
			rest = append(rest, rows[from]...)
			from++
			continue
		}
		to := from + fitting(rows[from:runOfRows(rows, from)])
		if left, right, end, ok := blocksIn(rows, from, to, rules); ok {
			for _, block := range [][]Line{left, right} {
				own, others := alignedTables(block, rules)
				tables, rest = append(tables, own...), append(rest, others...)
			}
			from, last = end, end
			continue
		}
		taken, scale := false, diagram(rows[from:to], rules)
		// A run may end with lines of another kind: text below, that begins with short lines.
		for end := to; end > from+1 && end > to-3 && !scale; end-- {
			if t, ok := aligned(rows[from:end], rules); ok {
				if up := named(rows, from, end, last, rules); up < from {
					if with, ok := aligned(rows[up:end], rules); ok && len(with.rows[0]) == len(t.rows[0]) {
						t, rest = with, rest[:len(rest)-len(slices.Concat(rows[up:from]...))]
						from = up
					}
				}
				if down := tail(rows, from, end); down > end {
					if with, ok := aligned(rows[from:down], rules); ok && len(with.rows[0]) == len(t.rows[0]) {
						t, end = with, down
					}
				}
				tables, from, taken = append(tables, t), end, true
				last = end
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

// blocksIn divides rows that are blocks of text beside one another, as in the head of an invoice, and no table: lines of one say nothing about
// those beside them. The lines of a block are labels with what belongs to them, or an address at the left; or blocks end at different heights, none has holes, no rule
// divides their lines, and the file has one after the other; or their lines are at distances of their own, or they are copies of one text. It
// returns where the longest ends.
func blocksIn(rows [][]Line, from, to int, rules []Box) (left, right []Line, end int, ok bool) {
	const most, holes = 16, 1
	if left, right, end, ok = copiesIn(rows[from:to]); ok {
		return left, right, from + end, true
	}
	if to-from < 3 {
		return nil, nil, to, false
	}
	for to < len(rows) && len(rows[to]) == 1 && keepsTo(fields(rows[to-1]), rows[to][0]) && pitch(rows[to-1], rows[to]) < 1.1*pitch(rows[to-2], rows[to-1]) {
		to++
	}
	parts := make([][]Line, to-from)
	for i, row := range rows[from:to] {
		if parts[i] = fields(row); len(parts[i]) == 0 || i == most {
			return nil, nil, to, false
		}
	}
	s := newSheet(parts, rules)
	column := func(c int) (lines []item, last int, whole bool) {
		first, empty := -1, 0
		for i, row := range s.cells {
			if len(row[c]) == 0 {
				continue
			}
			if first < 0 {
				first, last = i, i-1
			}
			empty, last = empty+i-last-1, i
			for _, l := range row[c] {
				lines = append(lines, itemOf(l))
			}
		}
		return lines, last, first == 0 && empty <= holes
	}
	for c := range s.gutters {
		a, aLast, aWhole := column(c)
		b, bLast, bWhole := column(c + 1)
		address, strange := c == 0 && isAddress(a), outOfStep(a, b)
		if !address && min(len(a), len(b)) < 3 || !strange && (paired(a, b) || paired(nil, a)) {
			continue
		}
		x := s.gutters[c].middle()
		var lefts, rights []item
		across := false
		for _, l := range slices.Concat(parts...) {
			switch {
			case l.Box.X1 <= x+l.Size/2:
				lefts = append(lefts, itemOf(l))
			case l.Box.X0 >= x-l.Size/2:
				rights = append(rights, itemOf(l))
			default:
				across = true
			}
		}
		inTurn := len(s.rules) == 0 && aWhole && bWhole && aLast != bLast && switches(lefts, rights) == 1
		blocks := address || strange || labelled(a) || labelled(b)
		if across || !inTurn && !blocks {
			continue
		}
		return linesOf(lefts), linesOf(rights), to, true
	}
	return nil, nil, to, false
}

// copiesIn divides rows at whose sides the same texts are, as on a sheet of labels or with several pages on it, if the file has one side after
// the other. It returns how many rows are so.
func copiesIn(rows [][]Line) (left, right []Line, end int, ok bool) {
	const least = 3
	if len(rows) < least {
		return nil, nil, 0, false
	}
	first, next := fields(rows[0]), fields(rows[1])
	parts := len(first)
	if parts < 2 || len(next) != parts || next[0].at > first[parts-1].at && next[parts-1].at > first[0].at { // the file has row after row
		return nil, nil, 0, false
	}
	for half := 1; half*2 <= parts; half++ {
		var lefts, rights []item
		texts := map[string]bool{}
		for end = 0; end < len(rows); end++ {
			row := fields(rows[end])
			if len(row) != parts || !repeats(row, half) {
				break
			}
			for i, l := range row {
				if texts[l.Text] = true; i < half {
					lefts = append(lefts, itemOf(l))
				} else {
					rights = append(rights, itemOf(l))
				}
			}
		}
		if end >= least && len(texts) > half && switches(lefts, rights) == 1 {
			return linesOf(lefts), linesOf(rights), end, true
		}
	}
	return nil, nil, 0, false
}

// repeats reports whether a row is the same number of texts again and again.
func repeats(row []Line, n int) bool {
	for i := n; i < len(row); i++ {
		if row[i].Text != row[i-n].Text {
			return false
		}
	}
	return len(row)%n == 0
}

// outOfStep reports whether lines on both sides are each at even distances, of which none is a multiple of the other: they are no rows.
func outOfStep(left, right []item) bool {
	const off = 0.1 // of the smaller distance
	a, b := stepOf(left), stepOf(right)
	if a > b {
		a, b = b, a
	}
	return a > 0 && math.Abs(b/a-math.Round(b/a)) > off
}

// stepOf is the distance of at least four lines below one another, or 0 if it is not the same for all.
func stepOf(items []item) float64 {
	const least = 4
	lines := rowsOf(linesOf(items))
	if len(lines) < least {
		return 0
	}
	step := (lines[len(lines)-1][0].base() - lines[0][0].base()) / float64(len(lines)-1)
	for i := 1; i < len(lines); i++ {
		if math.Abs(lines[i][0].base()-lines[i-1][0].base()-step) > 0.05*step {
			return 0
		}
	}
	return step
}

func linesOf(items []item) []Line {
	out := make([]Line, len(items))
	for i, it := range items {
		out[i] = it.line
	}
	return out
}

// remark is a line about a whole table, such as its unit.
var remark = regexp.MustCompile(`^(?:\[[^\]]*\]|\([^)]*\))$`)

// named returns where the head of a run of rows begins: with names over several columns, which leave the first column free, or with the
// beginning of the first name, or have it at a height between theirs. A rule that begins with the table ends its head.
func named(rows [][]Line, from, end, least int, rules []Box) int {
	box, step := boxOf(slices.Concat(rows[from:end]...)), 0.0 // the widest between rows near the top
	for i := from + 1; i < min(end, from+6); i++ {
		step = max(step, 1.1*pitch(rows[i-1], rows[i]))
	}
	for up := from - 1; up >= max(least, from-5); up-- {
		l, below := rows[up][0], rows[up+1][0]
		over := l.Box.X0 > box.X0+0.12*box.width() && l.Box.X1 < box.X1+l.Size
		begins := same(l.Box.X0, below.Box.X0) && !beginsUpper(below.Text) && l.Box.width() < 0.6*box.width()
		beside := same(l.Box.X0, box.X0) && l.Box.X1 < below.Box.X0 && below.base()-l.base() < 0.95*l.Size
		if len(fields(rows[up])) > 1 || !over && !begins && !beside || remark.MatchString(l.Text) || pitch(rows[up], rows[up+1]) > max(1.5*l.Size, step) {
			break
		}
		if slices.ContainsFunc(rules, func(r Box) bool {
			return r.Y0 > l.base()-1 && r.Y0 < below.base() && r.X0 < box.X0+l.Size && r.X1 > box.X0
		}) {
			break
		}
		from = up
	}
	return from
}

// runOfRows returns the end of the rows that may belong to one table.
func runOfRows(rows [][]Line, from int) int {
	last := from
	box := boxOf(rows[from])
	for i := from + 1; i < len(rows); i++ {
		gap := pitch(rows[i-1], rows[i])
		if size := rows[i][0].Size; gap > 3*size || size > 1.4*rows[from][0].Size || size < 0.6*rows[from][0].Size {
			break
		}
		if _, ok := typedRule(rows[i]); ok {
			continue
		}
		if belowLabels(rows[from:i], rows[i]) || belowBlocks(rows[from:i], rows[i]) {
			break
		}
		if len(fields(rows[i])) == 1 {
			// A single line continues a cell if it does not reach over all columns, and only between rows or below one.
			b, wide := rows[i][0].Box, box
			if i+1 < len(rows) && len(fields(rows[i+1])) > 1 { // a head without a name above the names is narrower
				wide = wide.join(boxOf(rows[i+1]))
			}
			if b.width() > 0.6*wide.width() || i-last > 3 || gap > 2*rows[i][0].Size && !titles(rows, i, last) && !leads(rows, i) {
				break
			}
			continue
		}
		last = i
		box = box.join(boxOf(rows[i]))
	}
	// Lines below the last row belong to its cells if they are closer than rows are.
	end := last + 1
	for end < len(rows) && len(fields(rows[end])) == 1 && last > from {
		l := rows[end][0]
		if l.Box.X0 <= box.X0+l.Size && (beginsUpper(l.Text) || l.Box.width() > 0.6*box.width()) || pitch(rows[end-1], rows[end]) >= 1.6*l.Size {
			break
		}
		end++
	}
	return end
}

// belowLabels reports whether rows are labels with what belongs to them, and a table begins below, as on an invoice.
func belowLabels(rows [][]Line, next []Line) bool {
	if len(rows) < 2 || len(fields(next)) < 3 {
		return false
	}
	named, space := true, 0.0
	for i, row := range rows {
		parts := fields(row)
		if len(parts) != 2 || math.Abs(parts[0].Box.X0-rows[0][0].Box.X0) > 0.5*row[0].Size {
			return false
		}
		named = named && strings.HasSuffix(parts[0].Text, ":")
		if i > 0 {
			space = max(space, pitch(rows[i-1], row))
		}
	}
	return named || pitch(rows[len(rows)-1], next) > 1.4*space
}

// belowBlocks reports whether rows are an address, or labels with what belongs to them, and further blocks beside it, and the next row has pieces below
// none of these, as the head of an invoice's items.
func belowBlocks(rows [][]Line, next []Line) bool {
	const least, most = 3, 12
	if len(rows) < least || len(rows) > most {
		return false
	}
	var blocks [][]item
	of := func(l Line) int {
		return slices.IndexFunc(blocks, func(b []item) bool {
			return math.Abs(b[0].box.X0-l.Box.X0) < 0.4*l.Size || math.Abs(b[0].box.X1-l.Box.X1) < 0.1*l.Size
		})
	}
	for _, row := range rows {
		for _, l := range fields(row) {
			if at := of(l); at >= 0 {
				blocks[at] = append(blocks[at], itemOf(l))
			} else {
				blocks = append(blocks, []item{itemOf(l)})
			}
		}
	}
	return len(blocks) > 1 && len(blocks) <= least && slices.ContainsFunc(blocks, func(b []item) bool { return isAddress(b) || len(b) > 1 && labelled(b) }) &&
		slices.ContainsFunc(fields(next), func(l Line) bool { return of(l) < 0 })
}

// leads reports whether line i begins a cell beside the cells of a lower line, which are at the middle of their row.
func leads(rows [][]Line, i int) bool {
	if i+1 >= len(rows) || len(rows[i+1]) < 2 {
		return false
	}
	l, next := rows[i][0], rows[i+1]
	return pitch(rows[i], next) < 1.6*l.Size && l.Box.X0 > next[0].Box.X1 && slices.ContainsFunc(next, func(o Line) bool { return same(o.Box.X0, l.Box.X0) })
}

// titles reports whether line i is the title of a section of a table, of one line or two, with more of its cells below.
func titles(rows [][]Line, i, last int) bool {
	l, next := rows[i][0], i+1
	if next+1 < len(rows) && len(fields(rows[next])) == 1 && pitch(rows[i], rows[next]) < 1.5*l.Size {
		next++
	}
	if next >= len(rows) || l.Box.X0 > rows[last][0].Box.X0+2*l.Size && !boxOf(rows[last]).atMiddle(l) || pitch(rows[next-1], rows[next]) > max(2*l.Size, 1.1*pitch(rows[i-1], rows[i])) {
		return false
	}
	numbers, below := 0, 0
	for _, a := range fields(rows[next]) {
		if !slices.ContainsFunc(fields(rows[last]), func(b Line) bool { return a.Box.X0 < b.Box.X1 && b.Box.X0 < a.Box.X1 }) {
			return false
		}
		if below++; isNumber(a.Text) {
			numbers++
		}
	}
	return numbers > 0 && below*2 >= len(rows[last])
}

// atMiddle reports whether a line is at the middle of a box.
func (b Box) atMiddle(l Line) bool { return math.Abs(l.Box.X0+l.Box.X1-b.X0-b.X1) < 2*l.Size }

func boxOf(lines []Line) Box {
	b := lines[0].Box
	for _, l := range lines[1:] {
		b = b.join(l.Box)
	}
	return b
}

// typedRule is the rule that a row of dashes is.
func typedRule(row []Line) (Box, bool) {
	l := row[0]
	if len(row) > 1 || len(l.Text) < 8 || strings.Trim(l.Text, "-_=") != "" {
		return Box{}, false
	}
	y := (l.Box.Y0 + l.Box.Y1) / 2
	return Box{l.Box.X0, y, l.Box.X1, y}, true
}

// run is rows that may be a table.
type run struct{ sheet }

// aligned makes a table of rows when they are one.
func aligned(rows [][]Line, rules []Box) (table, bool) {
	var parts [][]Line
	leaders := 0
	for _, row := range rows {
		if r, ok := typedRule(row); ok {
			rules = levelRules(append(slices.Clip(rules), r))
			continue
		}
		if slices.ContainsFunc(row, func(l Line) bool { return leader.MatchString(l.Text) }) {
			leaders++
		}
		if part := fields(row); len(part) > 0 {
			parts = append(parts, part)
		}
	}
	if len(parts) < 2 {
		return table{}, false
	}
	s := run{newSheet(parts, rules)}
	columns, multi := s.columns(), 0
	if columns < 2 || columns > maxColumns {
		return table{}, false
	}
	for _, row := range s.cells {
		if filledCells(row) >= 2 {
			multi++
		}
	}
	counted := len(rows) - len(parts) + endingOf(s.sheet).first // without the rows at the end, which may have one cell each
	if multi < 2 || columns == 2 && (multi < 3 || 2*multi < counted) {
		return table{}, false
	}
	t := s.table()
	if s.prose() || s.listing() || s.contents(leaders) || s.equations() || items(s.cells) || clauses(s.cells) || notes(t.rows) || !s.inLine() || len(t.rows) < s.fewest() || t.sparse() {
		return table{}, false
	}
	return t, true
}

var equationNumber = regexp.MustCompile(`^\((?:[A-Z]\.?)?\d+(?:[.-]\d+)*[a-z]?\)$`)

// equations reports whether rows are displayed formulas: what the last column has is their numbers, and nothing else.
func (s run) equations() bool {
	numbers, formulas := 0, 0
	for _, row := range s.cells {
		last := row[len(row)-1]
		if len(last) == 0 {
			continue
		}
		if len(last) > 1 || !equationNumber.MatchString(last[0].Text) {
			return false
		}
		numbers++
		if slices.ContainsFunc(slices.Concat(row[:len(row)-1]...), func(l Line) bool { return l.latex != "" || l.mathShare() > 0.2 }) {
			formulas++
		}
	}
	return formulas > 0 && formulas*2 >= numbers
}

// diagram reports whether rows are beside the scale of a diagram.
func diagram(rows [][]Line, rules []Box) bool {
	var parts [][]Line
	for _, row := range rows {
		if part := fields(row); len(part) > 0 { // nothing is left of a row of dots
			parts = append(parts, part)
		}
	}
	if len(parts) < 4 {
		return false
	}
	s := run{newSheet(parts, rules)}
	n := s.columns()
	return n >= 2 && n <= maxColumns && (s.axis(0) || s.axis(n-1))
}

// axis reports whether a column is the scale of a diagram: numbers that fall by equal steps at equal distances, with hardly any
// numbers beside them.
func (s run) axis(c int) bool {
	var values, bases []float64
	beside := 0
	for _, row := range s.cells {
		if len(row[c]) == 0 {
			continue
		}
		v, _, ok := valueOf(row[c])
		if !ok {
			return false
		}
		values, bases = append(values, v), append(bases, row[c][0].base())
		for other, cell := range row {
			if other != c && len(cell) > 0 && isNumber(cell[0].Text) {
				beside++
			}
		}
	}
	return len(values) >= 4 && values[0] > values[1] && evenly(values) && evenly(bases) && beside <= len(values)*max(1, s.columns()-2)/2+1
}

// evenly reports whether values differ by equal steps, within a tenth of one.
func evenly(values []float64) bool {
	step := (values[len(values)-1] - values[0]) / float64(len(values)-1)
	for i := range values[1:] {
		if math.Abs(values[i+1]-values[i]-step) > 0.1*math.Abs(step) {
			return false
		}
	}
	return step != 0
}

// sparse reports whether most cells are empty, as where the labels of a figure happen to be level.
func (t table) sparse() bool {
	filled := 0
	for _, row := range t.rows {
		filled += filledCells(row)
	}
	return float64(filled) < 0.45*float64(len(t.rows)*len(t.rows[0]))
}

func filledCells(row [][]Line) (n int) {
	for _, cell := range row {
		if len(cell) > 0 {
			n++
		}
	}
	return n
}

// fewest returns how many rows make a table: two if they have numbers, since names are side by side in many places.
func (s run) fewest() int {
	if slices.Contains(s.numeric[1:], true) {
		return 2
	}
	return 3
}

// inLine reports whether the cells of most columns begin, end or have their middle at one place.
func (s run) inLine() bool {
	good, all := 0, 0
	for c := range s.columns() {
		var lefts, rights, middles []float64
		for _, row := range s.cells[min(s.head, len(s.cells)-1):] {
			if len(row[c]) > 0 {
				box := boxOf(row[c])
				lefts, rights, middles = append(lefts, box.X0), append(rights, box.X1), append(middles, (box.X0+box.X1)/2)
			}
		}
		if len(lefts) < 2 {
			continue
		}
		near := 0.4 * s.rows[0][0].Size
		all++
		if best := max(commonest(lefts, near), commonest(rights, near), commonest(middles, near)); best*2 >= len(lefts) && (best > 2 || best == len(lefts)) {
			good++
		}
	}
	return good*3 >= all*2
}

// commonest returns how many values are near one another.
func commonest(values []float64, near float64) int {
	slices.Sort(values)
	best, from := 0, 0
	for i, v := range values {
		for v-values[from] > near {
			from++
		}
		best = max(best, i-from+1)
	}
	return best
}

// prose reports whether a column is text that continues from line to line, whatever is beside it. What is beside a cell is at the height of
// its first line.
func (s run) prose() bool {
	if s.long() {
		return true
	}
	for c, e := range s.extents {
		var lines, full, small, runes int
		for _, row := range s.cells {
			for _, l := range row[c] {
				lines++
				runes += l.runes()
				if l.Box.width() > 0.8*e.width() {
					full++
				}
				if !beginsUpper(l.Text) {
					small++
				}
			}
		}
		if lines >= 4 && runes >= 20*lines && full*10 >= 6*lines && small*10 >= 4*lines && !s.labelled(c) {
			return true
		}
	}
	return false
}

// long reports whether every column is set like text: with long lines that mostly fill it.
func (s run) long() bool {
	for c := range s.columns() {
		var runes, lines int
		var widest, sum float64
		for _, row := range s.cells {
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

// labelled reports whether most of what is beside a column of text is at the height of the beginning of a sentence.
func (s run) labelled(c int) bool {
	labels, starts := 0, 0
	for i, row := range s.cells {
		if filledCells(row) == 0 || filledCells(row) == 1 && len(row[c]) > 0 {
			continue
		}
		labels++
		if len(row[c]) == 0 || !beginsUpper(row[c][0].Text) {
			continue
		}
		above := Line{}
		if i > 0 && len(s.cells[i-1][c]) > 0 {
			above = s.cells[i-1][c][0]
		}
		if above.Text == "" || ended(above.Text) || above.Box.X1 < s.extents[c].X0+0.85*s.extents[c].width() || s.pitch(i) > 1.5*above.Size {
			starts++
		}
	}
	return starts*10 >= 6*labels
}

// listing reports whether all lines are in type of one width, like program code. Numbers in columns are a table in any type.
func (s run) listing() bool {
	numbers, others := 0, 0
	for _, row := range s.rows {
		for i, l := range row {
			if !l.Mono() {
				return false
			}
			if i > 0 && isNumber(l.Text) {
				numbers++
			} else if i > 0 {
				others++
			}
		}
	}
	return numbers < 2*others || numbers < 6
}

var (
	entry  = regexp.MustCompile(`(?:\.\s?){4,}\s*(?:\d{1,4}|[ivxlc]{1,8})$`) // of a table of contents
	leader = regexp.MustCompile(`(?:\.\s?){4,}|…{2,}`)
	dots   = regexp.MustCompile(`(?:\s*\.){4,}\s*|(?:\s\.){2,}\s*|^(?:\.\s)+|\s*…{2,}\s*`) // that lead to the next column
	whole  = regexp.MustCompile(`^\d{1,4}$`)
)

// contents reports whether the rows are a table of contents: titles with rising page numbers, which dots may lead to, as to the amounts of a table.
func (s run) contents(leaders int) bool {
	rows, numbers := s.cells, 0
	for _, n := range s.numeric {
		if n {
			numbers++
		}
	}
	pages, rising, last, amounts := 0, true, -1, 0
	for _, row := range rows {
		end := row[len(row)-1]
		if len(end) == 1 && isNumber(end[0].Text) && !whole.MatchString(strings.TrimSpace(end[0].Text)) {
			amounts++
		}
		if len(end) != 1 || !whole.MatchString(strings.TrimSpace(end[0].Text)) {
			continue
		}
		n, _ := strconv.Atoi(end[0].Text)
		rising, last = rising && n >= last, n
		pages++
	}
	return leaders*2 > len(rows) && numbers < 3 && rising && amounts*2 < len(rows) || pages == len(rows) && rising && len(rows[0]) <= 3
}

// items reports whether the first of two columns holds the marks of a list and nothing else.
func items(rows [][][]Line) bool {
	if len(rows[0]) != 2 {
		return false
	}
	for _, row := range rows {
		for _, l := range row[0] {
			if !isMark(l.Text) {
				return false
			}
		}
	}
	return true
}

var clauseMark = regexp.MustCompile(`^(?:(\d{1,3}[.)]?)|(\d{1,3}(?:\.\d{1,2}){1,3}[.)]?)|(\(?(?:[a-z]|[ivx]{1,5})[.)]))$`)

// clauses reports whether the first of two columns numbers the clauses of a contract: numbers, parts of numbers and letters are marks of at least two
// kinds, and there is no head above them.
func clauses(rows [][][]Line) bool {
	const least = 3
	kinds, n := map[int]bool{}, 0
	for _, row := range rows {
		if len(row) != 2 {
			return false
		}
		if len(row[0]) == 0 || len(row[1]) == 0 {
			continue
		}
		m := clauseMark.FindStringSubmatch(row[0][0].Text)
		if m == nil || len(row[0]) > 1 || isNumber(row[1][0].Text) {
			return false
		}
		kinds[slices.IndexFunc(m[1:], func(s string) bool { return s != "" })] = true
		n++
	}
	return n >= least && len(kinds) > 1
}

// notes reports whether the first of two columns counts notes, and the second one has them: each ends like a sentence, and some are whole ones.
func notes(rows [][][]Line) bool {
	sentences := 0
	for i, row := range rows {
		if len(row) != 2 || len(row[0]) != 1 || len(row[1]) == 0 || !ended(row[1][len(row[1])-1].Text) {
			return false
		}
		if n := noteOf(row[0][0].Text + " -"); n < 0 || i > 0 && n != noteOf(rows[i-1][0][0].Text+" -")+1 {
			return false
		}
		if sentence(joinLines(row[1], nil)) {
			sentences++
		}
	}
	return sentences > 0
}
