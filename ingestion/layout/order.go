package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// item is a line or a table on its way into reading order.
type item struct {
	box   Box
	line  Line
	table *table
	tag   Tag // of the line, in a document that has a structure
}

func itemOf(l Line) item { return item{box: l.Box, line: l} }

// deepest is how often columns may stand within columns.
const deepest = 4

// inOrder puts items into the order in which they are read: columns from left to right, between what goes over all of them.
// Lines of one column stay in the order of the file where that runs down the page.
func inOrder(items []item, depth int) []item {
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	x, ok := 0.0, false
	if depth < deepest {
		x, ok = gutter(items, sideBySide)
	}
	if !ok {
		return inStrips(items)
	}
	var out, wide, left, right []item
	flushWide := func() {
		out, wide = append(out, inStrips(wide)...), nil
	}
	flush := func() {
		if len(left) > 0 && len(right) > 0 && !inColumns(left, right) {
			out = append(out, inStrips(slices.Concat(left, right))...)
		} else {
			out = append(append(out, inOrder(left, depth+1)...), inOrder(right, depth+1)...)
		}
		left, right = nil, nil
	}
	over := across(items, slices.Repeat([]float64{x}, len(items)))
	for i, it := range items {
		switch {
		case over[i]:
			flush()
			wide = append(wide, it)
			continue
		case it.box.X1 <= x:
			left = append(left, it)
		default:
			right = append(right, it)
		}
		flushWide()
	}
	flush()
	flushWide()
	return out
}

// inColumns reports whether what is on both sides of a gutter are columns: lines that are beside one another, as prose is set, or in the file
// one side after the other, or many without going from side to side. The blocks at the top of a letter are neither.
func inColumns(left, right []item) bool {
	fewer, steps := min(len(left), len(right)), switches(left, right)
	return besideShare(left, right) >= 0.5 && (fewer >= 8 && steps*2 <= fewer || steps <= 1+fewer/6 || isProse(left) && isProse(right))
}

// besideShare is the share of the items, on the side with fewer, that have one of the other side beside them.
func besideShare(left, right []item) float64 {
	if len(left) > len(right) {
		left, right = right, left
	}
	n := 0
	for _, a := range left {
		near := 0.5 * a.line.Size
		if slices.ContainsFunc(right, func(b item) bool { return overlapping(a.box, b.box) > -near }) {
			n++
		}
	}
	return float64(n) / float64(max(len(left), 1))
}

// inStrips reads items from the top down, row by row; but where the file has one block after another, or blocks explain themselves, they are
// read so.
func inStrips(items []item) []item {
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	var out []item
	usual := usualPitch(items)
	from, bottom, base := 0, 0.0, 0.0
	for i, it := range items {
		if i > from && it.box.Y0 > bottom+0.3*it.line.Size && (it.table != nil || it.line.base()-base > 1.2*usual*it.line.Size) {
			out, from = append(out, inBlocks(items[from:i])...), i
			bottom = it.box.Y1
		}
		bottom, base = max(bottom, it.box.Y1), max(base, it.line.base())
	}
	return append(out, inBlocks(items[from:])...)
}

// usualPitch is the usual distance of lines below one another in sizes of their type.
func usualPitch(items []item) float64 {
	var lines []Line
	for _, stack := range stacks(items) {
		for _, it := range stack {
			if it.table == nil {
				lines = append(lines, it.line)
			}
		}
	}
	return pitchOf(lines)
}

// inBlocks reads blocks beside one another one after the other, in the order of the file, and anything else row by row.
func inBlocks(items []item) []item {
	var blocks [][]item
	for i, stack := range stacks(items) {
		if n := len(blocks); i == 0 || blocksApart(blocks[n-1], stack) {
			blocks = append(blocks, stack)
		} else {
			blocks[n-1] = append(blocks[n-1], stack...)
		}
	}
	var out []item
	for _, block := range asWritten(blocks) {
		out = append(out, joined(block)...)
	}
	return out
}

// asWritten puts blocks into the order of the file, if that has each of them in one go.
func asWritten(blocks [][]item) [][]item {
	out, last := slices.Clone(blocks), -1
	slices.SortStableFunc(out, func(a, b []item) int {
		one, _ := placesOf(a)
		other, _ := placesOf(b)
		return cmp.Compare(one, other)
	})
	for _, block := range out {
		first, end := placesOf(block)
		if first < last {
			return blocks
		}
		last = end
	}
	return out
}

// blocksApart reports whether what is beside one another are blocks of text, as in the head of an invoice: the file has one after the other, the
// lines of one are labels with what belongs to them or the left one is an address, or those of both are close and not level. Labels belong to what is beside
// them.
func blocksApart(left, right []item) bool {
	if isAddress(left) || besideBlock(left, right) {
		return true
	}
	level := levelShare(left, right)
	if min(len(left), len(right)) < 2 || level > 0.5 && paired(left, right) {
		return false
	}
	return switches(left, right) == 1 || labelled(left) || labelled(right) || level < 0.3 && isClose(left, inParagraph) && isClose(right, inParagraph)
}

// besideBlock reports whether a line is set at the middle of the height of the lines beside it, as the name of a paragraph.
func besideBlock(label, block []item) bool {
	if len(label) != 1 || len(block) < 2 || label[0].table != nil || !isClose(block, inParagraph) {
		return false
	}
	first, last, at := block[0].line.base(), block[len(block)-1].line.base(), label[0].line
	return at.base()-first > 0.3*at.Size && math.Abs(2*at.base()-first-last) < 1.2*at.Size
}

// inParagraph is how many sizes of their type lines of a paragraph are apart.
const inParagraph = 1.6

// isClose reports whether lines are below one another, at most so many sizes of their type apart.
func isClose(items []item, far float64) bool {
	for i := 1; i < len(items); i++ {
		if items[i].line.base()-items[i-1].line.base() > far*items[i].line.Size {
			return false
		}
	}
	return true
}

var labelWithValue = regexp.MustCompile(`^(\pL[^:]{1,30}):\s+\S`)

// labelled reports whether most lines are a label with what belongs to it, each another one.
func labelled(items []item) bool {
	labels := map[string]bool{}
	for _, it := range items {
		if m := labelWithValue.FindStringSubmatch(it.line.Text); m != nil {
			labels[m[1]] = true
		}
	}
	return len(items) > 1 && len(labels)*3 >= 2*len(items)
}

// place is a line with a postal code, as the countries write it: before the place (75001 Paris, D-10115 Berlin, 1012 AB Amsterdam, 00-950 Warszawa), or
// behind it (Springfield, IL 62701, London SW1A 1AA).
var place = regexp.MustCompile(`^(?:\p{Lu}{1,3}[- ])?(?:\d{4,6}(?: \p{Lu}{2})?|\d{2,3}[- ]\d{2,3}),? \p{Lu}\pL|\pL,? (?:\p{Lu}{2},? )?(?:\d{4,6}(?:-\d{4})?|\p{Lu}{1,2}\d[\p{Lu}\d]? ?\d\p{Lu}{2}|\p{Lu}\d\p{Lu} ?\d\p{Lu}\d)$`)

// isAddress reports whether lines, from the top down, are an address: short ones close to one another, of which one near the end has a postal code.
func isAddress(items []item) bool {
	const least, most, longest, below, far = 3, 9, 45, 4, 2.2 // lines; letters of one; lines from the postal code on; sizes
	if len(items) < least || len(items) > most || !isClose(items, far) {
		return false
	}
	places, at := 0, 0
	for i, it := range items {
		if it.table != nil || it.runes() > longest || isNumber(it.line.Text) && i == 0 {
			return false
		}
		if place.MatchString(it.line.Text) {
			places, at = places+1, i
		}
	}
	return places == 1 && at > 0 && len(items)-at <= below
}

// paired reports whether lines on the same baselines belong together: labels and what they are for, or numbers.
func paired(left, right []item) bool {
	labels, numbers := 0, 0
	for _, it := range left {
		if strings.HasSuffix(it.line.Text, ":") {
			labels++
		}
	}
	for _, it := range right {
		if isNumber(it.line.Text) {
			numbers++
		}
	}
	return labels > 0 && labels*2 >= len(left) || numbers*2 >= len(right)
}

// stacks divides items where a gap goes down between them. Each is from the top down.
func stacks(items []item) (out [][]item) {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b item) int { return cmp.Compare(a.box.X0, b.box.X0) })
	edge := 0.0
	for i, it := range sorted {
		if i == 0 || it.box.X0-edge > it.line.Size {
			out = append(out, nil)
			edge = it.box.X1
		}
		out[len(out)-1] = append(out[len(out)-1], it)
		edge = max(edge, it.box.X1)
	}
	for _, stack := range out {
		slices.SortStableFunc(stack, func(a, b item) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	}
	return out
}

// joined makes one line of those on one baseline.
func joined(items []item) []item {
	var out []item
	var lines []Line
	flush := func() {
		for _, row := range rowsOf(lines) {
			l := merge(row)
			l.amount, l.apart = endsInAmount(row), piecesApart(row)
			out = append(out, itemOf(l))
		}
		lines = nil
	}
	for _, it := range items {
		if it.table != nil {
			flush()
			out = append(out, it)
			continue
		}
		lines = append(lines, it.line)
	}
	flush()
	return out
}

// endsInAmount reports whether a row ends with a number, apart from what is before it.
func endsInAmount(row []Line) bool {
	n := len(row)
	return n > 1 && isNumber(row[n-1].Text) && row[n-1].Box.X0-row[n-2].Box.X1 > row[n-1].Size
}

// piecesApart reports whether a row is at least three names or numbers, each further from the one before than words are.
func piecesApart(row []Line) bool {
	const least = 3
	for i, l := range row {
		if i > 0 && l.Box.X0-row[i-1].Box.X1 < l.Size || !beginsUpper(l.Text) {
			return false
		}
	}
	return len(row) >= least && short(row)
}

const (
	columnLines   = 3  // fewer lines make no column
	crossedRarely = 10 // as many lines for each one that goes over the place between close columns
	maxTried      = 40 // places that are looked at in full, on a hostile page
)

// gutter finds the place between two columns that the fewest items cross, among those that are accepted.
func gutter(items []item, accepted func(items []item, x float64) bool) (float64, bool) {
	if len(items) < 2*columnLines {
		return 0, false
	}
	box := items[0].box
	size := 0.0
	for _, it := range items {
		box = box.join(it.box)
		size += it.line.Size / float64(len(items))
	}
	if box.width() <= 0 {
		return 0, false
	}
	const bins = 1000
	scale := bins / box.width()
	bin := func(x float64) int { return min(max(int((x-box.X0)*scale), 0), bins) }
	var over, ends, starts [bins + 2]int
	for _, it := range items {
		over[bin(it.box.X0)]++
		over[bin(it.box.X1)+1]--
		ends[bin(it.box.X1)+1]++
		starts[bin(it.box.X0)]++
	}
	right := len(items)
	depth, left, tried := 0, 0, 0
	best, place, widest := len(items), -1.0, 0
	for i := 0; i < bins; {
		from, crossing := i, 0
		for ; i < bins; i++ {
			if i > from && (over[i] != 0 || ends[i] != 0 || starts[i] != 0) {
				break
			}
			depth += over[i]
			left += ends[i]
			right -= starts[i]
			crossing = depth
		}
		wide := i - from
		least := 0.6 * size
		if crossing*crossedRarely <= len(items) { // no spaces of prose are below one another, line by line
			least = 0.35 * size
		}
		if float64(wide)/scale < least || left < columnLines || right < columnLines {
			continue
		}
		if tried < maxTried && (crossing < best || crossing == best && wide > widest) {
			tried++
			if at := box.X0 + float64(from+i)/2/scale; accepted(items, at) {
				best, place, widest = crossing, at, wide
			}
		}
	}
	return place, place >= 0
}

// sideBySide reports whether lines of text are on both sides of x, at the same height: short ones are labels and numbers, which belong to
// what is beside them.
func sideBySide(items []item, x float64) bool {
	type side struct {
		n, runes int
		box      Box
	}
	var left, right side
	add := func(s *side, it item) {
		if s.n == 0 {
			s.box = it.box
		}
		s.box = s.box.join(it.box)
		s.n++
		if it.table != nil {
			s.runes += 40
		}
		s.runes += it.line.runes()
	}
	for _, it := range items {
		switch {
		case it.box.X1 <= x:
			add(&left, it)
		case it.box.X0 >= x:
			add(&right, it)
		}
	}
	if left.n < columnLines || right.n < columnLines || left.runes < 12*left.n || right.runes < 12*right.n {
		return false
	}
	shared := min(left.box.Y1, right.box.Y1) - max(left.box.Y0, right.box.Y0)
	return shared >= 0.4*min(left.box.height(), right.box.height())
}
