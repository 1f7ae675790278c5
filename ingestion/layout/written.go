package layout

import (
	"math"
	"slices"
)

// Limits of columns that the file writes one after the other: lines of one, and rows of one that is a table; how many steps up the page are
// looked at, on a hostile page.
const (
	writtenLines = 3
	writtenRows  = 3
	maxWritten   = 60
)

// written divides lines where the file writes what is side by side one after the other, and that shows that it is not the columns of one table: each is
// rows of its own, a list, or an address. It returns the columns of each such part, and the other lines. tables are beside the lines, level are rules over rows.
func written(lines []Line, tables []item, level []Box) (parts [][][]Line, rest []Line) {
	inFile := slices.Clone(lines)
	slices.SortStableFunc(inFile, func(a, b Line) int { return a.at - b.at })
	tried, done := 0, 0
	for i := 1; i < len(inFile) && tried < maxWritten; i++ {
		if !risesTo(inFile[i-1], inFile[i]) {
			continue
		}
		tried++
		if columns, from, to := columnsAt(inFile, done, i); columns != nil && standAlone(columns) && alone(columns, slices.Concat(itemsOn(inFile[:from]), itemsOn(inFile[to:]), tables), level) {
			parts, rest = append(parts, columns), append(rest, inFile[done:from]...)
			done, i = to, to
		}
	}
	return parts, append(rest, inFile[done:]...)
}

// risesTo reports whether the file goes up the page and to the right.
func risesTo(l, next Line) bool {
	return next.base() < l.base()-0.5*l.Size && next.Box.X0 > l.Box.X0
}

// columnsAt returns columns of which the second begins with line i of the file, from the first place that is free, and their first and last place. Names of the
// columns that are before them in the file are the first lines of theirs.
func columnsAt(lines []Line, free, i int) (columns [][]Line, from, to int) {
	from, to = i, i
	first, right := lines[i], math.Inf(-1)
	for from > free {
		l := lines[from-1]
		if l.Box.X1 > first.Box.X0-l.Size || l.base() < first.base()-0.5*l.Size || from < i && risesTo(l, lines[from]) {
			break
		}
		from, right = from-1, max(right, l.Box.X1)
	}
	columns = append(columns, lines[from:i])
	for to < len(lines) && (to == i || risesTo(lines[to-1], lines[to]) && lines[to].base() > first.base()-0.5*first.Size) && lines[to].Box.X0 > right+lines[to].Size {
		start, edge := to, right
		for to < len(lines) && lines[to].Box.X0 > edge+lines[to].Size && (to == start || lines[to].base() >= lines[to-1].base()-0.5*lines[to].Size) {
			right = max(right, lines[to].Box.X1)
			to++
		}
		columns = append(columns, lines[start:to])
	}
	if from == i || len(columns) < 2 {
		return nil, from, to
	}
	if at := from - len(columns); at >= free && areNames(lines[at:from], columns) {
		named := make([][]Line, len(columns))
		for c := range columns {
			named[c] = slices.Concat([]Line{lines[at+c]}, columns[c])
		}
		columns, from = named, at
	}
	return columns, from, to
}

// areNames reports whether lines are beside one another, each close above its column and over no other one.
func areNames(names []Line, columns [][]Line) bool {
	const near = 3 // sizes
	for c, l := range names {
		box := boxOf(columns[c])
		if math.Abs(l.base()-names[0].base()) > 0.1*l.Size || l.Box.Y1 > box.Y0+0.3*l.Size || box.Y0-l.Box.Y1 > near*l.Size || overlap(l.Box, box) <= 0 {
			return false
		}
		if c > 0 && l.Box.X0 < names[c-1].Box.X1 {
			return false
		}
	}
	return true
}

// alone reports whether columns are beside one another, and nothing else is among them, no rule either.
func alone(columns [][]Line, others []item, level []Box) bool {
	all := boxOf(slices.Concat(columns...))
	for c := range columns[1:] {
		a, b := boxOf(columns[c]), boxOf(columns[c+1])
		if overlapping(a, b) < 0.4*max(a.height(), b.height()) {
			return false
		}
	}
	if slices.ContainsFunc(others, func(it item) bool {
		return overlap(all, it.box) > 0 && overlapping(all, it.box) > 0.3*min(all.height(), it.box.height())
	}) {
		return false
	}
	return !slices.ContainsFunc(level, func(r Box) bool {
		return r.Y0 > all.Y0 && r.Y0 < all.Y1 && overlap(all, r) > 0.75*all.width()
	})
}

// standAlone reports whether no column needs what is beside it: each has rows of its own, is a list or an address; or they are uneven,
// and one is a list or each has a heading.
func standAlone(columns [][]Line) bool {
	ruled, lists, addresses, headed, uneven := 0, 0, 0, 0, false
	for _, column := range columns {
		if len(column) < writtenLines {
			return false
		}
		rows := rowsOf(column)
		several := 0
		for _, row := range rows {
			if len(row) > 1 && !isMark(row[0].Text) {
				several++
			}
		}
		uneven = uneven || len(rows) != len(rowsOf(columns[0]))
		if first := (item{line: column[0]}); first.heads(item{line: column[1]}) && !isNumber(column[1].Text) {
			headed++
		}
		switch {
		case several >= writtenRows && several*4 >= len(rows):
			ruled++
		case isList(rows):
			lists++
		case isAddress(itemsOn(column)):
			addresses++
		}
	}
	return max(ruled, lists, addresses) == len(columns) || uneven && (lists > 0 && ruled == 0 || headed == len(columns))
}

// isList reports whether rows begin with the marks or the rising numbers of a list, but for names above.
func isList(rows [][]Line) bool {
	marked, last, begun := 0, -1, -1
	for i, row := range rows {
		n := numberOf(row[0].Text)
		if n >= 0 && n != last+1 && last >= 0 {
			return false
		}
		if n >= 0 || bullet.MatchString(row[0].Text) || isMark(row[0].Text) {
			marked, last = marked+1, n
			if begun < 0 {
				begun = i
			}
		}
	}
	return marked >= 2 && begun <= 2
}

func itemsOn(lines []Line) []item {
	out := make([]item, len(lines))
	for i, l := range lines {
		out[i] = itemOf(l)
	}
	return out
}

// checkWritten makes a table doubtful whose columns of words the file has one after the other, without rules that say what is a row.
func checkWritten(t *table, level []Box) {
	if slices.ContainsFunc(level, func(r Box) bool { return r.Y0 > t.box.Y0 && r.Y0 < t.box.Y1 && overlap(t.box, r) > 0.5*t.box.width() }) {
		return
	}
	for c := range len(t.rows[0]) - 1 {
		var left, right []item
		for _, row := range t.rows {
			left, right = append(left, itemsOn(slices.Concat(row[:c+1]...))...), append(right, itemsOn(slices.Concat(row[c+1:]...))...)
		}
		if min(len(left), len(right)) >= writtenLines && switches(left, right) == 1 && !paired(left, right) {
			t.doubt = "the file has the columns of a table one after the other"
		}
	}
}

// group makes one item of columns, which is read where they are.
func group(columns [][]Line, level []Box, depth int) item {
	lines := slices.Concat(columns...)
	t := table{box: boxOf(lines), rows: [][][]Line{{lines}}}
	for _, column := range columns {
		items, _ := arranged(column, nil, level, depth)
		t.group = append(t.group, items...)
	}
	return item{box: t.box, table: &t}
}

// ungrouped puts the items of groups in their places.
func ungrouped(items []item) []item {
	var out []item
	for _, it := range items {
		if it.table != nil && it.table.group != nil {
			out = append(out, it.table.group...)
		} else {
			out = append(out, it)
		}
	}
	return out
}
