package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// edge returns where rune i of a line begins. Without edges, the runes share the width.
func (l Line) edge(i, runes int) float64 {
	if len(l.Edges) == runes && i < runes {
		return l.Edges[i]
	}
	return l.Box.X0 + l.Box.width()*float64(i)/float64(max(runes, 1))
}

// cutAt divides a line at the blank that is next to x. The second part is empty if there is no blank nearby.
func (l Line) cutAt(x float64) (left, right Line) {
	if l.latex != "" {
		return l, Line{}
	}
	runes := []rune(l.Text)
	best, near := -1, 1.2*l.Size
	for i, r := range runes {
		if r != ' ' || i == 0 || i+1 == len(runes) {
			continue
		}
		// The blank ends where the next letter begins; a rule mostly stands within it.
		from, to := l.edge(i, len(runes)), l.edge(i+1, len(runes))
		off := max(from-x, x-to, 0)
		if off < near {
			best, near = i, off
		}
	}
	if best < 0 {
		return l, Line{}
	}
	left, right = l, l
	left.Text, right.Text = string(runes[:best]), string(runes[best+1:])
	left.Box.X1, right.Box.X0 = l.edge(best, len(runes)), l.edge(best+1, len(runes))
	left.Edges, right.Edges = nil, nil
	left.spans, right.spans = l.within(0, best), l.within(best+1, len(runes))
	if len(l.Edges) == len(runes) {
		left.Edges, right.Edges = l.Edges[:best], l.Edges[best+1:]
	}
	return left, right
}

// rowsOf sorts lines from the top down, and those of a row from left to right. A formula is a row of its own.
func rowsOf(lines []Line) [][]Line {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	var rows [][]Line
	for _, line := range sorted {
		n := len(rows)
		if n > 0 && line.latex+rows[n-1][0].latex == "" && line.base()-rows[n-1][0].base() <= 0.3*min(line.Size, rows[n-1][0].Size) {
			rows[n-1] = append(rows[n-1], line)
			continue
		}
		rows = append(rows, []Line{line})
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b Line) int { return cmp.Compare(a.Box.X0, b.Box.X0) })
	}
	return rows
}

// base is about the baseline.
func (l Line) base() float64 { return l.Box.Y0 + 0.8*l.Box.height() }

func (l Line) runes() int { return utf8.RuneCountInString(l.Text) }

// Mono reports whether a font is monospaced, judged by its name. OCR programs put what they read behind a picture in such a font,
// whatever was printed.
func (l Line) Mono() bool {
	if l.Invisible {
		return false
	}
	name := strings.ToLower(l.Font)
	for _, part := range []string{"mono", "courier", "consol", "menlo", "monaco", "typewriter", "cmtt", "sftt", "code"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func same(a, b float64) bool { return math.Abs(a-b) < 0.6 }

// clean normalises the lines of a page and drops what is empty or has no place.
func clean(lines []Line) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		if text := strings.TrimSpace(Normal(l.Text)); text != l.Text {
			l.Text, l.Edges = text, nil
		}
		if l.Text == "" {
			continue
		}
		for _, v := range []*float64{&l.Box.X0, &l.Box.Y0, &l.Box.X1, &l.Box.Y1, &l.Size} {
			if math.IsNaN(*v) || math.Abs(*v) > 1e6 {
				*v = 0
			}
		}
		l.Box.X1, l.Box.Y1 = max(l.Box.X0, l.Box.X1), max(l.Box.Y0, l.Box.Y1)
		if l.Size <= 0 {
			l.Size = 1
		}
		if n := len(out); n > 0 && out[n-1].continues(l) {
			out[n-1] = out[n-1].with(l)
			continue
		}
		l.at = len(out)
		out = append(out, l)
	}
	return withLabels(withStretched(out))
}

// continues reports whether the next line of the file is a further part of this one: a word space behind it, on its baseline.
func (l Line) continues(next Line) bool {
	gap := next.Box.X0 - l.Box.X1
	return l.Edges != nil && next.Edges != nil && l.Turns == next.Turns && gap > -0.1*l.Size && gap < 0.6*min(l.Size, next.Size) &&
		math.Abs(l.base()-next.base()) < 0.1*l.Size && same(l.Size, next.Size)
}

// with joins the line that continues this one.
func (l Line) with(next Line) Line {
	whole, longer := l.appended(next, next.Box.X0-l.Box.X1 > 0.1*l.Size)
	whole.Box, whole.Invisible = l.Box.join(next.Box), longer.Invisible
	return whole
}

// appended joins the text of a further part, behind a blank or not. It is set like the longer of both, which is returned too.
func (l Line) appended(next Line, blank bool) (whole, longer Line) {
	whole, longer = l, l
	edges := slices.Clone(l.Edges)
	if blank {
		edges, whole.Text = append(edges, l.Box.X1), l.Text+" "
	}
	if len(l.Edges) == l.runes() && len(next.Edges) == next.runes() {
		right := l.Box.X0
		if len(edges) > 0 {
			right = edges[len(edges)-1]
		}
		for _, e := range next.Edges {
			right = max(right, e)
			edges = append(edges, right)
		}
	} else {
		edges = nil
	}
	if next.runes() > l.runes() {
		longer = next
	}
	whole.Text, whole.Edges, whole.Glyphs = whole.Text+next.Text, edges, slices.Concat(l.Glyphs, next.Glyphs)
	whole.Bold, whole.Italic, whole.Font = longer.Bold, longer.Italic, longer.Font
	return whole, longer
}
