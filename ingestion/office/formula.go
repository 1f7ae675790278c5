package office

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// formula writes an equation in the notation of LaTeX, from the equations of Office Open XML (ECMA-376, part 1, section
// 22.1) or from MathML (W3C MathML 3). One with a part that it does not know is written as its characters, and says so.
func formula(n *node) string {
	var t tex
	text := strings.TrimSpace(t.write(n, 0))
	switch {
	case text == "":
		return ""
	case t.unknown:
		return escape(strings.Join(strings.Fields(spacedText(n)), " ")) + " (an equation that cannot be written as text: look at the original)"
	}
	return "$" + text + "$"
}

// spacedText is all text below, with blanks between its pieces.
func spacedText(n *node) string {
	if n.name == "" {
		return n.text + " "
	}
	var b strings.Builder
	for _, k := range n.kids {
		b.WriteString(spacedText(k))
	}
	return b.String()
}

// latexText escapes characters that have a meaning in LaTeX.
var latexText = strings.NewReplacer(`\`, `\backslash `, "{", `\{`, "}", `\}`, "$", `\$`, "%", `\%`, "#", `\#`, "_", `\_`, "^", `\hat{}`, "&", `\&`, "|", `\vert `,
	"\n", " ", "√", `\surd `, "∑", `\sum `, "∏", `\prod `, "∐", `\coprod `, "∫", `\int `, "∬", `\iint `, "∭", `\iiint `, "∮", `\oint `, "⋃", `\bigcup `, "⋂", `\bigcap `, "⋁", `\bigvee `,
	"⋀", `\bigwedge `, "⨁", `\bigoplus `, "⨂", `\bigotimes `, "∞", `\infty `, "≤", `\le `, "≥", `\ge `, "≠", `\ne `, "×", `\times `, "⋅", `\cdot `,
	"‖", `\Vert `, "∥", `\Vert `, "⟨", `\langle `, "⟩", `\rangle `, "〈", `\langle `, "〉", `\rangle `, "⌊", `\lfloor `, "⌋", `\rfloor `, "⌈", `\lceil `, "⌉", `\rceil `)

// bigSigns are the operators that have their limits below and above them.
const bigSigns = "∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂"

// above and below are the signs that stand over and under a part.
var (
	above = map[string]string{
		"̂": `\hat`, "^": `\hat`, "ˆ": `\hat`, "̃": `\tilde`, "~": `\tilde`, "˜": `\tilde`, "̇": `\dot`, "˙": `\dot`, "̈": `\ddot`, "¨": `\ddot`, "⃛": `\dddot`, "̌": `\check`, "ˇ": `\check`,
		"́": `\acute`, "´": `\acute`, "̀": `\grave`, "`": `\grave`, "̆": `\breve`, "˘": `\breve`, "̅": `\overline`, "̄": `\overline`, "¯": `\overline`, "‾": `\overline`, "ˉ": `\overline`, "⃗": `\vec`, "→": `\vec`,
		"⃖": `\overleftarrow`, "←": `\overleftarrow`, "⃡": `\overleftrightarrow`, "↔": `\overleftrightarrow`, "⏞": `\overbrace`,
	}
	below     = map[string]string{"̲": `\underline`, "_": `\underline`, "¯": `\underline`, "‾": `\underline`, "⏟": `\underbrace`, "→": `\underrightarrow`, "←": `\underleftarrow`}
	wide      = map[string]string{`\hat`: `\widehat`, `\tilde`: `\widetilde`, `\vec`: `\overrightarrow`}
	functions = []string{
		"arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log",
		"max", "min", "sec", "sin", "sinh", "sup", "tan", "tanh",
	}
	matrices = map[string]string{"()": "pmatrix", "[]": "bmatrix", "{}": "Bmatrix", "||": "vmatrix", "‖‖": "Vmatrix", "∥∥": "Vmatrix"}
)

// transparent are elements that are no more than their contents.
var transparent = []string{
	"", "oMath", "oMathPara", "e", "num", "den", "sub", "sup", "deg", "lim", "fName", "t", "r", "box", "ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml",
	"math", "semantics", "mrow", "mstyle", "mpadded", "mi", "mn", "mo", "mtd", "merror", "maction",
}

// tex writes one equation.
type tex struct {
	unknown bool
	aligned int // how many arrays of equations are around: & aligns their lines
}

func (t *tex) write(n *node, depth int) string {
	if n == nil || depth > 60 {
		return ""
	}
	if n.name == "" && len(n.kids) == 0 {
		text := latexText.Replace(clean(n.text))
		if t.aligned > 0 {
			text = strings.ReplaceAll(text, `\&`, "&")
		}
		return text
	}
	part := func(names ...string) string { return strings.TrimSpace(t.write(n.child(names...), depth+1)) }
	// In MathML, the order of an element's parts is their meaning.
	elements := n.elements()
	nth := func(i int) string {
		if i < len(elements) {
			return strings.TrimSpace(t.write(elements[i], depth+1))
		}
		return ""
	}
	switch n.name {
	case "annotation", "annotation-xml", "del", "moveFrom", "mspace", "none", "mprescripts", "bookmarkStart", "bookmarkEnd":
		return ""
	case "r":
		return t.run(n, depth)
	case "mtext", "ms":
		return `\text` + arg(mathWords(n))
	case "mi", "mo", "fName":
		if name := strings.TrimSpace(n.flat()); slices.Contains(functions, name) && n.first("lim") == nil {
			return `\` + name + " "
		}
	case "sSup":
		return group(part("e")) + "^" + group(part("sup"))
	case "sSub":
		return group(part("e")) + "_" + group(part("sub"))
	case "sSubSup":
		return group(part("e")) + "_" + group(part("sub")) + "^" + group(part("sup"))
	case "sPre":
		return "{}_" + group(part("sub")) + "^" + group(part("sup")) + group(part("e"))
	case "f":
		return fraction(part("num"), part("den"), n.child("fPr", "type").attr("val") == "noBar")
	case "rad":
		return root(part("deg"), part("e"))
	case "d":
		return t.fenced(n, depth)
	case "nary":
		sign := or(n.child("naryPr", "chr").attr("val"), "∫")
		return limits(strings.TrimSpace(latexText.Replace(sign)), part("sub"), part("sup")) + " " + part("e")
	case "func":
		return part("fName") + " " + part("e")
	case "limLow":
		return under(part("e"), part("lim"), strings.TrimSpace(n.child("e").flat()))
	case "limUpp":
		return over(part("e"), part("lim"), strings.TrimSpace(n.child("e").flat()))
	case "acc":
		return over(part("e"), or(n.child("accPr", "chr").attr("val"), "̂"), "")
	case "bar":
		if n.child("barPr", "pos").attr("val") == "top" {
			return `\overline` + arg(part("e"))
		}
		return `\underline` + arg(part("e"))
	case "groupChr":
		sign := or(n.child("groupChrPr", "chr").attr("val"), "⏟")
		if n.child("groupChrPr", "pos").attr("val") == "top" {
			return over(part("e"), sign, "")
		}
		return under(part("e"), sign, "")
	case "borderBox":
		return `\boxed` + arg(part("e"))
	case "phant":
		if show, ok := n.child("phantPr", "show").find("val"); ok && !on(n.child("phantPr"), "show") && show != "" {
			return `\phantom` + arg(part("e"))
		}
		return part("e")
	case "mphantom":
		return `\phantom` + arg(t.kids(n, depth))
	case "m", "mtable", "eqArr":
		return t.rows(n, map[string]string{"eqArr": "aligned"}[n.name], depth)
	case "msup":
		return group(nth(0)) + "^" + group(nth(1))
	case "msub":
		return group(nth(0)) + "_" + group(nth(1))
	case "msubsup":
		return group(nth(0)) + "_" + group(nth(1)) + "^" + group(nth(2))
	case "munder", "mover", "munderover":
		if len(elements) < 2 {
			break
		}
		base := strings.TrimSpace(elements[0].flat())
		switch {
		case n.name == "munderover" && (strings.Contains(bigSigns, base) || slices.Contains(functions, base)):
			return limits(nth(0), nth(1), nth(2))
		case n.name == "munderover":
			return over(under(nth(0), sign(elements[1], nth(1)), base), sign(elements[len(elements)-1], nth(2)), base)
		case n.name == "munder":
			return under(nth(0), sign(elements[1], nth(1)), base)
		}
		return over(nth(0), sign(elements[1], nth(1)), base)
	case "mfrac":
		thick := n.attr("linethickness")
		return fraction(nth(0), nth(1), thick != "" && strings.Trim(thick, "0.ptxem%") == "")
	case "msqrt":
		return root("", t.kids(n, depth))
	case "mroot":
		return root(nth(1), nth(0))
	case "mfenced":
		return t.fenced(n, depth)
	default:
		if strings.HasSuffix(n.name, "Pr") {
			return ""
		}
		t.unknown = t.unknown || !slices.Contains(transparent, n.name)
	}
	return t.kids(n, depth)
}

func (t *tex) kids(n *node, depth int) string {
	var b strings.Builder
	for _, k := range n.kids {
		if k.name == "" && strings.TrimSpace(k.text) == "" && len(n.elements()) > 0 {
			continue // white space between elements
		}
		b.WriteString(t.write(k, depth+1))
	}
	return b.String()
}

// run is a run of an equation of Word: words, or letters of an alphabet of their own.
func (t *tex) run(n *node, depth int) string {
	pr := n.child("rPr")
	if on(pr, "nor") {
		return `\text` + arg(mathWords(n))
	}
	text := t.kids(n, depth)
	if name := strings.TrimSpace(text); slices.Contains(functions, name) {
		return `\` + name + " "
	}
	if style := map[string]string{"double-struck": `\mathbb`, "script": `\mathcal`, "fraktur": `\mathfrak`, "sans-serif": `\mathsf`, "monospace": `\mathtt`}[pr.child("scr").attr("val")]; style != "" {
		return style + arg(text)
	}
	return text
}

// mathWords is text between the words of an equation, for \text.
func mathWords(n *node) string {
	return strings.NewReplacer(`\`, "", "{", `\{`, "}", `\}`, "$", `\$`, "%", `\%`, "#", `\#`, "_", `\_`, "^", "", "&", `\&`, "\n", " ").Replace(clean(n.flat()))
}

// fenced is what stands between brackets: a matrix, cases, or parts with signs between them.
func (t *tex) fenced(n *node, depth int) string {
	sign := func(name, plain, otherwise string) string {
		if v, ok := n.find(plain); ok {
			return v
		}
		if v, ok := n.child("dPr", name).find("val"); ok {
			return v
		}
		return otherwise
	}
	left, right, between := sign("begChr", "open", "("), sign("endChr", "close", ")"), sign("sepChr", "separators", "|")
	if n.name == "mfenced" && between == "|" {
		between = ","
	}
	var parts []*node
	for _, k := range n.elements() {
		if !strings.HasSuffix(k.name, "Pr") {
			parts = append(parts, k)
		}
	}
	if len(parts) == 1 {
		inner := only(parts[0])
		switch {
		case (inner.name == "m" || inner.name == "mtable") && matrices[left+right] != "":
			return t.rows(inner, matrices[left+right], depth)
		case (inner.name == "eqArr" || inner.name == "m" || inner.name == "mtable") && left == "{" && right == "":
			if text := t.rows(inner, "cases", depth); !tooWide(text) {
				return text
			}
		}
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, strings.TrimSpace(t.write(p, depth+1)))
	}
	text := strings.Join(texts, latexText.Replace(between))
	if left != "" && right != "" && !tall.MatchString(text) {
		return latexText.Replace(left) + text + strings.TrimSpace(latexText.Replace(right))
	}
	return `\left` + fence(left) + " " + text + `\right` + fence(right)
}

// tall is what is higher than a line, so that brackets around it grow.
var tall = regexp.MustCompile(`\\(?:frac|genfrac|begin|sum|prod|coprod|int|iint|iiint|oint|big|underset|overset|underbrace|overbrace)`)

func fence(sign string) string {
	if sign == "" {
		return "."
	}
	return strings.TrimSpace(latexText.Replace(sign))
}

// only is what an element holds, if it is one element.
func only(n *node) *node {
	for depth := 0; depth < 5 && (n.name == "e" || n.name == "mrow" || n.name == "mstyle"); depth++ {
		var inside []*node
		for _, k := range n.elements() {
			if !strings.HasSuffix(k.name, "Pr") {
				inside = append(inside, k)
			}
		}
		if len(inside) != 1 {
			break
		}
		n = inside[0]
	}
	return n
}

// tooWide reports whether a row of cases has more than two columns, which cases cannot have.
func tooWide(cases string) bool {
	return slices.ContainsFunc(strings.Split(cases, `\\`), func(row string) bool {
		return strings.Count(row, "&")-strings.Count(row, `\&`) > 1
	})
}

// rows are those of a matrix, or equations below each other.
func (t *tex) rows(n *node, environment string, depth int) string {
	var rows []string
	for _, r := range n.elements() {
		switch r.name {
		case "mr", "mtr", "mlabeledtr":
			var cells []string
			aligned := t.aligned
			t.aligned = 0
			for _, c := range r.elements() {
				if !strings.HasSuffix(c.name, "Pr") {
					cells = append(cells, strings.TrimSpace(t.write(c, depth+1)))
				}
			}
			t.aligned = aligned
			rows = append(rows, strings.Join(cells, " & "))
		case "e":
			t.aligned++
			rows = append(rows, strings.TrimSpace(t.write(r, depth+1)))
			t.aligned--
		}
	}
	environment = or(environment, "matrix")
	return `\begin{` + environment + "} " + strings.Join(rows, ` \\ `) + ` \end{` + environment + "}"
}

// sign is the character that a part of MathML is, or its LaTeX.
func sign(n *node, latex string) string {
	if text := strings.TrimSpace(n.flat()); above[text] != "" || below[text] != "" {
		return text
	}
	return latex
}

// over puts a sign or a text above a part; base is the part's text.
func over(part, top, base string) string {
	if command := above[top]; command != "" {
		if utf8.RuneCountInString(part) > 1 && wide[command] != "" && !strings.HasPrefix(part, `\`) {
			command = wide[command]
		}
		return command + arg(part)
	}
	if limited(part, base) || strings.HasPrefix(part, `\overbrace`) {
		return part + "^" + group(top)
	}
	return `\overset` + arg(top) + arg(part)
}

// under puts a sign or a text below a part.
func under(part, low, base string) string {
	if command := below[low]; command != "" {
		return command + arg(part)
	}
	if limited(part, base) || strings.HasPrefix(part, `\underbrace`) {
		return part + "_" + group(low)
	}
	return `\underset` + arg(low) + arg(part)
}

// limited reports whether a part is an operator or a function with limits: lim, max, a sum.
func limited(part, base string) bool {
	return base != "" && (slices.Contains(functions, base) || strings.Contains(bigSigns, base)) && strings.HasPrefix(part, `\`)
}

func limits(operator, low, top string) string {
	if low != "" {
		operator += "_" + arg(low)
	}
	if top != "" {
		operator += "^" + arg(top)
	}
	return operator
}

func fraction(above, below string, noBar bool) string {
	if noBar {
		return `\genfrac{}{}{0pt}{}` + arg(above) + arg(below)
	}
	return `\frac` + arg(above) + arg(below)
}

// group keeps a part of one character as it is and puts others into braces.
func group(s string) string {
	if s = strings.TrimSpace(s); utf8.RuneCountInString(s) == 1 {
		return s
	}
	return "{" + s + "}"
}

func arg(s string) string { return "{" + s + "}" }

func root(degree, of string) string {
	if degree == "" {
		return `\sqrt` + arg(of)
	}
	return `\sqrt[` + degree + "]" + arg(of)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
