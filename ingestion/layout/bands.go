package layout

import (
	"cmp"
	"math"
	"slices"
)

// A page is read in bands, from the top down. A band is full-width text, or columns beside one another; each has its own gutter.
// Where the places of lines allow both, the order of the file decides: programs write a column in one go, and a table row by row.

// verdict is what the lines on both sides of a gutter are.
type verdict int

const (
	unclear verdict = iota
	rows            // of a table, or labels and what belongs to them
	columns
)

// maxStrips is how far sectionEnds looks ahead, on a hostile page.
const maxStrips = 100

// strip is a part of a page with white space above and below.
type strip struct {
	items       []item
	left, right []item
	across      bool // an item goes over the gutter
	is          verdict
}

// pair is what is on both sides of a gutter, with its first and last place in the file.
type pair struct {
	left, right     []item
	leftAt, rightAt [2]int
}

func (p *pair) add(left, right []item) {
	p.left, p.leftAt = append(p.left, left...), spanned(p.leftAt, left, len(p.left) == 0)
	p.right, p.rightAt = append(p.right, right...), spanned(p.rightAt, right, len(p.right) == 0)
}

// spanned extends a span by the places of items in the file.
func spanned(span [2]int, items []item, begins bool) [2]int {
	if first, last := placesOf(items); begins {
		return [2]int{first, last}
	} else if len(items) > 0 {
		return [2]int{min(span[0], first), max(span[1], last)}
	}
	return span
}

// regions divides items into parts that are read one after the other, each without columns of text in it.
func regions(items []item, depth int) [][]item {
	x, ok := gutter(items, readApart)
	if !ok || depth >= deepest {
		return [][]item{items}
	}
	strips := strips(items, x)
	judge(strips, placesIn(items))
	var out [][]item
	var wide []item
	var beside pair
	flushColumns := func() {
		if len(beside.left)+len(beside.right) > 0 {
			out = append(append(out, regions(beside.left, depth+1)...), regions(beside.right, depth+1)...)
		}
		beside = pair{}
	}
	flushWide := func() {
		switch {
		case len(wide) == len(items):
			out = append(out, wide)
		case len(wide) > 0:
			out = append(out, regions(wide, depth+1)...)
		}
		wide = nil
	}
	for i, s := range strips {
		begun := len(beside.left)+len(beside.right) > 0
		inColumns := s.is == columns || s.is == unclear && begun || i+1 < len(strips) && (s.headsBoth(strips[i+1]) || topsBoth(strips[i:min(i+maxStrips, len(strips))]))
		if s.across || !inColumns {
			flushColumns()
			wide = append(wide, s.items...)
			continue
		}
		flushWide()
		if beside.ends(strips[i:min(i+maxStrips, len(strips))]) {
			flushColumns()
		}
		beside.add(s.left, s.right)
	}
	flushColumns()
	flushWide()
	return slices.DeleteFunc(out, func(r []item) bool { return len(r) == 0 })
}

// readApart reports whether what is on both sides of x may be read one after the other: lines of text, or prose beside anything that is not
// set line by line with it.
func readApart(items []item, x float64) bool {
	if sideBySide(items, x) {
		return true
	}
	var left, right []item
	for _, it := range items {
		switch {
		case it.box.X1 <= x:
			left = append(left, it)
		case it.box.X0 >= x:
			right = append(right, it)
		}
	}
	if len(left) == 0 || len(right) == 0 || !apartFromProse(left, right, levelShare(left, right)) {
		return false
	}
	a, b := around(left), around(right)
	return overlapping(a, b) >= 0.4*min(a.height(), b.height())
}

// overlapping is the height that two boxes share. It is negative if they are apart.
func overlapping(a, b Box) float64 { return min(a.Y1, b.Y1) - max(a.Y0, b.Y0) }

// apartFromProse reports whether one side is a passage of prose, and the other is neither set line by line with it nor columns of a table.
func apartFromProse(left, right []item, level float64) bool {
	const passage = 6
	if level >= 0.6 {
		return false
	}
	return len(left) >= passage && isProse(left) && !inCells(right) || len(right) >= passage && isProse(right) && !inCells(left)
}

// inCells reports whether most lines have others beside them.
func inCells(items []item) bool {
	lines := make([]Line, 0, len(items))
	for _, it := range items {
		if it.table == nil {
			lines = append(lines, it.line)
		}
	}
	all := rowsOf(lines)
	shared := 0
	for _, row := range all {
		if len(row) > 1 {
			shared++
		}
	}
	return shared*2 > len(all)
}

func around(items []item) Box {
	box := items[0].box
	for _, it := range items[1:] {
		box = box.join(it.box)
	}
	return box
}

// strips divides items where white space goes over the page, and around each that goes over x. What is level with such an item is in its
// row.
func strips(items []item, x float64) []strip {
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	xs := ownGutters(items, x)
	over := across(items, xs)
	var out []strip
	bottom := math.Inf(-1)
	for i, it := range items {
		row := over[i] && i > 0 && over[i-1] && it.level(items[i-1])
		if n := len(out); n == 0 || !row && (over[i] || out[n-1].across || it.box.Y0 > bottom+0.45*it.line.Size) {
			out = append(out, strip{across: over[i]})
		}
		s := &out[len(out)-1]
		s.items = append(s.items, it)
		switch {
		case it.box.X1 <= xs[i]:
			s.left = append(s.left, it)
		case it.box.X0 >= xs[i]:
			s.right = append(s.right, it)
		}
		bottom = max(bottom, it.box.Y1)
	}
	return out
}

// ownGutters returns the gutter of each of items from the top down: x, or that of the items between two white spaces over the page, if some of
// them go over x and none over their own.
func ownGutters(items []item, x float64) []float64 {
	const space = 1.2 // sizes
	out, from, bottom := make([]float64, len(items)), 0, math.Inf(-1)
	for i, it := range items {
		out[i] = x
		if bottom = max(bottom, it.box.Y1); i+1 < len(items) && items[i+1].box.Y0 <= bottom+space*it.line.Size {
			continue
		}
		band := items[from : i+1]
		crossed := func(x float64) bool {
			return slices.ContainsFunc(band, func(it item) bool { return it.box.X0 < x && it.box.X1 > x })
		}
		if crossed(x) && len(band) < len(items) {
			if own, ok := gutter(band, readApart); ok && !crossed(own) {
				for j := from; j <= i; j++ {
					out[j] = own
				}
			}
		}
		from = i + 1
	}
	return out
}

// across marks the items that go over their gutters, of items from the top down, and what is level with them.
func across(items []item, xs []float64) []bool {
	over := make([]bool, len(items))
	for i, it := range items {
		if x := xs[i]; it.box.X0 >= x || it.box.X1 <= x {
			continue
		}
		over[i] = true
		for _, step := range []int{-1, 1} {
			for j := i + step; j >= 0 && j < len(items) && max(j-i, i-j) < maxColumns && items[j].level(it); j += step {
				over[j] = true
			}
		}
	}
	return over
}

// level reports whether two lines are on one baseline.
func (it item) level(o item) bool {
	return it.table == nil && o.table == nil && math.Abs(it.line.base()-o.line.base()) < 0.1*o.line.Size
}

// judge decides what strips are. Small ones that follow one another, as the rows of a table do, are judged together. places are those of
// all lines in the file.
func judge(all []strip, places []int) {
	for i := range all {
		all[i].is = sides(all[i].left, all[i].right, places)
	}
	for from := 0; from < len(all); from++ {
		to := from
		var left, right []item
		for to < len(all) && !all[to].across && all[to].is != columns && (to == from || len(all[to].items) <= 6) {
			left, right = append(left, all[to].left...), append(right, all[to].right...)
			to++
		}
		if to-from < 2 {
			continue
		}
		for i, is := from, sides(left, right, places); i < to; i++ {
			if len(all[i].left) > 0 && len(all[i].right) > 0 || is == columns {
				all[i].is = is
			}
		}
		from = to - 1
	}
}

// sides judges what is on both sides of a gutter.
func sides(left, right []item, places []int) verdict {
	fewer := min(len(left), len(right))
	switch {
	case fewer == 0 || overlapping(around(left), around(right)) <= 0:
		return unclear
	case isRow(left, right):
		return rows
	case fewer > 1 && between(left, right, places) >= columnLines && !(inCells(left) && inCells(right) && levelShare(left, right) > 0.7):
		return columns
	}
	oneGo := fewer >= columnLines && switches(left, right) <= 1+fewer/6
	leftProse, rightProse := isProse(left), isProse(right)
	level := levelShare(left, right)
	switch {
	case leftProse && rightProse, oneGo && (leftProse || rightProse):
		return columns
	case oneGo && fewer >= 8 && meanRunes(left) >= 12 && meanRunes(right) >= 12:
		return columns
	case apartFromProse(left, right, level):
		return columns
	case fewer == 1, fewer < columnLines && level < 0.7:
		return unclear
	}
	return rows
}

// isRow reports whether two sides are one row of a table with cells of several lines: every line begins below one of at least three that
// are level at the top, and one of these is short and has nothing below it.
func isRow(left, right []item) bool {
	const cells, lines = 3, 40
	all := slices.Concat(left, right)
	if len(all) < cells || len(all) > lines || slices.ContainsFunc(all, func(it item) bool { return it.table != nil }) {
		return false
	}
	top := slices.MinFunc(all, func(a, b item) int { return cmp.Compare(a.line.base(), b.line.base()) })
	var heads, rest []item
	for _, it := range all {
		if it.level(top) {
			heads = append(heads, it)
		} else {
			rest = append(rest, it)
		}
	}
	under := func(h, it item) bool { return math.Abs(it.box.X0-h.box.X0) < 0.5*it.line.Size }
	for _, it := range rest {
		if !slices.ContainsFunc(heads, func(h item) bool { return under(h, it) }) {
			return false
		}
	}
	return len(heads) >= cells && slices.ContainsFunc(heads, func(h item) bool {
		return short([]Line{h.line}) && !slices.ContainsFunc(rest, func(it item) bool { return under(h, it) })
	})
}

// placesIn returns the places of lines in the file, in order.
func placesIn(items []item) []int {
	places := make([]int, 0, len(items))
	for _, it := range items {
		if it.table == nil {
			places = append(places, it.line.at)
		}
	}
	slices.Sort(places)
	return places
}

// between counts the lines that the file has after one side and before the other.
func between(left, right []item, places []int) int {
	leftStart, leftEnd := placesOf(left)
	rightStart, rightEnd := placesOf(right)
	from, to := leftEnd, rightStart
	if leftStart > rightEnd {
		from, to = rightEnd, leftStart
	}
	i, _ := slices.BinarySearch(places, from+1)
	j, _ := slices.BinarySearch(places, to)
	return j - i
}

// isProse reports whether lines are long, and mostly fill their column.
func isProse(items []item) bool {
	if len(items) < columnLines || meanRunes(items) < 20 {
		return false
	}
	widest, long := 0.0, 0
	for _, it := range items {
		widest = max(widest, it.box.width())
	}
	for _, it := range items {
		if it.box.width() > 0.7*widest {
			long++
		}
	}
	return long*2 >= len(items)
}

func meanRunes(items []item) int {
	n := 0
	for _, it := range items {
		n += it.runes()
	}
	return n / max(len(items), 1)
}

// runes counts a table as much text.
func (it item) runes() int {
	if it.table != nil {
		return 40
	}
	return it.line.runes()
}

// switches counts how often the file goes from one side to the other.
func switches(left, right []item) int {
	type step struct {
		at    int
		right bool
	}
	var steps []step
	for i, side := range [][]item{left, right} {
		for _, it := range side {
			if it.table == nil {
				steps = append(steps, step{it.line.at, i == 1})
			}
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for i := 1; i < len(steps); i++ {
		if steps[i].right != steps[i-1].right {
			n++
		}
	}
	return n
}

// levelShare is the share of the lines, on the side with fewer, that are level with one on the other side.
func levelShare(left, right []item) float64 {
	if len(left) > len(right) {
		left, right = right, left
	}
	var bases []float64
	for _, it := range right {
		bases = append(bases, it.line.base())
	}
	slices.Sort(bases)
	n := 0
	for _, it := range left {
		base, near := it.line.base(), 0.1*it.line.Size
		if i, _ := slices.BinarySearch(bases, base-near); i < len(bases) && bases[i] <= base+near {
			n++
		}
	}
	return float64(n) / float64(max(len(left), 1))
}

// ends reports whether columns end before the next strips: these begin a section whose columns are read after both of the ones above.
func (p *pair) ends(next []strip) bool {
	if len(p.left) < 2 || len(p.right) < 2 {
		return false
	}
	var below pair
	for _, s := range next {
		if s.across || s.is == rows {
			break
		}
		below.add(s.left, s.right)
	}
	if len(below.left) == 0 || len(below.right) == 0 {
		return false
	}
	if countsOn(p.left, below.left) && !countsOn(p.left, p.right) {
		return false
	}
	if p.leftAt[1] < p.rightAt[0] && p.rightAt[1] < min(below.leftAt[0], below.rightAt[0]) {
		return true // as the file has it
	}
	if max(p.leftAt[1], below.leftAt[1]) < min(p.rightAt[0], below.rightAt[0]) {
		return false // the file has the left column in one go
	}
	return len(next) > 1 && next[0].titles(p.left) && len(next[1].left) > 0 && len(next[1].right) > 0 &&
		math.Abs(next[1].left[0].box.Y0-next[1].right[0].box.Y0) < next[1].left[0].line.Size
}

// countsOn reports whether the numbers before the lines of one part continue in the next.
func countsOn(part, next []item) bool {
	last := -1
	for _, it := range part {
		if n := numberOf(it.line.Text); it.table == nil && n >= 0 {
			last = n
		}
	}
	for _, it := range next {
		if n := numberOf(it.line.Text); it.table == nil && n >= 0 {
			return last >= 0 && n == last+1
		}
	}
	return false
}

// headsBoth reports whether a strip is a heading for each of the columns below.
func (s strip) headsBoth(below strip) bool {
	return below.is == columns && allHead(s.left, below.left) && allHead(s.right, below.right)
}

// topsBoth reports whether the first strip is the top of columns that follow, though white space goes over the page below it, as below a heading
// in one of them: prose of which the file has all of the left side before the right one, and neither ends with that strip.
func topsBoth(next []strip) bool {
	at := slices.IndexFunc(next, func(s strip) bool { return s.across || s.is == columns })
	if at < 1 || next[at].across || !isProse(next[at].left) || !isProse(next[at].right) {
		return false
	}
	var all pair
	for _, s := range next[:at+1] {
		all.add(s.left, s.right)
	}
	_, left := placesOf(next[at].left)
	_, right := placesOf(next[at].right)
	return all.leftAt[1] < all.rightAt[0] && all.leftAt[1] == left && all.rightAt[1] == right
}

// allHead reports whether each line is a heading of a column below: set so, or followed by it in the file.
func allHead(lines, below []item) bool {
	for _, it := range lines {
		at := slices.IndexFunc(below, func(o item) bool { return overlap(it.box, o.box) > 0 })
		if at < 0 || !it.heads(below[at]) && (it.table != nil || below[at].table != nil || below[at].line.at != it.line.at+1) {
			return false
		}
	}
	return len(lines) > 0
}

// heads reports whether a line is in larger or bolder type than another.
func (it item) heads(o item) bool {
	return it.table == nil && o.table == nil && (it.line.Size > 1.1*o.line.Size || it.line.Bold && !o.line.Bold)
}

// titles reports whether a strip is a heading alone: large or bold, unlike the text above.
func (s strip) titles(above []item) bool {
	if len(s.right) > 0 || len(s.left) == 0 || len(s.left) > 2 {
		return false
	}
	return s.left[0].heads(above[len(above)-1])
}

// placesOf returns the first and the last place of items in the file.
func placesOf(items []item) (first, last int) {
	first, last = math.MaxInt, -1
	for _, it := range items {
		if it.table == nil {
			first, last = min(first, it.line.at), max(last, it.line.at)
		}
	}
	return first, last
}
