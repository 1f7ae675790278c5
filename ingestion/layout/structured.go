package layout

import (
	"cmp"
	"math"
	"slices"
)

// Limits of a structure that is followed. Programs that tag by guessing write structures that no reader would.
const (
	maxTagWork   = 4_000_000 // lines times tags
	untaggedMost = 0.05      // of the characters: running heads and what else is no content
	wholePage    = 15        // lines of one block that is most of the page
	manyHeadings = 8         // more are too many when they are half of the blocks
	proseLines   = 12        // in one cell: the table only places text
	tabWidth     = 1.0       // sizes between lines that are beside one another
)

// taggedLine is a line, or a part of one, of one tagged block.
type taggedLine struct {
	line Line
	tag  Tag // the first of its tags
	at   int // of this tag in the structure
}

// structured puts lines into the order of the document's own structure, with its tables. It fails when the page has no structure or one that
// does not fit what is seen: text that it leaves out, or blocks that jump up their column.
func structured(lines []Line, tags []Tag) ([]item, bool) {
	if len(tags) == 0 || len(lines)*len(tags) > maxTagWork {
		return nil, false
	}
	var pieces []taggedLine
	var untagged []Line
	all, left := 0, 0
	for _, line := range lines {
		found := dividedByTags(line, tags)
		if all += line.runes(); len(found) == 0 {
			if untagged = append(untagged, line); line.latex == "" { // browsers do not tag formulas
				left += line.runes()
			}
		}
		pieces = append(pieces, found...)
	}
	if len(pieces) == 0 || float64(left) > untaggedMost*float64(all) {
		return nil, false
	}
	slices.SortStableFunc(pieces, func(a, b taggedLine) int { return cmp.Compare(a.at, b.at) })
	if joinsColumns(pieces) {
		return nil, false
	}
	pieces = joinedTagged(pieces)
	if !plausible(pieces) || !sparing(pieces) || !countsUp(pieces) {
		return nil, false
	}
	untagLines(pieces)
	items, notes, ok := itemsOf(pieces)
	if !ok {
		return nil, false
	}
	return withUntagged(append(floatsInPlace(items), notes...), untagged), true
}

// floatsInPlace returns blocks in the order of the file if that is the shorter way over the page: word processors tag text boxes, such as
// captions of pictures, after everything else, and draw them where they are. A file that goes from column to column and back has many more
// jumps than the structure, even if its way is shorter: it has one when it goes to a text box, and one when it returns.
func floatsInPlace(items []item) []item {
	var blocks [][]item
	for i, it := range items {
		if i == 0 || it.tag.Block == 0 || it.tag.Block != items[i-1].tag.Block {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], it)
	}
	slices.SortStableFunc(blocks, func(a, b []item) int { return cmp.Compare(a[0].place(), b[0].place()) })
	if file := slices.Concat(blocks...); jumps(file) <= 2*jumps(items) && way(file) < way(items) {
		return file
	}
	return items
}

// way is how far an order goes up and down the page.
func way(items []item) (far float64) {
	for i := 1; i < len(items); i++ {
		far += math.Abs(items[i].box.Y0 - items[i-1].box.Y0)
	}
	return far
}

// dividedByTags divides a line where another block begins.
func dividedByTags(line Line, tags []Tag) []taggedLine {
	type part struct {
		box Box
		at  int
	}
	var parts []part
	for i, t := range tags {
		if y := (t.Box.Y0 + t.Box.Y1) / 2; y < line.Box.Y0-1 || y > line.Box.Y1+1 || t.Box.X1 <= line.Box.X0 || t.Box.X0 >= line.Box.X1 {
			continue
		}
		known := slices.IndexFunc(parts, func(p part) bool { return tags[p.at].Block == t.Block })
		if known < 0 {
			parts = append(parts, part{t.Box, i})
			continue
		}
		parts[known].box = parts[known].box.join(t.Box)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.box.X0, b.box.X0) })
	var out []taggedLine
	for i, p := range parts {
		rest := Line{}
		// There is no wide gap in a line: what is behind one only seems to be in it, because the line's end is estimated.
		if i+1 < len(parts) && parts[i+1].box.X0-p.box.X1 < 1.5*line.Size {
			line, rest = line.cutAt((p.box.X1 + parts[i+1].box.X0) / 2)
		}
		out = append(out, taggedLine{line, tags[p.at], p.at})
		if rest.Text == "" {
			break // what could not be divided stays with the first
		}
		line = rest
	}
	return out
}

// joinedTagged makes one line of pieces of a block that follow one another on a baseline.
func joinedTagged(pieces []taggedLine) []taggedLine {
	var out []taggedLine
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].continues(p) {
			out[n-1].line = merge([]Line{out[n-1].line, p.line})
			continue
		}
		out = append(out, p)
	}
	return out
}

// joinsColumns reports whether a block has lines beside one another in several rows, with a gap that runs on from one row to the next. Browsers
// tag tables without borders and headings as plain text.
func joinsColumns(pieces []taggedLine) bool {
	var above, gaps []Box // of the row before, and of this one
	for i, p := range pieces {
		switch {
		case i == 0 || p.tag.Table != 0 || pieces[i-1].tag.Block != p.tag.Block:
			above, gaps = nil, nil
			continue
		case !pieces[i-1].continues(p):
			above, gaps = gaps, nil
			continue
		}
		gap := Box{X0: pieces[i-1].line.Box.X1, X1: p.line.Box.X0}
		if gap.width() < tabWidth*p.line.Size {
			continue
		}
		if slices.ContainsFunc(above, func(b Box) bool { return overlap(b, gap) > 0 }) {
			return true
		}
		gaps = append(gaps, gap)
	}
	return false
}

// continues reports whether a piece is of the same block and on the same baseline, further right.
func (p taggedLine) continues(next taggedLine) bool {
	return p.tag.Block == next.tag.Block && math.Abs(p.line.base()-next.line.base()) <= 0.3*min(p.line.Size, next.line.Size) && next.line.Box.X0 >= p.line.Box.X0
}

// plausible reports whether the order runs down the page within each column, and no block is nearly all of the page.
func plausible(pieces []taggedLine) bool {
	inBlock, jumps, steps := map[int]int{}, 0, 0
	for i, p := range pieces {
		if p.tag.Table == 0 {
			inBlock[p.tag.Block]++
			if n := inBlock[p.tag.Block]; n > wholePage && n*5 > len(pieces)*3 {
				return false
			}
		}
		if i == 0 {
			continue
		}
		before := pieces[i-1]
		if p.tag.Table != 0 && p.tag.Table == before.tag.Table {
			continue
		}
		steps++
		beside := p.line.Box.X0 >= before.line.Box.X1 || p.line.Box.X1 <= before.line.Box.X0
		if !beside && p.line.base() < before.line.base()-0.5*p.line.Size {
			jumps++
		}
	}
	return jumps == 0 || jumps*20 <= steps
}

// sparing reports whether the headings are few enough to be headings.
func sparing(pieces []taggedLine) bool {
	blocks, headings := map[int]bool{}, map[int]bool{}
	for _, p := range pieces {
		if blocks[p.tag.Block] = true; p.tag.Role == RoleHeading {
			headings[p.tag.Block] = true
		}
	}
	return len(headings) <= manyHeadings || len(headings)*2 <= len(blocks)
}

// countsUp reports whether numbered headings are in the order of their numbers. Browsers tag the boxes of a grid row by row, whatever was
// numbered.
func countsUp(pieces []taggedLine) bool {
	last := map[int]int{} // number of the last heading of a level
	for _, p := range pieces {
		if p.tag.Role != RoleHeading {
			continue
		}
		if n, _ := ordinalOf(p.line.Text); n > 0 {
			if n < last[p.tag.Level] && n > 1 {
				return false
			}
			last[p.tag.Level] = n
		}
	}
	return true
}

// untagLines removes the tags of paragraphs where a program has tagged each line as one. Their order stays.
func untagLines(pieces []taggedLine) {
	lines := map[int]int{}
	for _, p := range pieces {
		if p.tag.Role == RoleParagraph {
			lines[p.tag.Block]++
		}
	}
	long := 0
	for _, n := range lines {
		if n > 1 {
			long++
		}
	}
	if long*10 > len(lines) {
		return
	}
	for i := range pieces {
		if pieces[i].tag.Role == RoleParagraph {
			pieces[i].tag = Tag{}
		}
	}
}

// itemsOf makes items of pieces, and tables of the cells of each table. Notes at the foot of the page are apart.
func itemsOf(pieces []taggedLine) (out, notes []item, ok bool) {
	for from := 0; from < len(pieces); {
		p := pieces[from]
		switch it := (item{box: p.line.Box, line: p.line, tag: p.tag}); {
		case p.tag.Role == RoleNote: // the structure has it where its number is
			notes = append(notes, it)
			from++
			continue
		case p.tag.Table == 0:
			out = append(out, it)
			from++
			continue
		}
		to := from
		for to < len(pieces) && pieces[to].tag.Table == p.tag.Table {
			to++
		}
		t, isTable, ok := taggedTable(pieces[from:to])
		if !ok {
			return nil, nil, false
		}
		if isTable {
			out = append(out, item{box: t.box, table: &t})
		} else {
			for _, p := range pieces[from:to] {
				out = append(out, item{box: p.line.Box, line: p.line, tag: p.tag})
			}
		}
		from = to
	}
	return out, notes, true
}

// taggedTable makes a table of its cells. It is none if it has one row or column, or only places text. It fails if the cells are not where
// their rows and columns say.
func taggedTable(cells []taggedLine) (t table, is, ok bool) {
	rows, columns := 0, 0
	lines := make([]Line, 0, len(cells))
	for _, c := range cells {
		lines = append(lines, c.line)
		rows, columns = max(rows, c.tag.Row), max(columns, c.tag.Column)
		if c.tag.Row < 1 || c.tag.Column < 1 {
			return table{}, false, false
		}
	}
	if rows < 2 || columns < 2 || columns > maxColumns || rows*columns > maxCells {
		return table{}, false, len(lines) <= proseLines || mostlyLong(lines)
	}
	t = table{box: cells[0].line.Box, rows: make([][][]Line, rows)}
	for r := range t.rows {
		t.rows[r] = make([][]Line, columns)
	}
	for _, c := range cells {
		cell := &t.rows[c.tag.Row-1][c.tag.Column-1]
		*cell = append(*cell, c.line)
		t.box = t.box.join(c.line.Box)
	}
	for _, cell := range slices.Concat(t.rows...) {
		if len(cell) > proseLines {
			return table{}, false, mostlyLong(cell) // short lines are rows that the structure has as one
		}
	}
	t.spread()
	t.trim()
	if len(t.rows) < 2 || len(t.rows[0]) < 2 {
		return table{}, false, true
	}
	return t, true, t.inPlace()
}

// mostlyLong reports whether lines are set like text.
func mostlyLong(lines []Line) bool {
	long := 0
	for _, l := range lines {
		if l.runes() > 30 {
			long++
		}
	}
	return long*2 > len(lines)
}

// spread moves the cells of rows with too few to the columns where they are on the page: structures leave out empty cells.
func (t table) spread() {
	columns := make([]Box, len(t.rows[0]))
	full := 0
	for _, row := range t.rows {
		if filledCells(row) < len(row) {
			continue
		}
		for c, cell := range row {
			if box := boxOf(cell); full == 0 {
				columns[c] = box
			} else {
				columns[c] = columns[c].join(box)
			}
		}
		full++
	}
	if full == 0 {
		return
	}
	for r, row := range t.rows {
		n := filledCells(row)
		if n == len(row) || filledCells(row[:n]) < n {
			continue // the structure itself leaves places free
		}
		if moved, ok := placed(row[:n], columns); ok {
			t.rows[r] = moved
		}
	}
}

// placed puts the cells of a row into the columns where they are on the page. It fails if one covers several.
func placed(cells [][]Line, columns []Box) ([][]Line, bool) {
	out, next := make([][]Line, len(columns)), 0
	for i, cell := range cells {
		box, best := boxOf(cell), next
		for c := next; c <= len(columns)-(len(cells)-i); c++ {
			if overlap(box, columns[c]) > overlap(box, columns[best]) {
				best = c
			}
		}
		if overlap(box, columns[best]) < 0.7*min(box.width(), columns[best].width()) {
			return nil, false
		}
		for c, column := range columns {
			if c != best && overlap(box, column) > 0.3*column.width() {
				return nil, false
			}
		}
		out[best], next = cell, best+1
	}
	return out, true
}

// overlap is the width that two boxes share. It is negative if they are apart.
func overlap(a, b Box) float64 { return min(a.X1, b.X1) - max(a.X0, b.X0) }

// inPlace reports whether rows follow one another down the page, and the cells of a row from left to right.
func (t table) inPlace() bool {
	wrong, pairs, bottom := 0, 0, math.Inf(-1)
	for _, row := range t.rows {
		right, top := math.Inf(-1), math.Inf(1)
		for _, cell := range row {
			if len(cell) == 0 {
				continue
			}
			box := boxOf(cell)
			pairs++
			if box.X0 < right-1 {
				wrong++
			}
			right, top = (box.X0+box.X1)/2, min(top, box.Y0)
		}
		if top < bottom-1 {
			wrong++
		}
		if !math.IsInf(top, 1) {
			bottom = top
		}
	}
	return wrong*20 <= pairs
}

// withUntagged adds lines that the structure leaves out: each before the first item that begins below it, in its column if there is one.
func withUntagged(items []item, lines []Line) []item {
	for _, row := range rowsOf(lines) {
		line := merge(row)
		below := func(it item) bool { return it.box.Y0 > line.Box.Y0 }
		at := slices.IndexFunc(items, func(it item) bool { return below(it) && overlap(it.box, line.Box) > 0 })
		if at < 0 {
			at = slices.IndexFunc(items, below)
		}
		if at < 0 {
			at = len(items)
		}
		items = slices.Insert(items, at, item{box: line.Box, line: line})
	}
	return items
}
