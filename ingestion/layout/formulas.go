package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/formula"
)

// Limits of what is taken for a formula.
const (
	maxMathLines  = 600 // of a page that are looked at
	formulaGlyphs = 3   // fewer are a letter that a text mentions
	drawnGlyphs   = 5   // fewer are a label

	// MaxFormulas is how many formulas of a page are shown as pictures.
	MaxFormulas = 20
)

// withFormulas replaces the lines of each formula that has a row of its own by its LaTeX. If it cannot be written, its text stays, and its
// box is returned: only a picture shows it. Formulas within text stay as they are.
func withFormulas(lines []Line, rules []Box) (with []Line, drawn []Box) {
	var some []int // lines that may be a part of one
	certain := false
	for i, l := range lines {
		if len(l.Glyphs) > 0 && l.mayBeFormula() {
			some = append(some, i)
			certain = certain || l.mathShare() >= 0.5
		}
	}
	if !certain || len(some) > maxMathLines {
		return lines, nil
	}
	lines = slices.Clone(lines)
	gone, written := map[int]bool{}, map[int][]Line{}
	for _, group := range near(lines, some, rules) {
		if found, ok := formulaOf(lines, group, rules); ok {
			for _, i := range group {
				gone[i] = true
			}
			written[slices.Min(group)] = found
		} else if box, ok := pictureOf(lines, group, rules); ok && len(drawn) < MaxFormulas {
			drawn = append(drawn, box)
			for _, i := range group {
				lines[i].shown = true
			}
			lines[highest(lines, group)].drawn = len(drawn)
		}
	}
	for i, l := range lines {
		with = append(with, written[i]...)
		if !gone[i] {
			with = append(with, l)
		}
	}
	return with, drawn
}

// highest returns the line that is read first.
func highest(lines []Line, group []int) int {
	return slices.MinFunc(group, func(a, b int) int {
		return cmp.Or(cmp.Compare(lines[a].Box.Y0, lines[b].Box.Y0), cmp.Compare(lines[a].Box.X0, lines[b].Box.X0))
	})
}

// relation are signs that a formula has, and a label of a drawing has not.
const relation = "=<>≤≥≠≈≡∼∝∈⊂⊆↦⇒⇔∑∏∫√"

// pictureOf returns where a group of lines is drawn, if it is a formula in a row of its own.
func pictureOf(lines []Line, group []int, rules []Box) (Box, bool) {
	glyphs, share, relates := 0, 0.0, false
	box, size := lines[group[0]].Box, 0.0
	for _, i := range group {
		l := lines[i]
		glyphs += len(l.Glyphs)
		share += l.mathShare() * float64(len(l.Glyphs))
		relates = relates || strings.ContainsAny(l.Text, relation)
		box, size = box.join(l.ink()), max(size, l.Size)
	}
	for _, r := range rules {
		relates = relates || box.holds(r) && divides(r, lines, group)
	}
	if glyphs < drawnGlyphs || share < 0.4*float64(glyphs) || !relates || box.width() < 2*size || besideText(lines, group, box, size) {
		return Box{}, false
	}
	return padded(box, size, lines, group), true
}

// divides reports whether a rule is that of a fraction: lines are close above and close below it, and no wider.
func divides(r Box, lines []Line, group []int) bool {
	over, under := false, false
	for _, i := range group {
		l := lines[i]
		if r.height() > thick || l.Box.X0 < r.X0-1 || l.Box.X1 > r.X1+1 {
			continue
		}
		over = over || l.Box.Y1 > r.Y0-0.7*l.Size && l.base() < r.Y0
		under = under || l.Box.Y0 < r.Y1+0.7*l.Size && l.base() > r.Y1
	}
	return over && under
}

// ink is about where the glyphs of a line are drawn. Those of extension fonts hang below their place.
func (l Line) ink() Box {
	b := l.Box
	for _, g := range l.Glyphs {
		if formula.Hangs(g.Font) {
			depth := 1.5
			if g.Text == "∫" || g.Text == "∮" {
				depth = 2.2
			}
			b = b.join(Box{g.X, g.Y - 0.1*g.Size, g.X + g.Width, g.Y + depth*g.Size})
		} else {
			b = b.join(Box{g.X, g.Y - 0.8*g.Size, g.X + g.Width, g.Y + 0.3*g.Size})
		}
	}
	return b
}

// padded returns a box with some space around it, as far as no other line is there.
func padded(box Box, size float64, lines []Line, group []int) Box {
	out := Box{box.X0 - size, box.Y0 - 0.6*size, box.X1 + size, box.Y1 + 0.6*size}
	for i, l := range lines {
		if slices.Contains(group, i) || l.Box.X1 < out.X0 || l.Box.X0 > out.X1 {
			continue
		}
		if middle := (l.Box.Y0 + l.Box.Y1) / 2; middle < box.Y0 {
			out.Y0 = max(out.Y0, min(l.Box.Y1, box.Y0))
		} else if middle > box.Y1 {
			out.Y1 = min(out.Y1, max(l.Box.Y0, box.Y1))
		}
	}
	return out
}

// mathShare is the share of a line's letters that are in fonts for formulas.
func (l Line) mathShare() float64 {
	n := 0
	for _, g := range l.Glyphs {
		if formula.IsMath(g.Font) {
			n++
		}
	}
	return float64(n) / float64(max(len(l.Glyphs), 1))
}

// hasAllGlyphs reports whether the glyphs of a line are all of its letters.
func (l Line) hasAllGlyphs() bool {
	letters := 0
	for _, g := range l.Glyphs {
		letters += utf8.RuneCountInString(g.Text)
	}
	return letters == utf8.RuneCountInString(strings.Join(strings.Fields(l.Text), ""))
}

// mayBeFormula reports whether a line is set in fonts for formulas, or has no words beside names such as sin.
func (l Line) mayBeFormula() bool {
	if l.mathShare() >= 0.5 {
		return true
	}
	for word := range strings.FieldsFuncSeq(l.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len([]rune(word)) > 4 {
			return false
		}
	}
	return l.runes() <= 24
}

// near groups lines whose boxes almost touch.
func near(lines []Line, some []int, rules []Box) [][]int {
	group := newSets(len(some))
	boxes := make([]Box, len(some))
	for i, at := range some {
		boxes[i] = lines[at].ink()
	}
	for i, a := range boxes {
		size := lines[some[i]].Size
		for j := range i {
			b, reach := boxes[j], 1.2*max(size, lines[some[j]].Size)
			if b.X0-a.X1 < 2*reach && a.X0-b.X1 < 2*reach && b.Y0-a.Y1 < 0.3*reach && a.Y0-b.Y1 < 0.3*reach {
				group.join(i, j)
			}
		}
	}
	for _, r := range rules { // a fraction's parts belong together
		if r.height() > thick || r.width() < 3 || r.width() > 300 {
			continue
		}
		first := -1
		for i, b := range boxes {
			reach := lines[some[i]].Size
			if x := (b.X0 + b.X1) / 2; x > r.X0-reach && x < r.X1+reach && b.Y0 < r.Y1+reach && b.Y1 > r.Y0-reach {
				if first < 0 {
					first = i
				}
				group.join(i, first)
			}
		}
	}
	byRoot := map[int][]int{}
	var order []int
	for i, at := range some {
		root := group.root(i)
		if byRoot[root] == nil {
			order = append(order, root)
		}
		byRoot[root] = append(byRoot[root], at)
	}
	out := make([][]int, 0, len(order))
	for _, root := range order {
		out = append(out, byRoot[root])
	}
	return out
}

// formulaOf writes a group of lines as formulas, a line for each row, if they are one that has its place to itself.
func formulaOf(lines []Line, group []int, rules []Box) ([]Line, bool) {
	var glyphs []formula.Glyph
	first := lines[group[0]]
	box, share, bottom := first.Box, 0.0, first.Box.Y1
	for _, i := range group {
		bottom = max(bottom, lines[i].ink().Y1)
		glyphs = append(glyphs, lines[i].Glyphs...)
		if !lines[i].hasAllGlyphs() {
			return nil, false // or its text would be lost
		}
		share += lines[i].mathShare() * float64(len(lines[i].Glyphs))
		if box = box.join(lines[i].Box); lines[i].Size > first.Size {
			first = lines[i]
		}
	}
	if len(glyphs) < formulaGlyphs || share < 0.12*float64(len(glyphs)) || besideText(lines, group, box, first.Size) {
		return nil, false
	}
	var bars []formula.Bar
	for _, r := range rules {
		frame := r.X0 < box.X0-0.15*first.Size && r.X1 > box.X1+0.15*first.Size
		if !frame && r.height() <= thick && r.X0 >= box.X0-first.Size && r.X1 <= box.X1+first.Size && r.Y0 >= box.Y0-0.4*first.Size && r.Y1 <= bottom { // also a line over a letter
			bars = append(bars, formula.Bar{X0: r.X0, X1: r.X1, Y: (r.Y0 + r.Y1) / 2})
		}
	}
	latex, ok := formula.LaTeX(glyphs, bars)
	if !ok {
		return nil, false
	}
	out := make([]Line, len(latex))
	for i, text := range latex {
		part := box
		part.Y0 += box.height() * float64(i) / float64(len(latex))
		part.Y1 = part.Y0 + box.height()/float64(len(latex))
		out[i] = Line{Text: text, Box: part, Size: first.Size, Font: first.Font, latex: text, at: lines[group[0]].at}
	}
	return out, true
}

// besideText reports whether a group of lines is a part of a text: one of its lines is beside them, or closely above or below with the same
// left edge.
func besideText(lines []Line, group []int, box Box, size float64) bool {
	for i, l := range lines {
		if slices.Contains(group, i) {
			continue
		}
		if l.runes() < 4 && l.Box.X0 < box.X1+0.3*size && l.Box.X1 > box.X0-0.3*size && l.Box.Y0 < box.Y1+0.2*size && l.Box.Y1 > box.Y0-0.2*size {
			return true // a sign of the formula that is not among its glyphs
		}
		gap := max(l.Box.Y0-box.Y1, box.Y0-l.Box.Y1)
		if l.runes() > 20 && gap < 0.6*size && gap > -0.5*size && math.Abs(l.Box.X0-box.X0) < 1.5*size {
			return true
		}
		if slices.ContainsFunc(l.Glyphs, func(g formula.Glyph) bool {
			return g.X > box.X0-0.5*size && g.X < box.X1 && g.Y > box.Y0+0.2*size && g.Y < box.Y1
		}) {
			return true // an accent that was read with the line above
		}
		middle := (l.Box.Y0 + l.Box.Y1) / 2
		if middle > box.Y0 && middle < box.Y1 && l.Box.X0 < box.X1+2*size && l.Box.X1 > box.X0-2*size {
			return true
		}
	}
	return false
}
