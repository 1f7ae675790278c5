// Package formula writes formulas in LaTeX, from the places of their letters and rules on the page: what is raised is a superscript, what
// is between the ends of a rule and above it is a numerator. It writes only formulas in which it knows each sign and its place.
package formula

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// Glyph is a letter or sign of a formula. Places are in points from the upper left corner of the page.
type Glyph struct {
	Text  string
	Font  string
	X, Y  float64 // where its baseline begins
	Size  float64
	Width float64
}

// Bar is a level rule: of a fraction or a root.
type Bar struct{ X0, X1, Y float64 }

const (
	maxGlyphs = 400  // of a formula
	deepest   = 8    // parts within parts
	smallest  = 6.5  // points, of type whose scripts are as large
	axis      = 0.25 // height of fraction rules and operators over the baseline, in sizes
)

// mathFonts are fonts in which only formulas are set: those of TeX and its successors, of KaTeX and MathJax, and of word processors.
var mathFonts = regexp.MustCompile(`(?i)^(?:[A-Z]{6}\+)?(?:katex|mathjax|cm(?:mi|sy|ex|mib|bsy)|lm(?:mi|sy|ex|math)|ms[ab]m|eu[fersx][mb]?\d|rsfs|stmary|wasy|` +
	`r?tx(?:mi|sy|ex)|px(?:mi|sy|ex)|mt(?:mi|sy|ex)|pazomath|fourier-math|mathpazo|(?:stix|xits|asana|cambria|latinmodern|dejavu)[\w ]*-?math)`)

// IsMath reports whether a font is one for formulas alone.
func IsMath(font string) bool { return mathFonts.MatchString(font) }

// Hangs reports whether the signs of a font are drawn below their place, as TeX's large operators and brackets are.
func Hangs(font string) bool {
	font = strings.ToLower(font)
	return strings.Contains(font, "cmex") || strings.Contains(font, "lmex")
}

// hung are the signs of TeX's extension fonts: how wide they are, and how far above the line their place is, in sizes. They are centred on the
// height of fraction rules; the figures are those of the larger form of cmex10 (D. E. Knuth, Computer Modern Typefaces).
var hung = map[string]struct{ width, above float64 }{
	"∑": {1.44, 0.95}, "∏": {1.28, 0.95}, "∐": {1.28, 0.95}, "∫": {0.56, 1.36}, "∮": {0.56, 1.36}, "⋃": {1.11, 0.95}, "⋂": {1.11, 0.95},
	"⋁": {1.11, 0.95}, "⋀": {1.11, 0.95}, "⨁": {1.51, 0.95}, "⨂": {1.51, 0.95}, "⨀": {1.51, 0.95},
	"(": {0.6, 1.15}, ")": {0.6, 1.15}, "[": {0.47, 1.15}, "]": {0.47, 1.15}, "{": {0.67, 1.15}, "}": {0.67, 1.15},
	"⌊": {0.53, 1.15}, "⌋": {0.53, 1.15}, "⌈": {0.53, 1.15}, "⌉": {0.53, 1.15}, "⟨": {0.61, 1.15}, "⟩": {0.61, 1.15},
}

// standing puts the signs that hang below their place onto their line. A root keeps the place of its rule.
func standing(glyphs []Glyph) []Glyph {
	out, stacks := stacked(joined(glyphs))
	for i, g := range out {
		if !Hangs(g.Font) {
			continue
		}
		if h, ok := hung[g.Text]; ok {
			out[i].Width, out[i].Y = h.width*g.Size, g.Y+h.above*g.Size
		} else if g.Text == "√" {
			out[i].Width = g.Size
		}
	}
	return append(out, stacks...)
}

// piece are the pieces of brackets that are made of several, one below the other.
var piece = map[string]string{
	"⎛": "(", "⎜": "(", "⎝": "(", "⎞": ")", "⎟": ")", "⎠": ")", "⎡": "[", "⎢": "[", "⎣": "[", "⎤": "]", "⎥": "]", "⎦": "]",
	"⎧": "{", "⎨": "{", "⎩": "{", "⎫": "}", "⎬": "}", "⎭": "}", "⏐": "|",
}

// stacked takes the pieces of brackets out, and makes one bracket of each stack, on the line at whose height it is centred.
func stacked(glyphs []Glyph) (rest, stacks []Glyph) {
	var lowest []float64 // piece of each stack
	for _, g := range glyphs {
		whole := piece[g.Text]
		if whole == "" {
			rest = append(rest, g)
			continue
		}
		g.Text = whole
		at := slices.IndexFunc(stacks, func(s Glyph) bool { return s.Text == whole && math.Abs(s.X-g.X) < 0.1*g.Size })
		if at < 0 {
			stacks, lowest = append(stacks, g), append(lowest, g.Y)
			continue
		}
		stacks[at].Y, lowest[at] = min(stacks[at].Y, g.Y), max(lowest[at], g.Y)
	}
	for i, s := range stacks {
		height := 1.8 // of a piece, in sizes
		if s.Text == "|" {
			height = 0.6
		}
		stacks[i].Y = (s.Y+lowest[i])/2 + (height/2+axis)*s.Size
		stacks[i].Width = hung[s.Text].width * s.Size
	}
	return rest, stacks
}

// together are signs that TeX draws in two parts, of which the first has no width.
var together = map[string]string{"\u0338=": "≠", "\u0338∈": "∉", "↦→": "↦"}

// joined makes one glyph of signs that are drawn in two parts.
func joined(glyphs []Glyph) []Glyph {
	out := slices.Clone(glyphs)
	for i, part := range out {
		for j, sign := range out {
			whole := together[part.Text+sign.Text]
			if whole != "" && math.Abs(part.X-sign.X) < 0.3*sign.Size && math.Abs(part.Y-sign.Y) < 0.1*sign.Size {
				out[i].Text, out[j].Text = "", whole
				break
			}
		}
	}
	return slices.DeleteFunc(out, func(g Glyph) bool { return g.Text == "" })
}

// tagged is the number of a formula at the margin.
var tagged = regexp.MustCompile(`^\((\d{1,3}(?:\.\d{1,3})*[a-z]?)\)$`)

// LaTeX returns formulas in LaTeX without the dollars, one for each row. It fails if a sign is unknown, or a part has no place in its row.
func LaTeX(glyphs []Glyph, bars []Bar) ([]string, bool) {
	if len(glyphs) == 0 || len(glyphs) > maxGlyphs || len(bars) > maxGlyphs {
		return nil, false
	}
	glyphs = standing(glyphs)
	parts := rows(glyphs, bars)
	if len(parts) > 1 && spans(parts) {
		return nil, false // a matrix
	}
	var out []string
	for _, r := range parts {
		glyphs, number := withoutNumber(r.glyphs)
		nodes, ok := nodesOf(glyphs)
		if !ok || isItem(glyphs) || apart(glyphs) {
			return nil, false
		}
		for _, b := range r.bars {
			nodes = append(nodes, node{x0: b.X0, x1: b.X1, y: b.Y, kind: bar})
		}
		latex, ok := row(nodes, 0)
		if !ok || !balanced(latex) || !sounds(latex) {
			return nil, false
		}
		out = append(out, strings.TrimRight(latex, ".,;")+number) // the stop is of the sentence around it
	}
	return out, len(out) > 0
}

// withoutNumber takes the number of a formula at the right margin away, and returns it as LaTeX. What is left is in its order on the page.
func withoutNumber(glyphs []Glyph) (sorted []Glyph, number string) {
	sorted = slices.Clone(glyphs)
	slices.SortStableFunc(sorted, func(a, b Glyph) int { return compare(a.X, b.X) })
	for i := len(sorted) - 1; i > 0; i-- {
		before := sorted[i-1]
		if sorted[i].X-before.X-before.Width < 3*before.Size {
			continue
		}
		var b strings.Builder
		for _, g := range sorted[i:] {
			b.WriteString(g.Text)
		}
		if m := tagged.FindStringSubmatch(b.String()); m != nil {
			return sorted[:i], ` \tag{` + m[1] + `}`
		}
		break
	}
	return sorted, ""
}

// isItem reports whether a row begins with the number of a list item.
func isItem(glyphs []Glyph) bool {
	for i, g := range glyphs[:len(glyphs)-1] {
		switch {
		case g.Text == "." && i > 0:
			return glyphs[i+1].X-g.X-g.Width > 0.3*g.Size
		case g.Text < "0" || g.Text > "9":
			return false
		}
	}
	return false
}

// apart reports whether a gap divides the glyphs: they are several formulas, such as labels of a drawing.
func apart(glyphs []Glyph) bool {
	right := math.Inf(1)
	for _, g := range glyphs {
		if g.X-right > 2.2*g.Size {
			return true
		}
		if math.IsInf(right, 1) || g.X+g.Width > right {
			right = g.X + g.Width
		}
	}
	return false
}

// node is a sign, a rule, or a part of a formula that is already written.
type node struct {
	x0, x1 float64
	y      float64 // of the baseline; of fractions and rules, their height
	size   float64 // 0: of a fraction
	latex  string
	kind   kind
}

type kind byte

const (
	sign     kind = iota
	upright       // a letter, which may be part of a name such as sin
	operator      // with limits above and below, or beside
	tall          // at the height of the line, wherever its font puts its baseline
	root
	accent // over the letter that it overlaps
	fraction
	bar
)

func (n node) middle() float64 { return (n.x0 + n.x1) / 2 }

// row writes nodes from left to right, each with its scripts.
func row(nodes []node, depth int) (string, bool) {
	if depth > deepest {
		return "", false
	}
	nodes, ok := withParts(withNames(nodes), depth)
	if !ok || len(nodes) == 0 {
		return "", false
	}
	l := lineOf(nodes)
	if nodes, ok = l.withLimits(nodes, depth); !ok {
		return "", false
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return compare(a.x0, b.x0) })
	var w writer
	for i := 0; i < len(nodes); {
		n := nodes[i]
		if !l.has(n) {
			return "", false // a script without anything to its left
		}
		var over, under []node
		for i++; i < len(nodes) && !l.has(nodes[i]); i++ {
			m := nodes[i]
			switch {
			case (n.kind == upright || n.kind == operator || relates.MatchString(n.latex)) && m.x0 < n.x1-0.25*l.size:
				return "", false // below it, and none of its limits
			case n.kind == sign && n.size > 0 && m.x0 < n.x0+0.12*n.size:
				return "", false // over or under it
			case m.size > 0.9*l.size && (math.Abs(m.y-l.base) > 0.6*l.size || l.size > smallest):
				return "", false // another row; only scripts of scripts may be as large
			case m.y < l.base-0.12*l.size:
				over = append(over, m)
			default:
				under = append(under, m)
			}
		}
		if i < len(nodes) && slices.ContainsFunc(slices.Concat(over, under), func(m node) bool { return m.middle() > nodes[i].x0+0.1*l.size }) {
			return "", false // it is above or below what follows
		}
		if len(over)+len(under) > 0 && n.kind == upright && i < len(nodes) && nodes[i].kind == upright && nodes[i].x0 < n.x1+0.15*l.size {
			return "", false // a script within a word
		}
		if relates.MatchString(n.latex) && n.kind == sign && slices.ContainsFunc(slices.Concat(over, under), func(m node) bool { return m.kind == fraction }) {
			return "", false // it is of another row
		}
		w.sign(n)
		if !w.script("_", under, depth) || !w.script("^", over, depth) {
			return "", false
		}
	}
	w.flush()
	return w.out.String(), true
}

// withNames makes one sign of the letters of each name that may have limits below it, such as max.
func withNames(nodes []node) []node {
	slices.SortStableFunc(nodes, func(a, b node) int { return compare(a.x0, b.x0) })
	var out []node
	done := map[int]bool{}
	for i, n := range nodes {
		if done[i] {
			continue
		}
		run, name := []int{i}, n.latex
		for j := i + 1; n.kind == upright && j < len(nodes); j++ {
			last, m := nodes[run[len(run)-1]], nodes[j]
			gap := 0.15
			if name == "lim" || name == "arg" {
				gap = 0.4 // of lim sup
			}
			if m.kind == upright && m.size == n.size && math.Abs(m.y-n.y) < 0.05*n.size && m.x0-last.x1 < gap*n.size {
				run, name = append(run, j), name+m.latex
			}
		}
		if n.kind == upright && bounded[name] != "" {
			n.latex, n.kind, n.x1 = bounded[name], operator, nodes[run[len(run)-1]].x1
			for _, j := range run {
				done[j] = true
			}
		}
		out = append(out, n)
	}
	return out
}

// line is the baseline of a row and the size of its type.
type line struct{ base, size float64 }

func lineOf(nodes []node) line {
	var l line
	for _, n := range nodes {
		if n.kind != tall && n.kind != operator {
			l.size = max(l.size, n.size)
		}
	}
	if l.size == 0 {
		for _, n := range nodes {
			l.size = max(l.size, n.size)
		}
	}
	if l.size == 0 {
		l.size = 10 // fractions only
	}
	left := math.Inf(1)
	for _, n := range nodes { // the first full letter, or else a fraction's rule
		full := n.size > 0.9*l.size && n.kind != tall && n.kind != operator
		if full && n.x0 < left {
			l.base, left = n.y, n.x0
		}
	}
	if math.IsInf(left, 1) {
		first := slices.MinFunc(nodes, func(a, b node) int { return compare(a.x0, b.x0) })
		if l.base = first.y; first.kind == fraction {
			l.base += axis * l.size
		}
	}
	return l
}

// has reports whether a node is on the line, and not a script.
func (l line) has(n node) bool {
	switch n.kind {
	case fraction:
		return math.Abs(n.y-(l.base-axis*l.size)) < 0.2*l.size
	case tall, operator:
		return n.size > 0.8*l.size && math.Abs(n.y-l.base) < 1.6*n.size
	}
	return n.size > 0.75*l.size && math.Abs(n.y-l.base) < 0.1*l.size
}

// withLimits writes the limits above and below operators, and those beside as scripts later.
func (l line) withLimits(nodes []node, depth int) ([]node, bool) {
	for at := 0; at < len(nodes); at++ {
		op := nodes[at]
		if op.kind != operator || !l.has(op) {
			continue
		}
		for _, side := range []struct {
			sign  string
			above bool
		}{{"_", false}, {"^", true}} {
			limit := l.limit(nodes, op, side.above)
			if len(limit) == 0 {
				continue
			}
			var inner []node
			for _, i := range limit {
				inner = append(inner, nodes[i])
			}
			latex, ok := row(inner, depth+1)
			if !ok {
				return nil, false
			}
			nodes[at].latex += side.sign + "{" + latex + "}"
			for _, i := range slices.Backward(limit) {
				if nodes = slices.Delete(nodes, i, i+1); i < at {
					at--
				}
			}
		}
	}
	return nodes, true
}

// limit returns the nodes above or below an operator: small ones, close to one another, whose middle is that of the operator.
func (l line) limit(nodes []node, op node, above bool) []int {
	var found []int
	middle := l.base - axis*l.size
	for i, n := range nodes {
		if n.size > 0.9*l.size || n.kind == bar || above != (n.y < middle) || math.Abs(n.y-middle) < 0.75*l.size {
			continue
		}
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b int) int { return compare(nodes[a].x0, nodes[b].x0) })
	for from := 0; from < len(found); {
		to, right := from+1, nodes[found[from]].x1
		for to < len(found) && nodes[found[to]].x0-right < 0.5*l.size {
			right = max(right, nodes[found[to]].x1)
			to++
		}
		left := nodes[found[from]].x0
		if left < op.x1 && right > op.x0 && math.Abs((left+right)/2-op.middle()) < 0.3*max(right-left, op.x1-op.x0, l.size) {
			limit := slices.Clone(found[from:to])
			slices.Sort(limit)
			return limit
		}
		from = to
	}
	return nil
}

// withParts replaces fractions, roots, overlines and accented letters by nodes of their own, the narrowest first.
func withParts(nodes []node, depth int) ([]node, bool) {
	for {
		at := -1
		for i, n := range nodes {
			if n.kind == bar && (at < 0 || n.x1-n.x0 < nodes[at].x1-nodes[at].x0) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		var ok bool
		if nodes, ok = withPart(nodes, at, depth); !ok {
			return nil, false
		}
	}
	return accented(nodes)
}

// withPart replaces one bar with what belongs to it.
func withPart(nodes []node, at, depth int) ([]node, bool) {
	b := nodes[at]
	highest, lowest := math.Inf(-1), math.Inf(1) // up to the bars around it
	for i, n := range nodes {
		if i != at && n.kind == bar && n.x0 <= b.middle() && n.x1 >= b.middle() {
			if n.y < b.y {
				highest = max(highest, n.y)
			} else {
				lowest = min(lowest, n.y)
			}
		}
	}
	var above, below, rest []node
	radical := -1
	for i, n := range nodes {
		inside := n.kind != bar && n.middle() > b.x0-0.5 && n.middle() < b.x1+0.5 && n.x1-n.x0 < b.x1-b.x0+0.4*n.size
		switch {
		case i == at:
		case n.kind == root && math.Abs(n.x1-b.x0) < 0.5*n.size:
			radical = len(rest)
			rest = append(rest, n)
		case inside && n.y <= b.y && n.y > highest:
			above = append(above, n)
		case inside && n.y > b.y && n.y < lowest:
			below = append(below, n)
		default:
			rest = append(rest, n)
		}
	}
	part := node{x0: b.x0, x1: b.x1, y: b.y, kind: fraction}
	under, ok := row(below, depth+1)
	switch {
	case !ok:
		return nil, false
	case radical >= 0 && len(above) == 0:
		l, degree := lineOf(below), ""
		sign := rest[radical]
		rest = slices.Delete(rest, radical, radical+1)
		if degree, rest, ok = degreeOf(rest, sign, l.size); !ok {
			return nil, false
		}
		part = node{x0: sign.x0, x1: b.x1, y: l.base, size: l.size, latex: `\sqrt` + degree + `{` + under + `}`}
	case len(above) == 0:
		l := lineOf(below)
		part = node{x0: b.x0, x1: b.x1, y: l.base, size: l.size, latex: `\overline{` + under + `}`}
	default:
		over, ok := row(above, depth+1)
		if !ok {
			return nil, false
		}
		part.latex = `\frac{` + over + `}{` + under + `}`
	}
	return append(rest, part), true
}

// degreeOf takes the small number over the left end of a root out of the nodes, and returns it as LaTeX.
func degreeOf(nodes []node, root node, size float64) (degree string, rest []node, ok bool) {
	var inside []node
	for _, n := range nodes {
		if n.kind != bar && n.size > 0 && n.size < 0.75*size && n.middle() > root.x0 && n.middle() < root.x1 && math.Abs(n.y-root.y) < 1.5*size {
			inside = append(inside, n)
		} else {
			rest = append(rest, n)
		}
	}
	if len(inside) == 0 {
		return "", rest, true
	}
	degree, ok = row(inside, deepest)
	return "[" + degree + "]", rest, ok
}

// accented puts accents on the letters below them.
func accented(nodes []node) ([]node, bool) {
	for {
		at := slices.IndexFunc(nodes, func(n node) bool { return n.kind == accent })
		if at < 0 {
			return nodes, true
		}
		a, best := nodes[at], -1
		for i, n := range nodes {
			if i == at || n.kind == accent || a.middle() < n.x0-0.2*a.size || a.middle() > n.x1+0.2*a.size || math.Abs(a.y-n.y) > a.size {
				continue
			}
			if best < 0 || math.Abs(n.middle()-a.middle()) < math.Abs(nodes[best].middle()-a.middle()) {
				best = i
			}
		}
		if best < 0 || nodes[best].size == 0 {
			return nil, false
		}
		nodes[best].latex = a.latex + "{" + nodes[best].latex + "}"
		nodes[best].kind = sign
		nodes = slices.Delete(nodes, at, at+1)
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
