package layout

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/ingestion/formula"
)

// withInline finds the formulas within the lines of a text, whose fonts say where they are. Lines that MuPDF divides at a script are one again.
func withInline(lines []Line, rules []Box) []Line {
	if len(lines) > 4*maxMathLines || !slices.ContainsFunc(lines, func(l Line) bool { return l.latex == "" && slices.ContainsFunc(l.Glyphs, isVariable) }) {
		return lines // or its letters are in fonts of the text, and only some of their signs are known
	}
	var bars []formula.Bar
	for _, r := range rules {
		if r.height() <= thick && r.width() > 2 {
			bars = append(bars, formula.Bar{X0: r.X0, X1: r.X1, Y: (r.Y0 + r.Y1) / 2})
		}
	}
	lines = rejoined(lines)
	notes := footnotes(lines)
	for i, l := range lines {
		if l.latex == "" && l.Turns == 0 && !l.shown && !l.Mono() && l.mathShare() > 0 && l.hasAllGlyphs() && (proseWord.MatchString(l.Text) || i > 0 && textLine{l}.follows(textLine{lines[i-1]})) {
			lines[i].spans = textLine{l}.formulas(bars, notes, crowd(lines, i))
		}
	}
	return lines
}

// textLine is a line that may have formulas.
type textLine struct{ Line }

// proseWord is a word of a text, such as no formula has.
var proseWord = regexp.MustCompile(`\pL{3,}`)

// follows reports whether a line is close below another one, at its left edge or that of the paragraph.
func (l textLine) follows(before textLine) bool {
	gap := l.baseline() - before.baseline()
	return same(l.Size, before.Size) && proseWord.MatchString(before.Text) && gap > 0.9*l.Size && gap < 1.6*l.Size && math.Abs(l.Box.X0-before.Box.X0) < 2.5*l.Size
}

// isVariable reports whether a glyph is a small Latin letter of a font for formulas.
func isVariable(g formula.Glyph) bool {
	r, _ := utf8.DecodeRuneInString(norm.NFKC.String(g.Text))
	return r >= 'a' && r <= 'z' && formula.IsMath(g.Font)
}

// formulas returns the formulas of a line as spans.
func (l textLine) formulas(bars []formula.Bar, notes map[string]bool, crowd []formula.Glyph) (out []span) {
	apart, starts := l.letters()
	text := []rune(l.Text)
	var near []formula.Bar
	for _, b := range bars {
		if b.Y > l.Box.Y0-l.Size && b.Y < l.Box.Y1+l.Size && b.X0 > l.Box.X0-l.Size && b.X1 < l.Box.X1+l.Size {
			near = append(near, b)
		}
	}
	for _, r := range formula.Inline(l.Glyphs, apart, near) {
		from, to := starts[r.From], len(text)
		if r.To < len(starts) {
			to = starts[r.To]
		}
		for to > from && unicode.IsSpace(text[to-1]) {
			to--
		}
		if l.endsInNote(r, notes) || l.crowded(r, near, crowd) || to < len(text) && unicode.IsDigit(text[to]) { // some readers take no dollar before a digit for the end of a formula
			continue
		}
		out = append(out, span{from: from, to: to, latex: r.LaTeX})
	}
	return out
}

// crowd returns the glyphs of other lines that are so close that they may be parts of a line's formulas, such as the denominators of fractions.
func crowd(lines []Line, at int) (out []formula.Glyph) {
	l := lines[at]
	for i, o := range lines {
		if i == at || o.Box.Y0 > l.Box.Y1+1.2*l.Size || o.Box.Y1 < l.Box.Y0-1.2*l.Size || o.Box.X0 > l.Box.X1+l.Size || o.Box.X1 < l.Box.X0-l.Size {
			continue
		}
		out = append(out, o.Glyphs...)
	}
	return out
}

// crowded reports whether a letter of another line is where a formula, or one of its rules or large signs, may have a part.
func (l textLine) crowded(r formula.Run, bars []formula.Bar, crowd []formula.Glyph) bool {
	left, right, base, reach, limits := math.Inf(1), math.Inf(-1), l.baseline(), 0.95*l.Size, 0.95*l.Size
	for _, g := range l.Glyphs[r.From:r.To] {
		left, right = min(left, g.X), max(right, g.X+g.Width)
		if formula.Hangs(g.Font) {
			limits = 1.8 * l.Size
		}
	}
	for _, g := range crowd {
		x := g.X + g.Width/2
		if x > left-0.3*l.Size && x < right+0.3*l.Size && (math.Abs(g.Y-base) < reach || g.Size < 0.85*l.Size && math.Abs(g.Y-base) < limits) {
			return true
		}
		if slices.ContainsFunc(bars, func(b formula.Bar) bool {
			return b.X0 < right && b.X1 > left && x > b.X0 && x < b.X1 && math.Abs(g.Y-b.Y) < l.Size
		}) {
			return true
		}
	}
	return false
}

// letters returns for each glyph whether there is a blank before it, and the number of its first rune in the text.
func (l textLine) letters() (apart []bool, starts []int) {
	text, at := []rune(l.Text), 0
	for _, g := range l.Glyphs {
		blank := false
		for at < len(text) && unicode.IsSpace(text[at]) {
			blank, at = true, at+1
		}
		apart, starts = append(apart, blank), append(starts, at)
		at += utf8.RuneCountInString(g.Text)
	}
	return apart, starts
}

// footnotes returns the numbers of the notes of a page, which begin with them in small type.
func footnotes(lines []Line) map[string]bool {
	found := map[string]bool{}
	for _, l := range lines {
		number := ""
		for _, g := range l.Glyphs {
			if !formula.IsDigit(g) || g.Size > 0.85*l.Size {
				break
			}
			number += g.Text
		}
		if number != "" {
			found[number] = true
		}
	}
	return found
}

// endsInNote reports whether the number that ends a formula may be the mark of a note.
func (l textLine) endsInNote(r formula.Run, notes map[string]bool) bool {
	number := ""
	for i := r.To - 1; i > r.From; i-- {
		g := l.Glyphs[i]
		if !formula.IsDigit(g) || formula.IsMath(g.Font) || g.Size > 0.85*l.Size {
			break
		}
		number = g.Text + number
	}
	return notes[number]
}

// rejoined joins the parts of each line that was divided where a script, a fraction or a sum begins.
func rejoined(lines []Line) []Line {
	var out []Line
	for i := 0; i < len(lines); {
		n := max(lineParts(lines[i:]), 1)
		whole := lines[i]
		for _, part := range lines[i+1 : i+n] {
			whole = textLine{whole}.joined(part)
		}
		out = append(out, whole)
		i += n
	}
	return out
}

// maxParts is of a line.
const maxParts = 24

// lineParts returns how many of the first lines are parts of one: those of full type are on one baseline, each begins where the one before
// does or ends, and what is between them is small or a large sign.
func lineParts(lines []Line) (n int) {
	host, right := -1, lines[0].Box.X1
	for i, l := range lines[:min(len(lines), maxParts)] {
		if l.latex != "" || l.shown || l.Turns != 0 || len(l.Glyphs) == 0 || !l.hasAllGlyphs() {
			return n
		}
		if i > 0 && (l.Box.X0 > right+0.9*l.Size || l.Box.X0 < lines[i-1].Box.X0-1.2*lines[i-1].Size) {
			return n
		}
		small := textLine{l}.fragment(lines, host)
		switch {
		case host >= 0 && small && !textLine{lines[host]}.reaches(l):
			return n
		case host >= 0 && !small && (!same(l.Size, lines[host].Size) || math.Abs(textLine{l}.baseline()-textLine{lines[host]}.baseline()) > 0.1*l.Size):
			return n
		case host < 0 && !small:
			if host = i; slices.ContainsFunc(lines[:i], func(before Line) bool { return !textLine{l}.reaches(before) }) {
				return n
			}
		}
		right = max(right, l.Box.X1)
		if host >= 0 {
			n = i + 1
		}
	}
	return n
}

// fragment reports whether a line is only a script, a part of a fraction, or a large sign.
func (l textLine) fragment(lines []Line, host int) bool {
	size := 0.0
	if host >= 0 {
		size = lines[host].Size
	} else {
		for _, o := range lines[:min(len(lines), 8)] {
			size = max(size, o.Size)
		}
	}
	return !slices.ContainsFunc(l.Glyphs, func(g formula.Glyph) bool {
		return g.Size >= 0.85*size && !formula.Hangs(g.Font) && g.Text != "√"
	})
}

// reaches reports whether a part is at the height of a line.
func (l textLine) reaches(part Line) bool {
	return !slices.ContainsFunc(part.Glyphs, func(g formula.Glyph) bool {
		return g.Y < l.baseline()-1.4*l.Size || g.Y > l.baseline()+0.9*l.Size
	})
}

// baseline is that of most of a line's glyphs of full size.
func (l textLine) baseline() float64 {
	count, most, base := map[float64]int{}, 0, l.base()
	for _, g := range l.Glyphs {
		if g.Size < 0.85*l.Size || formula.Hangs(g.Font) {
			continue
		}
		if count[g.Y]++; count[g.Y] > most {
			most, base = count[g.Y], g.Y
		}
	}
	return base
}

// joined appends a part that follows.
func (l textLine) joined(part Line) Line {
	last, first := l.Glyphs[len(l.Glyphs)-1], part.Glyphs[0]
	begins, _ := utf8.DecodeRuneInString(first.Text)
	word := !formula.IsMath(first.Font) && unicode.IsLetter(begins) && first.Size > 0.85*l.Size // widths may be too large
	whole, longer := l.appended(part, part.Box.X0-l.Box.X1 > 0.15*l.Size || word && first.X-last.X > 0.65*last.Size)
	whole.Box = Box{min(l.Box.X0, part.Box.X0), longer.Box.Y0, max(l.Box.X1, part.Box.X1), longer.Box.Y1}
	whole.Size = longer.Size
	return whole
}

var (
	signedFormula = regexp.MustCompile(mathBegin + `([^\x11]*)` + mathText + `([^\x12]*)` + mathEnd)
	brokenFormula = regexp.MustCompile(mathBegin + `([^\x11]*)` + mathText + `([^\x12]*)` + mathEnd + ` ?([^ \x10]) ` + mathBegin + `([^\x11]*)` + mathText)
	dollarPair    = regexp.MustCompile(`\$[^\s$][^$]*\$|\$\$`)
)

// mended joins the two parts of each formula that is divided between lines: behind an operation, as TeX does.
func mended(text string) string {
	for {
		at := brokenFormula.FindStringSubmatchIndex(text)
		if at == nil {
			return text
		}
		part := func(i int) string { return text[at[2*i]:at[2*i+1]] }
		latex, ok := formula.Joined(part(1), part(3), part(4))
		if !ok {
			return text
		}
		text = text[:at[0]] + mathBegin + latex + mathText + part(2) + " " + part(3) + " " + text[at[1]:]
	}
}

// withMath writes the formulas of a text, and escapes what else is markup. Of headings, the text stays.
func withMath(text string, heading bool) string {
	if heading {
		text = unsigned(text)
	}
	text = mended(text)
	escape := marks.Replace
	if strings.Contains(text, mathBegin) || dollarPair.MatchString(text) { // readers would take the text between two dollars for a formula
		escape = func(s string) string { return strings.ReplaceAll(marks.Replace(s), "$", `\$`) }
	}
	var b strings.Builder
	for at := signedFormula.FindStringSubmatchIndex(text); at != nil; at = signedFormula.FindStringSubmatchIndex(text) {
		b.WriteString(escape(text[:at[0]]))
		if latex := text[at[2]:at[3]]; strings.HasSuffix(b.String(), "$") {
			b.WriteString(escape(text[at[4]:at[5]]))
		} else {
			b.WriteString("$" + latex + "$")
		}
		text = text[at[1]:]
	}
	return b.String() + escape(text)
}

// withoutStrokes makes text of formulas with strokes, which would divide the cells of a table.
func withoutStrokes(text string) string {
	return signedFormula.ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s[:strings.Index(s, mathText)], "|") {
			return unsigned(s)
		}
		return s
	})
}
