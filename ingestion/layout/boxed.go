package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	labelShare  = 0.9 // of the size of a value, at most, is that of its label
	labelRows   = 4   // of a label, at most
	valueRows   = 8   // of a value, such as an address
	longInBox   = 60  // letters of a row of a value; longer ones are text in a frame
	boxesApart  = 15  // points between the boxes of one form
	maxRuleSets = 300 // on a hostile page
)

// fieldBox is a closed box of a form with its lines. Its label, in smaller type, is above its value; either may be missing.
type fieldBox struct {
	box          Box
	label, value []Line
}

// takeForms takes the forms from the lines and rules of a page: closed boxes, of which most have a label above a value. They are read box by box, since
// boxes are no columns.
func takeForms(lines []Line, rules []Box) (forms []item, rest []Line, others []Box) {
	var boxes []fieldBox
	sets, left := meeting(withoutGrounds(rules)), lines
	slices.SortStableFunc(sets, func(a, b *grid) int { return cmp.Compare(a.box.height()*a.box.width(), b.box.height()*b.box.width()) })
	for _, g := range sets[:min(len(sets), maxRuleSets)] { // what is in a frame within a frame is the inner one's
		found := g.fieldBoxes(left)
		boxes, left = append(boxes, found...), without(left, found)
	}
	for _, form := range together(boxes) {
		filled := 0
		for _, b := range form {
			if b.filled() {
				filled++
			}
		}
		if filled < 2 {
			continue
		}
		t := table{box: form[0].box, form: form}
		for _, b := range form {
			t.box, rules = t.box.join(b.box), b.box.cutOut(rules)
		}
		forms, lines = append(forms, item{box: t.box, table: &t}), without(lines, form)
	}
	return forms, lines, rules
}

// fieldBoxes returns the boxes of a set of rules that are a form's. What is below a row of names, with the same columns, is a table.
func (g *grid) fieldBoxes(lines []Line) (out []fieldBox) {
	g.close()
	g.xs, g.ys = clustered(g.xs), clustered(g.ys)
	var in []Line
	for _, l := range lines {
		if l.Turns == 0 && g.box.holds(l.Box) {
			in = append(in, l)
		}
	}
	if !hasSmaller(in) || (len(g.xs)+len(g.ys))*(len(g.horizontal)+len(g.vertical)) > maxWork || len(g.xs)*len(g.ys) > maxCells {
		return nil
	}
	g.widen(in)
	var names []float64 // where the columns of the table above begin
	for _, band := range g.bands(in) {
		var begin []float64
		for _, b := range band {
			begin = append(begin, b.box.X0)
		}
		switch {
		case isForm(band) && !slices.Equal(begin, names):
			out, names = append(out, band...), nil
		case slices.ContainsFunc(band, func(b fieldBox) bool { return len(b.value) > 0 }):
			names = begin
		}
	}
	return out
}

// hasSmaller reports whether the type of some lines is as much smaller than that of others as that of labels is.
func hasSmaller(lines []Line) bool {
	least, most := math.Inf(1), 0.0
	for _, l := range lines {
		least, most = min(least, l.Size), max(most, l.Size)
	}
	return least <= labelShare*most
}

// bands returns the boxes of a grid, from left to right, in bands that a rule divides from one another.
func (g *grid) bands(lines []Line) (out [][]fieldBox) {
	rows, columns := len(g.ys)-1, len(g.xs)-1
	if rows < 1 || columns < 1 {
		return nil
	}
	first, in := g.cells(), map[int][]Line{}
	for _, l := range g.divided(lines) {
		at := first[g.place(l)]
		in[at] = append(in[at], l)
	}
	cells := map[int]Box{}
	var band []int // the first places of its cells
	for r := range rows {
		for c, at := range first[r*columns : (r+1)*columns] {
			place := Box{g.xs[c], g.ys[r], g.xs[c+1], g.ys[r+1]}
			if at == r*columns+c {
				band, cells[at] = append(band, at), place
			}
			cells[at] = cells[at].join(place)
		}
		if r+1 < rows && slices.ContainsFunc(first[(r+1)*columns:(r+2)*columns], func(at int) bool { return at < (r+1)*columns }) {
			continue // one of its cells reaches further down
		}
		boxes := make([]fieldBox, len(band))
		for i, at := range band {
			boxes[i] = newFieldBox(cells[at], in[at])
		}
		out, band = append(out, boxes), nil
	}
	return out
}

// newFieldBox divides the lines of a box into a label and a value below it. They are all its value if there is no label.
func newFieldBox(box Box, lines []Line) fieldBox {
	if len(lines) == 0 {
		return fieldBox{box: box}
	}
	rows := rowsOf(lines)
	end := 0
	for end < len(rows) && end <= labelRows && same(largest(rows[end]), largest(rows[0])) {
		end++
	}
	label, value := slices.Concat(rows[:end]...), slices.Concat(rows[end:]...)
	is := end <= labelRows && len(value) > 0 && len(rows)-end <= valueRows && isLabel(merge(label).Text)
	for _, row := range rows[end:] {
		is = is && largest(rows[0]) <= labelShare*smallest(row) && merge(row).runes() <= longInBox
	}
	if is = is && !slices.ContainsFunc(lines, func(l Line) bool { return l.latex != "" }); !is {
		return fieldBox{box: box, value: lines}
	}
	return fieldBox{box: box, label: label, value: value}
}

// isLabel reports whether a text names something: the number of a day or of a note does not.
func isLabel(text string) bool { return lettersOf(text) > 1 && !isNumber(text) }

func (b fieldBox) filled() bool { return len(b.label) > 0 && len(b.value) > 0 }

// isForm reports whether most boxes in a band with text have a label above a value. Boxes with nothing but a label are empty ones of a form.
func isForm(band []fieldBox) bool {
	filled, others, size := 0, 0, 0.0
	for _, b := range band {
		if b.filled() {
			filled, size = filled+1, largest(b.label)
		}
	}
	for _, b := range band {
		if !b.filled() && len(b.value) > 0 && largest(b.value) > size+0.6 {
			others++
		}
	}
	return filled > others && !openRows(band)
}

// labelledCells reports whether all cells of a row between rules that have several lines have a label above a value.
func labelledCells(row [][]Line) bool {
	filled := false
	for _, cell := range row {
		b := newFieldBox(Box{}, cell)
		if !b.filled() && len(rowsOf(cell)) > 1 {
			return false
		}
		filled = filled || b.filled()
	}
	return filled
}

// openRows reports whether the values of boxes side by side are rows without rules between them: several on a level with one another, in three
// columns or in one of amounts. Two addresses side by side are not.
func openRows(band []fieldBox) bool {
	columns, amounts := 0, false
	for i, b := range band {
		values := rowsOf(b.value)
		if !b.filled() || len(values) < 2 || !slices.ContainsFunc(band, func(o fieldBox) bool { return o.box != band[i].box && o.filled() && inStep(values, rowsOf(o.value)) }) {
			continue
		}
		columns++
		amounts = amounts || !slices.ContainsFunc(b.value, func(l Line) bool { return !isNumber(l.Text) })
	}
	return columns > 2 || amounts
}

// inStep reports whether the first two rows of two boxes are on a level.
func inStep(a, b [][]Line) bool {
	return len(b) > 1 && math.Abs(a[0][0].base()-b[0][0].base()) < 1 && math.Abs(a[1][0].base()-b[1][0].base()) < 1
}

// formLines returns what is to be read in the boxes of a form, in lines that stay lines.
func formLines(form []fieldBox) (out []Line) {
	for _, b := range form {
		out = append(out, b.written()...)
	}
	return out
}

// written returns a box as a line of its label and value, or a line for its label and one for each row of its value.
func (b fieldBox) written() (out []Line) {
	value := rowsOf(b.value)
	if len(b.label) > 0 {
		label := oneLine(b.label...)
		if !strings.HasSuffix(label.Text, ":") && !strings.HasSuffix(label.Text, "?") {
			label.Text += ":"
		}
		if len(value) == 1 {
			return []Line{oneLine(append([]Line{label}, value[0]...)...)}
		}
		out = append(out, label)
	}
	for _, row := range value {
		out = append(out, oneLine(row...))
	}
	return out
}

// together returns the boxes that are close to one another, from the top down and from left to right.
func together(boxes []fieldBox) [][]fieldBox {
	slices.SortStableFunc(boxes, func(a, b fieldBox) int { return cmp.Compare(a.box.Y0, b.box.Y0) })
	for from := 0; from < len(boxes); {
		to := from
		for to < len(boxes) && boxes[to].box.Y0-boxes[from].box.Y0 < 2*touching {
			to++
		}
		slices.SortStableFunc(boxes[from:to], func(a, b fieldBox) int { return cmp.Compare(a.box.X0, b.box.X0) })
		from = to
	}
	of := newSets(len(boxes))
	for i, a := range boxes {
		for j, b := range boxes[:i] {
			if a.box.X0 < b.box.X1+boxesApart && b.box.X0 < a.box.X1+boxesApart && a.box.Y0 < b.box.Y1+boxesApart {
				of.join(i, j)
			}
		}
	}
	var out [][]fieldBox
	at := map[int]int{}
	for i, b := range boxes {
		root := of.root(i)
		n, ok := at[root]
		if !ok {
			n = len(out)
			at[root], out = n, append(out, nil)
		}
		out[n] = append(out[n], b)
	}
	return out
}

// without returns the lines that are in none of the boxes.
func without(lines []Line, boxes []fieldBox) []Line {
	if len(boxes) == 0 {
		return lines
	}
	gone := map[int]bool{}
	for _, l := range linesIn(boxes) {
		gone[l.at] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return gone[l.at] })
}

func linesIn(boxes []fieldBox) (out []Line) {
	for _, b := range boxes {
		out = append(append(out, b.label...), b.value...)
	}
	return out
}

// cutOut returns what is left of rules outside of a box and of its sides.
func (b Box) cutOut(rules []Box) (out []Box) {
	for _, r := range rules {
		if r.X1 < b.X0-touching || r.X0 > b.X1+touching || r.Y1 < b.Y0-touching || r.Y0 > b.Y1+touching {
			out = append(out, r)
			continue
		}
		before, behind := r, r
		if r.height() > r.width() {
			before.Y1, behind.Y0 = min(r.Y1, b.Y0), max(r.Y0, b.Y1)
		} else {
			before.X1, behind.X0 = min(r.X1, b.X0), max(r.X0, b.X1)
		}
		for _, part := range []Box{before, behind} {
			if max(part.width(), part.height()) >= shortest && min(part.width(), part.height()) >= 0 {
				out = append(out, part)
			}
		}
	}
	return out
}

func largest(lines []Line) (size float64) {
	for _, l := range lines {
		size = max(size, l.Size)
	}
	return size
}

func smallest(lines []Line) float64 {
	return slices.MinFunc(lines, func(a, b Line) int { return cmp.Compare(a.Size, b.Size) }).Size
}
