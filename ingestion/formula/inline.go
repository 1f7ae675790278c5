package formula

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Run is a formula within a line: its glyphs from ≤ i < to, and its LaTeX without the dollars.
type Run struct {
	From, To int
	LaTeX    string
}

// Inline finds the formulas of a line of text, from its glyphs in reading order. apart[i] reports whether there is a blank before glyph i. A formula
// has a letter, or a large sign, of a font for formulas. Letters of other fonts belong to it only as names of functions, numbers, signs and
// brackets only beside it. What cannot be written with certainty is not found.
func Inline(glyphs []Glyph, apart []bool, bars []Bar) []Run {
	if !slices.ContainsFunc(glyphs, func(g Glyph) bool { return IsMath(g.Font) }) {
		return nil
	}
	t := text{glyphs: glyphs, apart: apart, bars: bars}
	t.measure()
	t.divide()
	var out []Run
	for at := 0; at < len(t.tokens); {
		to := t.reach(at)
		if r, ok := t.write(at, to); ok {
			out = append(out, r)
		}
		at = max(to, at+1)
	}
	return out
}

// Joined returns the formula of two that are divided behind an operation or relation.
func Joined(before, operation, after string) (string, bool) {
	r, size := utf8.DecodeRuneInString(operation)
	latex := signs[r]
	if size != len(operation) || latex == "" && !strings.Contains("+=", operation) || strings.Contains("•†°…{}%#&", operation) {
		return "", false
	}
	if latex == "" {
		latex = operation
	}
	w := writer{}
	w.put(before)
	w.put(latex)
	w.put(after)
	return w.out.String(), true
}

// role is what a token may be in a formula.
type role byte

const (
	other   role = iota // of the text
	letter              // of a font for formulas
	large               // sum, integral or root
	operand             // number, dots, or bold letter
	opening
	closing
	operation // or relation
	comma     // of a font for formulas
	colon
	semicolon
	mark   // of a factorial or a percentage
	stroke // of an absolute value
	accentMark
	name  // of a function: log
	words // of the text, or a function's name before a bracket
	script
)

// token is a sign, a number or a word of a line: the glyphs from ≤ i < to.
type token struct {
	role     role
	from, to int
	blank    bool // before it
	core     bool // only a formula has it
}

// text is a line that may have formulas.
type text struct {
	glyphs     []Glyph
	apart      []bool
	bars       []Bar
	size, base float64 // of most of its type
	tokens     []token
}

func (t *text) measure() {
	count, most := map[[2]float64]int{}, 0
	for _, g := range t.glyphs {
		if Hangs(g.Font) {
			continue
		}
		key := [2]float64{math.Round(10 * g.Size), math.Round(10 * g.Y)}
		if count[key]++; count[key] > most {
			most, t.size, t.base = count[key], g.Size, g.Y
		}
	}
}

// divide makes tokens of the glyphs: words, numbers with the points and commas within, three points, and single signs.
func (t *text) divide() {
	for i, g := range t.glyphs {
		next := token{role: t.roleOf(g), from: i, to: i + 1, blank: t.apart[i]}
		next.core = next.role == letter && IsMath(g.Font) || next.role == large || next.role == script && (IsMath(g.Font) && (isLetter(g) || g.Text == "−") || t.inFraction(g))
		n := len(t.tokens)
		switch {
		case n > 0 && t.string(n-1) == "\u0338" && next.role == operation: // a stroke through what follows
			t.tokens[n-1].role, t.tokens[n-1].to = operation, next.to
		case n > 0 && !next.blank && (next.role == words && t.tokens[n-1].role == words || IsDigit(g) && next.role == operand && t.isNumber(n-1)):
			t.tokens[n-1].to++
		case n > 1 && !next.blank && IsDigit(g) && next.role == operand && t.isPoint(n-1) && !t.tokens[n-1].blank && t.isNumber(n-2):
			t.tokens[n-2].to, t.tokens = next.to, t.tokens[:n-1]
		case n > 1 && next.role == comma && g.Text == "." && t.string(n-1) == "." && t.string(n-2) == ".":
			t.tokens[n-2].role, t.tokens[n-2].to, t.tokens = operand, next.to, t.tokens[:n-1]
		default:
			t.tokens = append(t.tokens, next)
		}
	}
	for i, w := range t.tokens {
		font := strings.ToLower(t.glyphs[w.from].Font)
		switch s := t.string(i); {
		case w.role != words:
		case functions[s] || bounded[s] != "":
			t.tokens[i].role = name
		case w.to-w.from == 1 && (strings.Contains(font, "bold") || strings.Contains(font, "cmbx")):
			t.tokens[i].role = operand
		}
	}
}

func (t *text) isNumber(at int) bool {
	k := t.tokens[at]
	return k.role == operand && IsDigit(t.glyphs[k.to-1])
}

func (t *text) isPoint(at int) bool { s := t.string(at); return s == "." || s == "," }

func (t *text) string(at int) string {
	var b strings.Builder
	for _, g := range t.glyphs[t.tokens[at].from:t.tokens[at].to] {
		b.WriteString(g.Text)
	}
	return b.String()
}

// inFraction reports whether a small glyph is above or below the rule of a fraction.
func (t *text) inFraction(g Glyph) bool {
	return slices.ContainsFunc(t.bars, func(b Bar) bool { return math.Abs(b.Y-(t.base-axis*t.size)) < 0.15*t.size && inFraction(g, b) })
}

// IsDigit reports whether a glyph is one of the ten digits.
func IsDigit(g Glyph) bool { return len(g.Text) == 1 && g.Text[0] >= '0' && g.Text[0] <= '9' }

// isLetter reports whether a glyph is a letter of formulas, and not one of a function's name.
func isLetter(g Glyph) bool {
	r, size := utf8.DecodeRuneInString(g.Text)
	if size != len(g.Text) || !unicode.IsLetter(r) && !strings.ContainsRune("∞∅∇∂∀∃", r) {
		return false
	}
	n, ok := nodeOf(r, g)
	return ok && n.kind == sign
}

func (t *text) roleOf(g Glyph) role {
	r, size := utf8.DecodeRuneInString(g.Text)
	own := IsMath(g.Font)
	n, known := nodeOf(r, g)
	switch {
	case accents[r] != "":
		return accentMark
	case own && known && (n.kind == operator || n.kind == root || integrals[r] != ""):
		return large
	case g.Size < 0.85*t.size || !Hangs(g.Font) && math.Abs(g.Y-t.base) > 0.12*t.size:
		return script
	case strings.ContainsRune("([{⟨⌊⌈", r):
		return opening
	case strings.ContainsRune(")]}⟩⌋⌉", r):
		return closing
	case IsDigit(g), own && r == '…':
		return operand
	case own && isLetter(g):
		return letter
	case (unicode.Is(unicode.Greek, r) || r == '∆') && size == len(g.Text): // upright capitals of TeX
		return letter
	case unicode.IsLetter(r) || size < len(g.Text):
		return words
	case strings.ContainsRune("|∥‖∣", r) && own:
		return stroke
	case (r == ',' || r == '.') && own:
		return comma
	case r == ':':
		return colon
	case r == ';':
		return semicolon
	case r == '!' || r == '%':
		return mark
	case r == '\\' && own:
		return operation
	case strings.ContainsRune("+=<>", r), own && (r == '/' || signs[r] != "" && !strings.ContainsRune("•†°", r)):
		return operation
	}
	return other
}

// reach returns the end of the tokens that may be a formula which begins with a token.
func (t *text) reach(at int) int {
	if !t.fits(at) {
		return at
	}
	depth := 0
	for i := at; i < len(t.tokens); i++ {
		if i > at && (!t.fits(i) || !t.joins(i, depth)) {
			return i
		}
		switch t.tokens[i].role {
		case opening:
			depth++
		case closing:
			if depth--; depth < 0 {
				return i // a bracket of the text
			}
		}
	}
	return len(t.tokens)
}

// fits reports whether a token may be a part of a formula, by what follows it.
func (t *text) fits(at int) bool {
	k, next := t.tokens[at], token{}
	if at+1 < len(t.tokens) {
		next = t.tokens[at+1]
	}
	switch k.role {
	case other:
		return false
	case words:
		s := t.string(at)
		return len(s) <= 5 && !joins[s] && !next.blank && (next.role == opening || len(s) == 1 && next.role == letter)
	case name:
		return next.core || next.role == opening || next.role == script || next.role == name || next.role == stroke
	}
	return true
}

// joins reports whether a token continues the formula of the one before.
func (t *text) joins(at, depth int) bool {
	a, b := t.tokens[at-1], t.tokens[at]
	either := func(r role) bool { return a.role == r || b.role == r }
	if !b.blank {
		switch {
		case b.role == colon:
			return at+1 < len(t.tokens) && !t.tokens[at+1].blank
		case b.role == semicolon:
			return depth > 0
		case b.role == mark:
			return a.role == letter || a.role == operand || a.role == closing || a.role == script
		}
		return a.role != words || b.role == opening || b.role == letter
	}
	if t.gap(at) > 0.8*t.size {
		return false
	}
	switch {
	case b.role == semicolon || b.role == mark || either(words):
		return false
	case either(operation), either(colon), either(large), a.role == comma, a.role == semicolon, b.role == script, a.role == name:
		return true
	case b.role == name, a.role == script && b.role == comma:
		return true
	case either(stroke):
		return depth > 0
	case b.role == operand && t.string(at) == "...", a.role == operand && t.string(at-1) == "...":
		return true
	}
	return b.role != opening && t.gap(at) < 0.2*t.size // a thin space
}

// gap is the space before a token.
func (t *text) gap(at int) float64 {
	before, g := t.glyphs[t.tokens[at].from-1], t.glyphs[t.tokens[at].from]
	return g.X - before.X - before.Width
}

// write writes the tokens from ≤ i < to as a formula, without what may be of the text at their ends.
func (t *text) write(from, to int) (Run, bool) {
	for changed := true; changed && from < to; {
		changed = false
		first, last := t.tokens[from], t.tokens[to-1]
		switch {
		case t.isLoose(first.role) && !t.isUnary(from, to), first.role == closing, first.role == mark:
			from, changed = from+1, true
		case last.role == script && t.scriptsLoose(from, to):
			return Run{}, false // what it belongs to is of the text, or on the next line
		case t.isLoose(last.role), last.role == opening, last.role == name, last.role == words:
			to, changed = to-1, true
		case first.role == opening && t.partner(from, to) < 0:
			from, changed = from+1, true
		case first.role == opening && t.partner(from, to) == to-1 && t.string(from) == "(" && !IsMath(t.glyphs[first.from].Font) && !t.lists(from, to):
			from, to, changed = from+1, to-1, true
		}
	}
	core := slices.ContainsFunc(t.tokens[from:max(from, to)], func(k token) bool { return k.core })
	whole := slices.ContainsFunc(t.tokens[from:max(from, to)], func(k token) bool {
		return k.role == letter || k.role == operand || k.role == script && t.inFraction(t.glyphs[k.from])
	})
	if !whole || t.tokens[to-1].role == large { // without what follows it
		return Run{}, false
	}
	if !core || !t.closed(from, to) || t.goesOn(from-1, -1) || t.goesOn(to, 1) || t.tokens[from].role == script && !t.inFraction(t.glyphs[t.tokens[from].from]) {
		return Run{}, false
	}
	r := Run{From: t.tokens[from].from, To: t.tokens[to-1].to}
	latex, ok := t.latex(r)
	r.LaTeX = latex
	return r, ok
}

// scriptsLoose reports whether the scripts at the end belong to a relation or a large sign.
func (t *text) scriptsLoose(from, to int) bool {
	at := to - 1
	for at > from && t.tokens[at].role == script {
		at--
	}
	return t.isLoose(t.tokens[at].role) || t.tokens[at].role == large
}

// goesOn reports whether a formula continues beyond its end with a sign that nobody knows, or a letter of the text's italics.
func (t *text) goesOn(at, step int) bool {
	for at >= 0 && at < len(t.tokens) && (t.isLoose(t.tokens[at].role) || t.tokens[at].role == opening || t.tokens[at].role == closing) {
		at += step
	}
	if at < 0 || at >= len(t.tokens) {
		return false
	}
	k := t.tokens[at]
	font := strings.ToLower(t.glyphs[k.from].Font)
	return k.role == other && (IsMath(font) && t.string(at) != "\u2022" || t.string(at) == "\ufffd") || k.role == words && k.to-k.from == 1 && strings.Contains(font, "ital")
}

// isLoose reports whether a formula neither begins nor ends with a token of this role.
func (t *text) isLoose(r role) bool {
	return r == operation || r == comma || r == colon || r == semicolon
}

// isUnary reports whether a sign belongs to what follows it: −x.
func (t *text) isUnary(at, to int) bool {
	return at+1 < to && !t.tokens[at+1].blank && strings.Contains("−±∓¬∀∃", t.string(at))
}

// partner returns the closing bracket of an opening one, or -1.
func (t *text) partner(at, to int) int {
	depth := 0
	for i := at; i < to; i++ {
		switch t.tokens[i].role {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// lists reports whether a bracket holds a list of formulas: (x, y) is one formula, (x) is one in the brackets of the text.
func (t *text) lists(from, to int) bool {
	return slices.ContainsFunc(t.tokens[from:to], func(k token) bool { return k.role == comma })
}

// closed reports whether each bracket and stroke has its partner.
func (t *text) closed(from, to int) bool {
	depth, strokes := 0, 0
	for i := from; i < to && depth >= 0; i++ {
		switch t.tokens[i].role {
		case opening:
			depth++
		case closing:
			depth--
		case stroke:
			if depth == 0 { // within brackets it may divide
				strokes++
			}
		}
	}
	return depth == 0 && strokes%2 == 0
}

// small are the widths of the smaller forms, which are set within text.
var small = map[string]float64{
	"∑": 1.06, "∏": 0.94, "∐": 0.94, "∫": 0.47, "∮": 0.47, "⋃": 0.83, "⋂": 0.83, "⋁": 0.83, "⋀": 0.83, "⨁": 1.11, "⨂": 1.11, "⨀": 1.11,
}

func (t *text) latex(r Run) (string, bool) {
	glyphs := standing(t.glyphs[r.From:r.To])
	for i, g := range glyphs {
		if width := small[g.Text]; width > 0 && Hangs(g.Font) {
			glyphs[i].Width = width * g.Size
		}
	}
	nodes, ok := nodesOf(glyphs)
	if !ok || len(glyphs) > maxGlyphs {
		return "", false
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, g := range t.glyphs[r.From:r.To] {
		left, right = min(left, g.X), max(right, g.X+g.Width)
	}
	for _, b := range t.bars {
		if b.X0 > left-t.size && b.X1 < right+t.size && b.Y > t.base-1.15*t.size && b.Y < t.base {
			nodes = append(nodes, node{x0: b.X0, x1: b.X1, y: b.Y, kind: bar})
		}
	}
	latex, ok := row(nodes, 0)
	latex = strings.TrimSpace(latex)
	return latex, ok && balanced(latex) && !word.MatchString(latex) && IsOwn(latex) && !strings.Contains(latex, "[[") && !strings.Contains(latex, "](")
}
