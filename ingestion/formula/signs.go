package formula

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// signs are the characters that have a command of their own.
var signs = map[rune]string{
	'α': `\alpha`, 'β': `\beta`, 'γ': `\gamma`, 'δ': `\delta`, 'ϵ': `\epsilon`, 'ε': `\varepsilon`, 'ζ': `\zeta`, 'η': `\eta`, 'θ': `\theta`, 'ϑ': `\vartheta`,
	'ι': `\iota`, 'κ': `\kappa`, 'λ': `\lambda`, 'μ': `\mu`, 'µ': `\mu`, 'ν': `\nu`, 'ξ': `\xi`, 'π': `\pi`, 'ϖ': `\varpi`, 'ρ': `\rho`, 'ϱ': `\varrho`, 'σ': `\sigma`,
	'ς': `\varsigma`, 'τ': `\tau`, 'υ': `\upsilon`, 'φ': `\varphi`, 'ϕ': `\phi`, 'χ': `\chi`, 'ψ': `\psi`, 'ω': `\omega`,
	'Γ': `\Gamma`, 'Δ': `\Delta`, '∆': `\Delta`, 'Θ': `\Theta`, 'Λ': `\Lambda`, 'Ξ': `\Xi`, 'Π': `\Pi`, 'Σ': `\Sigma`, 'Υ': `\Upsilon`, 'Φ': `\Phi`, 'Ψ': `\Psi`, 'Ω': `\Omega`,
	'−': `-`, '–': `-`, '±': `\pm`, '∓': `\mp`, '×': `\times`, '÷': `\div`, '·': `\cdot`, '⋅': `\cdot`, '∗': `*`, '∘': `\circ`, '•': `\bullet`,
	'≤': `\leq`, '⩽': `\leqslant`, '≥': `\geq`, '⩾': `\geqslant`, '≠': `\neq`, '≈': `\approx`, '≡': `\equiv`, '∼': `\sim`, '≃': `\simeq`, '≅': `\cong`, '∝': `\propto`,
	'≪': `\ll`, '≫': `\gg`, '≺': `\prec`, '≻': `\succ`, '∈': `\in`, '∉': `\notin`, '∋': `\ni`, '⊂': `\subset`, '⊆': `\subseteq`, '⊃': `\supset`, '⊇': `\supseteq`,
	'∪': `\cup`, '∩': `\cap`, '∖': `\setminus`, '∅': `\emptyset`, '∀': `\forall`, '∃': `\exists`, '¬': `\neg`, '∧': `\wedge`, '∨': `\vee`, '⊕': `\oplus`, '⊗': `\otimes`,
	'⊥': `\perp`, '∥': `\|`, '‖': `\|`, '∣': `\mid`, '→': `\to`, '←': `\leftarrow`, '↔': `\leftrightarrow`, '⇒': `\Rightarrow`, '⇐': `\Leftarrow`, '⇔': `\Leftrightarrow`,
	'↦': `\mapsto`, '↑': `\uparrow`, '↓': `\downarrow`, '∂': `\partial`, '∇': `\nabla`, '∞': `\infty`, 'ℏ': `\hbar`, 'ℓ': `\ell`, '℘': `\wp`, 'ℵ': `\aleph`, '†': `\dagger`,
	'…': `\ldots`, '⋯': `\cdots`, '⋮': `\vdots`, '⟨': `\langle`, '⟩': `\rangle`, '〈': `\langle`, '〉': `\rangle`, '⌊': `\lfloor`, '⌋': `\rfloor`, '⌈': `\lceil`, '⌉': `\rceil`,
	'′': `\prime`, '″': `\prime\prime`, '∴': `\therefore`, '△': `\triangle`, '°': `{}^{\circ}`, '{': `\{`, '}': `\}`, '%': `\%`, '#': `\#`, '&': `\&`, '<': ` < `, '>': ` > `, // with spaces, they never begin HTML
	'≜': `\triangleq`,
}

var operators = map[rune]string{
	'∑': `\sum`, '∏': `\prod`, '∐': `\coprod`, '⋃': `\bigcup`, '⋂': `\bigcap`, '⋁': `\bigvee`, '⋀': `\bigwedge`, '⨁': `\bigoplus`, '⨂': `\bigotimes`,
}

var integrals = map[rune]string{'∫': `\int`, '∬': `\iint`, '∭': `\iiint`, '∮': `\oint`}

var accents = map[rune]string{'ˆ': `\hat`, '˜': `\tilde`, '¯': `\bar`, '˙': `\dot`, '¨': `\ddot`, '⃗': `\vec`, '̂': `\hat`, '̃': `\tilde`, '̄': `\bar`, '̇': `\dot`}

// brackets are those of extension fonts.
var brackets = map[rune]string{
	'(': `\left(`, ')': `\right)`, '[': `\left[`, ']': `\right]`, '{': `\left\{`, '}': `\right\}`,
	'⌊': `\left\lfloor`, '⌋': `\right\rfloor`, '⌈': `\left\lceil`, '⌉': `\right\rceil`, '⟨': `\left\langle`, '⟩': `\right\rangle`,
}

// nodesOf returns the signs of glyphs. It fails if one is unknown.
func nodesOf(glyphs []Glyph) ([]node, bool) {
	out := make([]node, 0, len(glyphs))
	for _, g := range glyphs {
		runes := []rune(strings.TrimSpace(g.Text))
		for i, r := range runes {
			n, ok := nodeOf(r, g)
			if !ok {
				return nil, false
			}
			share := g.Width / float64(len(runes))
			n.x0, n.x1, n.y, n.size = g.X+share*float64(i), g.X+share*float64(i+1), g.Y, g.Size
			if n.kind == upright && strings.Contains("mMW", n.latex) { // an estimated width is that of a usual letter
				n.x1 = max(n.x1, n.x0+0.8*g.Size)
			}
			out = append(out, n)
		}
	}
	return out, true
}

func nodeOf(r rune, g Glyph) (node, bool) {
	font := strings.ToLower(g.Font)
	if Hangs(font) {
		if r == '|' {
			return node{latex: "|", kind: tall}, true
		}
		if latex := brackets[r]; latex != "" {
			return node{latex: latex, kind: tall}, true
		}
	}
	switch {
	case r == '\\' && IsMath(g.Font):
		return node{latex: `\setminus`}, true
	case operators[r] != "":
		return node{latex: operators[r], kind: operator}, true
	case integrals[r] != "":
		return node{latex: integrals[r], kind: tall}, true
	case r == '√':
		return node{kind: root}, true
	case accents[r] != "":
		return node{latex: accents[r], kind: accent}, true
	case signs[r] != "":
		return node{latex: signs[r]}, true
	case r == '\\' || r == '$' || r == '~' || r == '^' || r == '_' || unicode.IsControl(r):
		return node{}, false
	case r < 0x80 && !unicode.IsLetter(r):
		return node{latex: string(r)}, true
	}
	return letterOf(r, font)
}

// letterOf writes a letter in the style of its font, or of its own for the letters of formulas in Unicode.
func letterOf(r rune, font string) (node, bool) {
	plain := []rune(norm.NFKC.String(string(r)))
	if len(plain) != 1 {
		return node{}, false
	}
	letter := string(plain[0])
	if latex := signs[plain[0]]; latex != "" {
		return node{latex: latex}, true
	}
	styled := plain[0] != r
	switch {
	case plain[0] >= 0x80 || !unicode.IsLetter(plain[0]):
		if unicode.IsDigit(plain[0]) && plain[0] < 0x80 {
			return node{latex: letter}, true
		}
		return node{}, false
	case styled && r >= 0x2100 && r < 0x2140 && r != 'ℎ', strings.Contains(font, "msbm"):
		if r == 'ℛ' || r == 'ℒ' || r == 'ℋ' || r == 'ℱ' || r == 'ℐ' || r == 'ℳ' || r == 'ℬ' || r == 'ℰ' {
			return node{latex: `\mathcal{` + letter + `}`}, true
		}
		return node{latex: `\mathbb{` + letter + `}`}, true
	case strings.Contains(font, "cmsy"), strings.Contains(font, "lmsy"), strings.Contains(font, "rsfs"), strings.Contains(font, "caligraphic"):
		return node{latex: `\mathcal{` + letter + `}`}, true
	case strings.Contains(font, "eufm"), strings.Contains(font, "fraktur"):
		return node{latex: `\mathfrak{` + letter + `}`}, true
	case r >= 0x1d400 && r <= 0x1d433:
		return node{latex: `\mathbf{` + letter + `}`}, true
	case styled, strings.Contains(font, "ital"), strings.Contains(font, "oblique"), strings.Contains(font, "cmmi"), strings.Contains(font, "lmmi"), strings.Contains(font, "katex_math"):
		return node{latex: letter}, true
	case strings.Contains(font, "bold"), strings.Contains(font, "cmbx"), strings.HasSuffix(font, "-bd"):
		return node{latex: `\mathbf{` + letter + `}`}, true
	}
	return node{latex: letter, kind: upright}, true
}
