package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColumns limits the columns of a table without upright rules.
const maxColumns = 30

// span of x that no text of a table's rows reaches into.
type gap struct{ from, to float64 }

func (g gap) middle() float64 { return (g.from + g.to) / 2 }

// fields divides lines where they have wide gaps: renderers take fields that blanks divide for one line. Dots that lead to the next
// column go.
func fields(lines []Line) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		for _, part := range l.fields() {
			out = append(out, part.withoutLeaders()...)
		}
	}
	return out
}

// withoutLeaders divides a line where dots lead from a name to the next column, and drops them.
func (l Line) withoutLeaders() []Line {
	if !strings.Contains(l.Text, "..") && !strings.Contains(l.Text, " .") && !strings.Contains(l.Text, "……") {
		return []Line{l}
	}
	var out []Line
	runes, from, at := []rune(l.Text), 0, 0 // at: bytes before from
	for _, lead := range append(dots.FindAllStringIndex(l.Text, maxColumns), []int{len(l.Text), len(l.Text)}) {
		to := from + utf8.RuneCountInString(l.Text[at:lead[0]])
		if to > from {
			out = append(out, l.slice(runes, from, to))
		}
		from, at = to+utf8.RuneCountInString(l.Text[lead[0]:lead[1]]), lead[1]
	}
	return out
}

func (l Line) fields() []Line {
	if !strings.Contains(l.Text, " ") {
		return []Line{l}
	}
	runes := []rune(l.Text)
	known, few := len(l.Edges) == len(runes), 3
	if l.Mono() {
		few = 2
	}
	var out []Line
	from := 0
	for i := 1; i < len(runes); i++ {
		if runes[i] != ' ' || runes[i-1] == ' ' {
			continue
		}
		to := i
		for to < len(runes) && runes[to] == ' ' {
			to++
		}
		wide := l.edge(to, len(runes)) - l.edge(i, len(runes))
		if to < len(runes) && (known && wide >= 2*l.Size || to-i >= few && wide >= 0.9*l.Size) {
			out = append(out, l.slice(runes, from, i))
			from = to
		}
	}
	if from == 0 {
		return []Line{l}
	}
	return append(out, l.slice(runes, from, len(runes)))
}

// slice returns the runes from … to of a line.
func (l Line) slice(runes []rune, from, to int) Line {
	out := l
	out.Text, out.spans, out.Edges = string(runes[from:to]), l.within(from, to), nil
	out.Box.X0 = l.edge(from, len(runes))
	if to < len(runes) {
		out.Box.X1 = l.edge(to, len(runes))
	}
	if len(l.Edges) == len(runes) {
		out.Edges = l.Edges[from:to]
	}
	out.Box.X1 = max(out.Box.X0, out.Box.X1)
	return out
}

// tableRows sorts lines into rows as rowsOf does. A short line that is half a line higher or lower, with nothing above it that near,
// belongs to the row too: a number at the middle of two lines.
func tableRows(lines []Line) [][]Line {
	var out [][]Line
	last, before := 0.0, []Line(nil)
	for _, row := range rowsOf(lines) {
		base := row[0].base()
		if n := len(out); n > 0 && base-last < 0.75*min(row[0].Size, out[n-1][0].Size) && (short(before) || short(row)) && beside(out[n-1], row) {
			out[n-1] = append(out[n-1], row...)
			slices.SortStableFunc(out[n-1], func(a, b Line) int { return cmp.Compare(a.Box.X0, b.Box.X0) })
		} else {
			out = append(out, row)
		}
		last, before = base, row
	}
	return out
}

// beside reports whether no line of a row is above or below one of the next at less than a line's distance.
func beside(row, next []Line) bool {
	if len(row)*len(next) > maxColumns*maxColumns {
		return false
	}
	for _, a := range row {
		for _, b := range next {
			if a.Box.X0 < b.Box.X1 && b.Box.X0 < a.Box.X1 && b.base()-a.base() < 0.9*min(a.Size, b.Size) {
				return false
			}
		}
	}
	return true
}

// short reports whether all lines are as short as numbers and names are.
func short(lines []Line) bool {
	return !slices.ContainsFunc(lines, func(l Line) bool { return l.runes() > 16 })
}

// gutters returns the gaps that run down through the rows. Heads and labels reach over several columns, so rows with few
// fields have no say; of the others, one in seven may cross a gap.
func gutters(rows [][]Line) []gap {
	var counts []int
	for _, row := range rows {
		if len(row) > 1 {
			counts = append(counts, len(row))
		}
	}
	if len(counts) == 0 {
		return nil
	}
	slices.Sort(counts)
	usual := counts[len(counts)*3/4]
	var body [][]Line
	for _, row := range rows {
		if len(row) > 1 && len(row)*2 > usual {
			body = append(body, row)
		}
	}
	return gaps(body)
}

func gaps(rows [][]Line) []gap {
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
	var out []gap
	depth, from := 0, -1
	for i := range bins {
		depth += over[i]
		switch {
		case depth <= allowed && from < 0:
			from = i
		case depth > allowed && from >= 0:
			g := gap{box.X0 + float64(from)/scale, box.X0 + float64(i)/scale}
			if wide := float64(i-from) / scale; from > 0 && (wide >= 0.45*rows[0][0].Size || wide >= 0.9*leastSpace*rows[0][0].Size && beginsAt(rows, g)) {
				out = append(out, g)
			}
			from = -1
		}
	}
	return out
}

// beginsAt reports whether a column begins behind a gap: what is behind it begins at one place, in at least three rows.
func beginsAt(rows [][]Line, g gap) bool {
	n := 0
	for _, row := range rows {
		at := slices.IndexFunc(row, func(l Line) bool { return l.Box.X0 >= g.middle() })
		switch {
		case at < 0 || row[at].Box.X0 > g.to+row[at].Size: // an empty cell
		case !same(row[at].Box.X0, g.to):
			return false
		default:
			n++
		}
	}
	return n >= leastColumn
}

// fitting returns how many of the rows keep to the gaps of those before them. Notes below a table do not.
func fitting(rows [][]Line) int {
	for known := 8; known < len(rows); known *= 2 {
		gaps := gutters(rows[:known])
		if len(gaps) < 2 {
			continue
		}
		wide := 0
		for i := known; i < min(2*known, len(rows)); i++ {
			crossed := 0
			for _, g := range gaps {
				if slices.ContainsFunc(rows[i], func(l Line) bool { return l.Box.X0 < g.middle() && l.Box.X1 > g.middle() }) {
					crossed++
				}
			}
			if crossed*2 < len(gaps) {
				wide = 0
			} else if wide++; wide == 2 {
				return i - 1
			}
		}
	}
	return len(rows)
}

// columnAt returns the column of x.
func columnAt(gutters []gap, x float64) int {
	c := 0
	for c < len(gutters) && gutters[c].middle() <= x {
		c++
	}
	return c
}

// cutInto divides a line that is cells of several columns: it has a blank at each gap that it crosses, and numbers on both sides. Only
// the first part may be a name.
func (l Line) cutInto(gutters []gap) []Line {
	if !strings.ContainsFunc(l.Text, unicode.IsDigit) || !strings.Contains(l.Text, " ") {
		return []Line{l}
	}
	var out []Line
	rest := l
	for i, g := range gutters {
		if rest.Box.X0 >= g.middle() || rest.Box.X1 <= g.middle() {
			continue
		}
		left, right := rest.cutAt(g.middle())
		if right.Text == "" || left.Box.X1 > g.to+0.3*l.Size || right.Box.X0 < g.from-0.3*l.Size ||
			!strings.ContainsFunc(right.Text, unicode.IsDigit) || i > 0 && !strings.ContainsFunc(left.Text, unicode.IsDigit) {
			return []Line{l}
		}
		out, rest = append(out, left), right
	}
	return append(out, rest)
}

// cutIntoAligned divides a line into cells of a table if each of them begins, ends or has its middle where most others of its column do. A
// name over several columns does not.
func (l Line) cutIntoAligned(gutters []gap, cells [][][]Line) []Line {
	out, rest := []Line(nil), l
	for _, g := range gutters {
		if rest.Box.X0 >= g.middle() || rest.Box.X1 <= g.middle() {
			continue
		}
		if left, right := rest.cutAt(g.middle()); right.Text != "" { // a word may be wider than its column
			out, rest = append(out, left), right
		}
	}
	out = append(out, rest)
	if len(out) == 1 {
		return out
	}
	last := -1
	for _, part := range out {
		c := columnAt(gutters, (part.Box.X0+part.Box.X1)/2)
		if c == last {
			return []Line{l}
		}
		last = c
		var lefts, rights, middles []float64
		for _, row := range cells {
			for _, o := range row[c] {
				if c == len(gutters) || o.Box.X1 < gutters[c].to+0.3*l.Size {
					lefts, rights, middles = append(lefts, o.Box.X0-part.Box.X0), append(rights, o.Box.X1-part.Box.X1), append(middles, (o.Box.X0+o.Box.X1-part.Box.X0-part.Box.X1)/2)
				}
			}
		}
		if !mostlyZero(lefts) && !mostlyZero(rights) && !mostlyZero(middles) {
			return []Line{l}
		}
	}
	return out
}

// mostlyZero reports whether at least three distances, and half of them, are none.
func mostlyZero(distances []float64) bool {
	none := 0
	for _, d := range distances {
		if same(d, 0) {
			none++
		}
	}
	return none >= 3 && none*2 >= len(distances)
}

// isNumber reports whether a cell is a number with its signs: an amount, a share, a year, an error in parentheses.
func isNumber(text string) bool {
	digits, letters := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && letters <= 1+digits/3
}
