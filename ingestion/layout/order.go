package layout

import (
	"cmp"
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
	over := across(items, x)
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

// inStrips reads items from the top down, row by row; but where the file has one of two blocks after the other, it is read first.
func inStrips(items []item) []item {
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	var out []item
	from, bottom := 0, 0.0
	for i, it := range items {
		if i > from && it.box.Y0 > bottom+0.3*it.line.Size {
			out, from = append(out, inBlocks(items[from:i])...), i
			bottom = it.box.Y1
		}
		bottom = max(bottom, it.box.Y1)
	}
	return append(out, inBlocks(items[from:])...)
}

// inBlocks reads two blocks one after the other, and anything else row by row.
func inBlocks(items []item) []item {
	left, right := halves(items)
	if min(len(left), len(right)) < 2 || switches(left, right) != 1 || levelShare(left, right) > 0.5 && paired(left, right) {
		return joined(items)
	}
	if firstLeft, _ := placesOf(left); firstLeft > right[0].line.at {
		left, right = right, left
	}
	return append(joined(left), joined(right)...)
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
	return labels*2 >= len(left) || numbers*2 >= len(right)
}

// halves divides items at the widest gap that goes down between them.
func halves(items []item) (left, right []item) {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b item) int { return cmp.Compare(a.box.X0, b.box.X0) })
	widest, edge, x := 0.0, 0.0, 0.0
	for i, it := range sorted {
		if gap := it.box.X0 - edge; i > 0 && gap > max(widest, it.line.Size) {
			widest, x = gap, it.box.X0
		}
		edge = max(edge, it.box.X1)
	}
	if widest == 0 {
		return items, nil
	}
	for _, it := range items {
		if it.box.X0 < x {
			left = append(left, it)
		} else {
			right = append(right, it)
		}
	}
	return left, right
}

// joined makes one line of those on one baseline.
func joined(items []item) []item {
	var out []item
	var lines []Line
	flush := func() {
		for _, row := range rowsOf(lines) {
			l := merge(row)
			out = append(out, item{box: l.Box, line: l})
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

const (
	columnLines = 3  // fewer lines make no column
	maxTried    = 40 // places that are looked at in full, on a hostile page
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
		if float64(wide)/scale < 0.6*size || left < columnLines || right < columnLines {
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
