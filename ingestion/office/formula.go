package office

import "strings"

// formula writes an equation in the notation of LaTeX, from the equations of Office Open XML (ECMA-376, part 1, section
// 22.1) or from MathML (W3C MathML 3). Parts that it does not know are written as their contents, in order.
func formula(n *node) string {
	if text := strings.TrimSpace(latex(n, 0)); text != "" {
		return "$" + text + "$"
	}
	return ""
}

// latexText escapes characters that have a meaning in LaTeX.
var latexText = strings.NewReplacer(`\`, `\backslash `, "{", `\{`, "}", `\}`, "$", `\$`, "%", `\%`, "#", `\#`, "_", `\_`, "^", `\hat{}`, "&", `\&`, "|", `\vert `,
	"\n", " ", "√", `\surd `, "∑", `\sum `, "∏", `\prod `, "∫", `\int `, "∞", `\infty `, "≤", `\le `, "≥", `\ge `, "≠", `\ne `, "×", `\times `, "⋅", `\cdot `)

func latex(n *node, depth int) string {
	if n == nil || depth > 60 {
		return ""
	}
	if n.name == "" && len(n.kids) == 0 {
		return latexText.Replace(clean(n.text))
	}
	part := func(names ...string) string { return group(latex(n.child(names...), depth+1)) }
	// In MathML, the order of an element's parts is their meaning.
	elements := n.elements()
	nth := func(i int) string {
		if i < len(elements) {
			return group(latex(elements[i], depth+1))
		}
		return "{}"
	}
	switch n.name {
	case "annotation", "annotation-xml", "rPr", "ctrlPr", "sSupPr", "sSubPr", "fPr", "radPr", "dPr", "naryPr", "funcPr", "mPr":
		return ""
	case "sSup":
		return part("e") + "^" + part("sup")
	case "sSub":
		return part("e") + "_" + part("sub")
	case "sSubSup":
		return part("e") + "_" + part("sub") + "^" + part("sup")
	case "f":
		return `\frac` + braced(part("num")) + braced(part("den"))
	case "rad":
		return root(part("deg"), part("e"))
	case "d":
		return or(n.child("dPr", "begChr").attr("val"), "(") + latexKids(n, depth) + or(n.child("dPr", "endChr").attr("val"), ")")
	case "nary":
		return latexText.Replace(or(n.child("naryPr", "chr").attr("val"), "∫")) + "_" + braced(part("sub")) + "^" + braced(part("sup")) + " " + latex(n.child("e"), depth+1)
	case "msup":
		return nth(0) + "^" + nth(1)
	case "msub":
		return nth(0) + "_" + nth(1)
	case "msubsup", "munderover":
		return nth(0) + "_" + nth(1) + "^" + nth(2)
	case "mfrac":
		return `\frac` + braced(nth(0)) + braced(nth(1))
	case "msqrt":
		return root("", braced(latexKids(n, depth)))
	case "mroot":
		return root(nth(1), nth(0))
	}
	return latexKids(n, depth)
}

func latexKids(n *node, depth int) string {
	var b strings.Builder
	for _, k := range n.kids {
		if k.name == "" && strings.TrimSpace(k.text) == "" && len(n.elements()) > 0 {
			continue // white space between elements
		}
		b.WriteString(latex(k, depth+1))
	}
	return b.String()
}

// group keeps a part of one character as it is and puts others into braces.
func group(s string) string {
	if s = strings.TrimSpace(s); len([]rune(s)) == 1 {
		return s
	}
	return "{" + s + "}"
}

func braced(s string) string {
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		return s
	}
	return "{" + s + "}"
}

func root(degree, of string) string {
	if degree == "" || degree == "{}" {
		return `\sqrt` + braced(of)
	}
	return `\sqrt[` + strings.Trim(degree, "{}") + "]" + braced(of)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
