package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// sheet is a part of a page on its way to become a table: rows of pieces on one baseline, from the top down, and the gaps between columns.
type sheet struct {
	box     Box
	rows    [][]Line
	gutters []gap
	rules   []Box  // level rules among the rows
	ruled   []bool // rows that a rule over most of the columns goes above
	cells   [][][]Line
	extents []Box     // of each column's text, without names over several columns
	limits  []float64 // where lines of each column wrap
	numeric []bool    // columns that are mostly numbers
	smalls  []bool    // columns of names in small letters
	head    int       // rows of it
}

func newSheet(rows [][]Line, rules []Box) sheet {
	s := sheet{box: boxOf(slices.Concat(rows...)), rows: rows, rules: amongst(rules, rows), gutters: aroundNames(rows, gutters(rows))}
	for {
		s.extents = nil
		s.place()
		s.measure()
		s.place()
		s.head = s.headRows()
		if !s.dropGutter() {
			s.levelHead()
			return s
		}
	}
}

// levelHead divides the rows of the head into those of one baseline: names over several columns are a line above others, and a name beside both is at
// the height between.
func (s *sheet) levelHead() {
	level := rowsOf(slices.Concat(s.rows[:s.head]...))
	if len(level) == s.head {
		return
	}
	s.rows, s.head = slices.Concat(level, s.rows[s.head:]), len(level)
	s.place()
	s.measure()
}

// place puts pieces into columns. A piece that reaches over several goes into the first of them, unless it is several cells that the
// renderer took for one.
func (s *sheet) place() {
	before := s.cells
	s.cells = make([][][]Line, len(s.rows))
	for i, row := range s.rows {
		s.cells[i] = make([][]Line, s.columns())
		for _, l := range row {
			parts := l.cutInto(s.gutters)
			if len(parts) == 1 && len(before) > 0 {
				parts = l.cutIntoAligned(s.gutters, before)
			}
			for _, part := range parts {
				c := s.column(part)
				s.cells[i][c] = append(s.cells[i][c], part)
			}
		}
		moveLabels(s.cells[i])
	}
}

// moveLabels puts a name before an amount, both in one column, into the column to the left if that has nothing in the row.
func moveLabels(row [][]Line) {
	for c := 1; c < len(row); c++ {
		cell := row[c]
		if len(cell) == 2 && len(row[c-1]) == 0 && !isNumber(cell[0].Text) && isNumber(cell[1].Text) && cell[1].Box.X0-cell[0].Box.X1 > 2*cell[0].Size &&
			math.Abs(cell[0].base()-cell[1].base()) < 0.3*cell[0].Size {
			row[c-1], row[c] = cell[:1], cell[1:]
		}
	}
}

// column returns the column of a piece: the first that it is above or below.
func (s *sheet) column(l Line) int {
	for c, e := range s.extents {
		if e.X0 < l.Box.X1-1 && e.X1 > l.Box.X0+1 {
			return c
		}
	}
	if len(s.extents) > 0 {
		return columnAt(s.gutters, (l.Box.X0+l.Box.X1)/2)
	}
	return columnAt(s.gutters, l.Box.X0+0.3*l.Size)
}

// levelRules returns the level rules of a page from the top down.
func levelRules(rules []Box) []Box {
	var out []Box
	for _, r := range rules[:min(len(rules), maxRules)] {
		if r.height() <= thick && r.width() >= shortest {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Box) int { return cmp.Compare(a.Y0, b.Y0) })
	return out
}

// amongst returns those of level rules that are between rows.
func amongst(rules []Box, rows [][]Line) []Box {
	var out []Box
	box := boxOf(slices.Concat(rows...))
	from, _ := slices.BinarySearchFunc(rules, box.Y0, func(r Box, y float64) int { return cmp.Compare(r.Y0, y) })
	for _, r := range rules[from:] {
		if r.Y0 >= box.Y1 {
			break
		}
		if r.X0 < box.X1 && r.X1 > box.X0 {
			out = append(out, r)
		}
	}
	return merged(out, false)
}

// dropGutter drops a gap on one side of which the body has nothing: a gap between words of the head; or nothing but labels of totals.
func (s *sheet) dropGutter() bool {
	for c := 1; c+1 < s.columns(); c++ {
		if onlyLabels(s, c) {
			s.gutters = slices.Delete(slices.Clone(s.gutters), c-1, c)
			return true
		}
	}
	for c := range s.columns() {
		if slices.ContainsFunc(s.cells[s.head:], func(row [][]Line) bool { return len(row[c]) > 0 }) || len(s.gutters) < 2 || s.head == len(s.cells) || hasOwnName(s, c) {
			continue
		}
		at := max(c-1, 0) // the narrower gap of both
		if width := func(g gap) float64 { return g.to - g.from }; c > 0 && c < len(s.gutters) && width(s.gutters[c]) < width(s.gutters[c-1]) {
			at = c
		}
		s.gutters = slices.Delete(slices.Clone(s.gutters), at, at+1)
		return true
	}
	return false
}

// onlyLabels reports whether a column has nothing but a name in each of the last rows, with an amount to its right and nothing to its left.
func onlyLabels(s *sheet, c int) bool {
	labels := false
	for i := len(s.cells) - 1; i >= 0; i-- {
		row := s.cells[i]
		if len(row[c]) == 0 {
			return labels && i+1 > s.head && !slices.ContainsFunc(s.cells[:i], func(above [][]Line) bool { return len(above[c]) > 0 })
		}
		labels = len(row[c+1]) == 1 && isNumber(row[c+1][0].Text) && !isNumber(row[c][0].Text) && filledCells(row[:c]) == 0
		if !labels {
			return false
		}
	}
	return false
}

// hasOwnName reports whether a column without cells has a name of its own: one piece, on a level with those of the columns beside it, in the row with
// the most pieces.
func hasOwnName(s *sheet, c int) (found bool) {
	most := 0 // pieces in a row below
	for _, row := range s.rows[s.head:] {
		most = max(most, len(row))
	}
	if names := len(s.rows[0]); most >= names || most*2 < names || len(s.rows)-s.head < 2 {
		return false
	}
	for _, row := range s.cells[:s.head] {
		if len(row[c]) == 0 {
			continue
		}
		if len(row[c]) > 1 {
			return false
		}
		for _, beside := range []int{c - 1, c + 1} {
			if beside >= 0 && beside < len(row) && (len(row[beside]) != 1 || math.Abs(row[beside][0].base()-row[c][0].base()) > 0.3*row[c][0].Size) {
				return false
			}
		}
		found = true
	}
	return found
}

// aroundNames adds gutters beside pieces of the first row that nothing is below, as the names of columns without cells. There are more names than
// pieces in any other row, and none above others.
func aroundNames(rows [][]Line, gutters []gap) []gap {
	if len(rows) < 3 || len(rows[0]) > maxColumns || len(rowsOf(rows[0])) > 2 || slices.ContainsFunc(rows[1:], func(row []Line) bool { return len(row) >= len(rows[0]) }) {
		return gutters
	}
	for i, name := range rows[0] {
		near := 0.3 * name.Size
		left, right, alone := gap{math.Inf(-1), name.Box.X0}, gap{name.Box.X1, math.Inf(1)}, i > 0
		for n, row := range rows {
			for j, l := range row {
				switch {
				case n == 0 && j == i:
				case l.Box.X1 < name.Box.X0-near:
					left.from = max(left.from, l.Box.X1)
				case l.Box.X0 > name.Box.X1+near:
					right.to = min(right.to, l.Box.X0)
				default:
					alone = false
				}
			}
		}
		if !alone {
			continue
		}
		gutters = slices.DeleteFunc(slices.Clone(gutters), func(g gap) bool { return g.middle() > left.from && g.middle() < right.to })
		gutters = append(gutters, left)
		if !math.IsInf(right.to, 1) {
			gutters = append(gutters, right)
		}
		slices.SortFunc(gutters, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	}
	return gutters
}

// sheetOf is a sheet of what is between two rules, in known columns.
func sheetOf(row [][]Line, gutters []gap, box Box) sheet {
	s := sheet{box: box, gutters: gutters, rows: tableRows(slices.Concat(row...))}
	tops := make([]float64, len(s.rows))
	for i, lines := range s.rows {
		tops[i] = lines[0].base()
		for _, l := range lines {
			tops[i] = min(tops[i], l.base())
		}
		s.cells = append(s.cells, make([][]Line, len(row)))
	}
	for c, cell := range row {
		for _, l := range cell {
			i, found := slices.BinarySearch(tops, l.base())
			if !found {
				i--
			}
			s.cells[i][c] = append(s.cells[i][c], l)
		}
	}
	s.measure()
	return s
}

// measure finds the place of each column's text, which columns hold numbers, and which rows are below a rule.
func (s *sheet) measure() {
	s.extents, s.numeric, s.limits = make([]Box, s.columns()), make([]bool, s.columns()), make([]float64, s.columns())
	for c := range s.columns() {
		numbers, all := 0, 0
		for _, row := range s.cells {
			for _, l := range row[c] {
				if c < len(s.gutters) && l.Box.X1 > s.gutters[c].middle() {
					continue // it reaches over more than this column
				}
				if s.extents[c] == (Box{}) {
					s.extents[c] = l.Box
				}
				s.extents[c] = s.extents[c].join(l.Box)
				if all++; isNumber(l.Text) {
					numbers++
				}
			}
		}
		s.numeric[c] = numbers > 0 && numbers*2 >= all
		s.limits[c] = column{*s, c}.limit()
	}
	s.smalls = make([]bool, s.columns())
	for c := range s.columns() {
		s.smalls[c] = s.smalls[0] || column{*s, c}.inSmalls() // names in small letters begin rows, whatever is beside them
	}
	s.ruled = make([]bool, len(s.rows))
	wide := make([]float64, len(s.rows)) // of the rules above each row
	bases := make([]float64, len(s.rows))
	for i, row := range s.rows {
		bases[i] = row[0].base()
	}
	for _, r := range s.rules {
		if i, _ := slices.BinarySearch(bases, r.Y0+1); i > 0 && i < len(wide) {
			wide[i] += r.width()
			s.ruled[i] = s.ruled[i] || r.X0 < s.extents[0].X0+s.rows[0][0].Size // those over some columns leave the first out
		}
	}
	for i, w := range wide {
		s.ruled[i] = s.ruled[i] && w > 0.75*s.box.width()
	}
}

func (s sheet) columns() int { return len(s.gutters) + 1 }

// headRows returns how many of the first rows are the head: those above the first rule, or those above the first row of numbers.
func (s sheet) headRows() int {
	const most = 8
	for i := 1; i < min(len(s.rows), most); i++ {
		if s.ruled[i] && namedAmounts(s.cells[:i], s.numeric) < 2 {
			return i
		}
	}
	numeric := 0
	for _, n := range s.numeric {
		if n {
			numeric++
		}
	}
	if numeric == 0 || numeric*2 < s.columns()-1 {
		return min(1, len(s.rows))
	}
	for i := range min(len(s.rows), most) {
		numbers := 0
		for c, cell := range s.cells[i] {
			if s.numeric[c] && len(cell) > 0 && isNumber(cell[0].Text) && !isYear(cell[0].Text) {
				numbers++
			}
		}
		if numbers > 0 && numbers*2 >= filledCells(s.cells[i])-1 {
			for i > 1 && s.titled(i-1) {
				i--
			}
			return max(i, 1)
		}
	}
	return min(1, len(s.rows))
}

// titled reports whether row i, above the first numbers, is the title of a section and no part of the head: a name in the first column, or over the
// whole table, when all columns have one above.
func (s sheet) titled(i int) bool {
	if filledCells(s.cells[i]) > 1 || s.wraps(0, i) || len(s.cells[i][0]) == 0 && !s.titlesNumbers(i) {
		return false
	}
	for c := range s.columns() {
		if c > 0 && !slices.ContainsFunc(s.cells[:i], func(row [][]Line) bool { return len(row[c]) > 0 }) {
			return false
		}
	}
	return true
}

// namedAmounts counts the rows that are a name with an amount.
func namedAmounts(rows [][][]Line, numeric []bool) (n int) {
	for _, row := range rows {
		for c, cell := range row[1:] {
			if len(row[0]) > 0 && numeric[c+1] && len(cell) > 0 && isNumber(cell[0].Text) && !isYear(cell[0].Text) {
				n++
				break
			}
		}
	}
	return n
}

// isYear reports whether a number is like those in heads: 2004, 2003–04.
func isYear(text string) bool {
	text = strings.TrimFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
	return len(text) >= 4 && (text[:2] == "19" || text[:2] == "20") && !strings.ContainsAny(text, ".,%") && (len(text) == 4 || !unicode.IsDigit(rune(text[4])))
}

// table makes rows of cells.
func (s sheet) table() table {
	begins, first := s.centred(s.head)
	if begins == nil {
		begins, first = bottoms{s}.begins(s.head)
	}
	if begins != nil {
		s.head = first
	}
	t := table{box: s.box, rows: append(names{s}.headCells(), s.bodyCells(begins)...)}
	if begins == nil && staggered(s) {
		t.doubt = rowsDoubt
	}
	return t
}

// staggered reports whether cells seem to be set at the middle of their rows, and nothing shows where these begin: some lines are half a line higher than
// those beside them.
func staggered(s sheet) bool {
	const few = 2
	n := 0
	for _, row := range s.rows[s.head:] {
		if len(rowsOf(row)) > 1 {
			n++
		}
	}
	return n >= few && s.byRules(s.head) == nil && s.bySpace(s.head) == nil
}

// bodyCells joins the rows of lines that make one row of the table.
func (s sheet) bodyCells(begins []bool) [][][]Line {
	from := s.head
	if from < 2 {
		from = 0
	}
	if begins == nil {
		begins = s.byRules(from)
	}
	if begins == nil {
		begins = s.bySpace(from)
	}
	var out [][][]Line
	end, totals := endingOf(s), totalsOf(s)
	for i := from; i < len(s.rows); i++ {
		start := i == from || s.ruled[i] || i >= totals
		if begins != nil {
			start = start || begins[i]
		} else {
			start = start || end.beginsAt(i) || s.begins(i) || s.secondAmount(out[len(out)-1], i)
		}
		if start {
			row := slices.Clone(s.cells[i])
			if n := len(out); n > 0 && s.spansRows(i) {
				out[n-1][0], row[0] = slices.Concat(out[n-1][0], row[0]), nil
			}
			out = append(out, row)
			continue
		}
		for c, cell := range s.cells[i] {
			out[len(out)-1][c] = slices.Concat(out[len(out)-1][c], cell)
		}
	}
	return out
}

// spansRows reports whether the first cell of row i is the rest of a name that covers two rows.
func (s sheet) spansRows(i int) bool {
	row := s.cells[i]
	if len(row[0]) == 0 || filledCells(row) < 2 || filledCells(s.cells[i-1]) < 2 || !s.wraps(0, i) {
		return false
	}
	last := row[0][len(row[0])-1]
	for _, cell := range row[1:] {
		if len(cell) > 0 && cell[0].base()-last.base() < 0.3*last.Size {
			return false
		}
	}
	return true
}

// byRules returns where rows begin if rules divide all rows: they go above many of them, and what is between two has one line that
// fills the columns.
func (s sheet) byRules(from int) []bool {
	out, ruled, full, rich, several := make([]bool, len(s.rows)), 0, 0, 0, 0
	for _, row := range s.cells {
		full = max(full, filledCells(row))
	}
	for i := from; i < len(s.rows); i++ {
		if i > from && s.ruled[i] {
			out[i], rich = true, 0
			ruled++
		}
		if s.rich(i, full) {
			if rich++; rich == 2 {
				several++
			}
		}
	}
	if ruled < 3 || ruled*3 < len(s.rows)-from || several*3 > ruled {
		return nil
	}
	return out
}

// rich reports whether row i fills all columns, or most of them with numbers: then it is more than the rest of a row.
func (s sheet) rich(i, full int) bool {
	numbers, filled := 0, filledCells(s.cells[i])
	for _, cell := range s.cells[i] {
		if len(cell) > 0 && isNumber(cell[0].Text) {
			numbers++
		}
	}
	return filled == full || filled*3 > full*2 && numbers*2 >= filled
}

// bySpace returns where rows begin if there is more space between rows than between the lines of a row. The space below the head says
// nothing about it, and a row has one amount in a column.
func (s sheet) bySpace(from int) []bool {
	out := make([]bool, len(s.rows))
	least, full := 1e9, 0
	for i := from; i < len(s.rows); i++ {
		full = max(full, filledCells(s.cells[i]))
		if i > from {
			least = min(least, s.pitch(i))
		}
	}
	together, bothFull, apart, begin := 0, 0, false, from
	groups, several, last := 0, 0, -1 // of more than one line, those of several rows, and where the last of these began
	for i := from + 1; i < len(s.rows); i++ {
		if out[i] = s.pitch(i) > 1.12*least; out[i] {
			apart, begin = apart || i != max(s.head, 1), i
			continue
		}
		if together++; begin == i-1 {
			groups++
		}
		if s.rich(i, full) && s.rich(i-1, full) {
			bothFull++
		}
		if last < begin && s.repeats(begin, i) {
			last = begin
			several++
		}
	}
	if !apart || together == 0 || bothFull*2 >= together || several*2 >= groups && several > 0 {
		return nil
	}
	return out
}

// repeats reports whether row i has a name, and an amount in a column where one of the rows above has another. One in parentheses below
// another belongs to it.
func (s sheet) repeats(from, i int) bool {
	amountIn := func(row [][]Line, c int) bool {
		return len(row[c]) > 0 && isNumber(row[c][0].Text) && !strings.ContainsAny(row[c][0].Text[:1], "([±")
	}
	named, again := len(s.cells[i][0]) > 0, false
	for c, cell := range s.cells[i] {
		named = named || len(cell) > 0 && !isNumber(cell[0].Text) && !s.wraps(c, i)
		again = again || s.numeric[c] && amountIn(s.cells[i], c) && slices.ContainsFunc(s.cells[from:i], func(row [][]Line) bool { return amountIn(row, c) })
	}
	return named && again
}

// secondAmount reports whether row i has an amount in a column where a row of the table has one already. One in parentheses belongs to the other.
func (s sheet) secondAmount(row [][]Line, i int) bool {
	for c, cell := range s.cells[i] {
		if s.numeric[c] && len(cell) > 0 && amount.MatchString(cell[0].Text) && cell[0].Text[0] != '(' &&
			slices.ContainsFunc(row[c], func(l Line) bool { return amount.MatchString(l.Text) }) {
			return true
		}
	}
	return false
}

// pitch is the distance of row i from the one before.
func (s sheet) pitch(i int) float64 { return pitch(s.rows[i-1], s.rows[i]) }

// pitch is the distance between the baselines of two rows.
func pitch(before, row []Line) float64 {
	last, first := before[0].base(), row[0].base()
	for _, l := range before {
		last = max(last, l.base())
	}
	for _, l := range row {
		first = min(first, l.base())
	}
	return first - last
}

// begins reports whether row i begins a row of the table, where all lines are equally far from one another.
func (s sheet) begins(i int) bool {
	row := s.cells[i]
	filled, full := filledCells(row), 0
	for _, r := range s.cells {
		full = max(full, filledCells(r))
	}
	numbers, amounts := false, false
	for c, cell := range row[1:] {
		number := len(cell) > 0 && isNumber(cell[0].Text)
		numbers, amounts = numbers || number, amounts || number && s.numeric[c+1]
	}
	switch {
	case timed(s.cells, i):
		return true
	case s.continued(i), s.hangs(i):
		return false
	case len(row[0]) == 0:
		return amounts || filled*2 > full || s.titlesNumbers(i)
	case filled > 1:
		// The end of a name that began in the line before, with the row's numbers.
		return !(numbers && filledCells(s.cells[i-1]) == 1 && s.wraps(0, i) && !s.opens(i-1) && !s.hangs(i-1))
	}
	return !s.wraps(0, i) || s.opens(i) || filledCells(s.cells[i-1]) == 1 && i > 1 && s.wraps(0, i-1)
}

var clock = regexp.MustCompile(`^\d{1,2}[:.]\d{2}(?: \PZ|$)`)

// timed reports whether row i begins with a time of day, as those of a programme do.
func timed(rows [][][]Line, i int) bool {
	const least = 3
	begins := func(row [][]Line) bool { return len(row[0]) > 0 && clock.MatchString(row[0][0].Text) }
	n := 0
	for _, row := range rows {
		if begins(row) {
			n++
		}
	}
	return n >= least && begins(rows[i])
}

// titlesNumbers reports whether row i is nothing but a name at the middle of the table that reaches into a column of numbers, as the title of a section.
func (s sheet) titlesNumbers(i int) bool {
	if filledCells(s.cells[i]) != 1 {
		return false
	}
	c := slices.IndexFunc(s.cells[i], func(cell []Line) bool { return len(cell) > 0 })
	l := s.cells[i][c][0]
	return s.numeric[c] && !isNumber(l.Text) && !s.wraps(c, i) && s.box.atMiddle(l)
}

// hangs reports whether row i is nothing but the rest of a name, further in than the names above and below.
func (s sheet) hangs(i int) bool {
	if i == 0 || i+1 == len(s.rows) || filledCells(s.cells[i]) > 1 || filledCells(s.cells[i-1]) < 2 {
		return false
	}
	above, row, below := s.cells[i-1][0], s.cells[i][0], s.cells[i+1][0]
	if len(above) == 0 || len(row) == 0 || len(below) == 0 {
		return false
	}
	in := row[0].Box.X0 - above[0].Box.X0
	return in > 0.3*row[0].Size && in < 3*row[0].Size && row[0].Box.X0-below[0].Box.X0 > 0.3*row[0].Size
}

// opens reports whether row i has more space above than below, like the title of a section.
func (s sheet) opens(i int) bool {
	return i > 0 && i+1 < len(s.rows) && s.pitch(i) > 1.3*s.pitch(i+1)
}

// continued reports whether all cells of row i continue those above. Short names below one another are no running text, and
// what fills all of many columns is a row, unless words are divided.
func (s sheet) continued(i int) bool {
	small, long, divided := false, false, false
	for c, cell := range s.cells[i] {
		if len(cell) == 0 {
			continue
		}
		if isNumber(cell[0].Text) || !s.wraps(c, i) {
			return false
		}
		above := s.cells[i-1][c]
		_, hyphen := hyphenated(above[len(above)-1].Text, cell[0].Text)
		small, divided = small || !beginsUpper(cell[0].Text) && !s.smalls[c], divided || hyphen
		long = long || above[0].runes() >= 10
	}
	filled := filledCells(s.cells[i])
	return divided || small && long && (filled <= 3 || filled < s.columns())
}
