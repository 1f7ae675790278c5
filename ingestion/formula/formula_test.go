package formula_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/formula"
)

const (
	italic  = "KaTeX_Math-Italic"
	regular = "KaTeX_Main"
	heavy   = "KaTeX_Main-Bold"
	large   = "CMEX10"
)

// set places letters from the left to the right, half a size each.
func set(x, y, size float64, font, text string) []formula.Glyph {
	var out []formula.Glyph
	for _, r := range text {
		if r != ' ' {
			out = append(out, formula.Glyph{Text: string(r), Font: font, X: x, Y: y, Size: size, Width: size / 2})
		}
		x += size / 2
	}
	return out
}

func TestLaTeX(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		glyphs [][]formula.Glyph
		bars   []formula.Bar
		want   string
	}{
		"scripts": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "e"), set(5, 96, 7, italic, "iπ"), set(14, 100, 10, regular, "+1=0")},
			want:   `e^{i\pi}+1=0`,
		},
		"both scripts": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "x"), set(5, 96, 7, regular, "2"), set(5, 103, 7, italic, "i"), set(12, 100, 10, regular, "≤1")},
			want:   `x_{i}^{2}\leq1`,
		},
		"a script of a script": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "λ"), set(5, 102, 7, italic, "g"), set(9, 99.5, 5, regular, "′"), set(15, 100, 10, regular, "=1")},
			want:   `\lambda_{g^{\prime}}=1`,
		},
		"a fraction": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "−"), set(10, 93, 10, regular, "∂"), set(15, 93, 10, heavy, "B"), set(12, 107, 10, regular, "∂"), set(17, 107, 10, italic, "t")},
			bars:   []formula.Bar{{X0: 9, X1: 23, Y: 97.5}},
			want:   `-\frac{\partial\mathbf{B}}{\partial t}`,
		},
		"fractions in one another": {
			glyphs: [][]formula.Glyph{set(10, 78, 10, italic, "a"), set(10, 92, 10, italic, "b"), set(10, 106, 10, italic, "c")},
			bars:   []formula.Bar{{X0: 9, X1: 16, Y: 82}, {X0: 8, X1: 17, Y: 96}},
			want:   `\frac{\frac{a}{b}}{c}`,
		},
		"limits": {
			glyphs: [][]formula.Glyph{set(10, 100, 20, "KaTeX_Size2", "∑"), set(7, 115, 7, italic, "i=1"), set(13, 82, 7, italic, "n"), set(24, 100, 10, italic, "x"), set(29, 103, 7, italic, "i")},
			want:   `\sum_{i=1}^{n}x_{i}`,
		},
		"an integral": {
			glyphs: [][]formula.Glyph{set(10, 100, 10, "KaTeX_Size2", "∫"), set(15, 110, 7, italic, "a"), set(17, 86, 7, italic, "b"), set(22, 100, 10, italic, "f"), set(27, 100, 10, regular, "("), set(32, 100, 10, italic, "x"), set(37, 100, 10, regular, ")"), set(43, 100, 10, italic, "dx")},
			want:   `\int_{a}^{b}f(x)dx`,
		},
		"a sum that hangs": {
			glyphs: [][]formula.Glyph{set(0, 90.5, 10, large, "∑"), set(2, 113, 7, italic, "i=1"), set(5, 80, 7, italic, "n"), set(18, 100, 10, italic, "x"), set(23, 103, 7, italic, "i"), set(28, 100, 10, regular, "=0.")},
			want:   `\sum_{i=1}^{n}x_{i}=0`,
		},
		"an integral that hangs": {
			glyphs: [][]formula.Glyph{set(0, 86.4, 10, large, "∫"), set(5, 108, 7, italic, "a"), set(10, 90, 7, italic, "b"), set(18, 100, 10, italic, "f"), set(24, 100, 10, regular, "=1")},
			want:   `\int_{a}^{b}f=1`,
		},
		"brackets that hang": {
			glyphs: [][]formula.Glyph{set(0, 88.5, 10, large, "("), set(8, 93, 10, italic, "a"), set(8, 107, 10, italic, "b"), set(15, 88.5, 10, large, ")"), set(22, 92, 7, regular, "2"), set(28, 100, 10, regular, "=1")},
			bars:   []formula.Bar{{X0: 7, X1: 14, Y: 97.5}},
			want:   `\left(\frac{a}{b}\right)^{2}=1`,
		},
		"brackets in pieces": {
			glyphs: [][]formula.Glyph{set(0, 79.5, 10, large, "⎡"), set(0, 97.5, 10, large, "⎣"), set(8, 93, 10, italic, "a"), set(8, 107, 10, italic, "b"), set(15, 79.5, 10, large, "⎤"), set(15, 97.5, 10, large, "⎦"), set(28, 100, 10, regular, "=1")},
			bars:   []formula.Bar{{X0: 7, X1: 14, Y: 97.5}},
			want:   `\left[\frac{a}{b}\right]=1`,
		},
		"names with limits": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "lim"), set(2, 107, 7, italic, "x→0"), set(22, 100, 10, regular, "sup"), set(27, 107, 7, italic, "n"), set(39, 100, 10, italic, "x"), set(44, 100, 10, regular, "=1...")},
			want:   `\lim_{x\to0}\sup_{n}x=1\ldots`,
		},
		"a name of two": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "arg"), set(17, 100, 10, regular, "min"), set(14, 107, 7, italic, "c"), set(35, 100, 10, italic, "x=y")},
			want:   `\arg\min_{c}x=y`,
		},
		"a cubic root": {
			glyphs: [][]formula.Glyph{set(2, 96, 5, regular, "3"), set(0, 92, 10, "CMSY10", "√"), set(8, 100, 10, italic, "x"), set(14, 100, 10, regular, "=1")},
			bars:   []formula.Bar{{X0: 7, X1: 13, Y: 92}},
			want:   `\sqrt[3]{x}=1`,
		},
		"a root in a fraction": {
			glyphs: [][]formula.Glyph{set(0, 93, 10, italic, "b"), set(6, 84, 10, "CMSY10", "√"), set(14, 93, 10, italic, "x"), set(9, 107, 10, italic, "a"), set(25, 100, 10, regular, "=1")},
			bars:   []formula.Bar{{X0: 0, X1: 20, Y: 97.5}, {X0: 13, X1: 20, Y: 84}},
			want:   `\frac{b\sqrt{x}}{a}=1`,
		},
		"signs in two parts": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "x"), set(8, 100, 10, "CMSY10", "\u0338"), set(8, 100, 10, regular, "="), set(16, 100, 10, italic, "y"), set(24, 100, 10, "CMSY10", "↦"), set(24, 100, 10, "CMSY10", "→"), set(36, 100, 10, italic, "z")},
			want:   `x\neq y\mapsto z`,
		},
		"a root": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "√"), set(6, 101, 10, italic, "x"), set(12, 101, 10, regular, "+1")},
			bars:   []formula.Bar{{X0: 5, X1: 22, Y: 92}},
			want:   `\sqrt{x+1}`,
		},
		"names":         {glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "sin"), set(16, 100, 10, italic, "x"), set(22, 100, 10, regular, "=Ann(0)")}, want: `\sin x=\operatorname{Ann}(0)`},
		"own styles":    {glyphs: [][]formula.Glyph{set(0, 100, 10, "CambriaMath", "𝑉∈ℝ<𝐁")}, want: `V\in\mathbb{R} < \mathbf{B}`},
		"a number":      {glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "a=b"), set(200, 100, 10, "CMR10", "(3.1)")}, want: `a=b \tag{3.1}`},
		"words between": {glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "a=b"), set(20, 100, 10, regular, "if"), set(35, 100, 10, italic, "c"), set(40, 100, 10, regular, ">0")}, want: `a=b\text{ if }c > 0`},
		"dots":          {glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "a+···+z=1")}, want: `a+\cdots+z=1`},
		"a fraction as an exponent": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, italic, "y=x"), set(16, 93, 7, italic, "a"), set(16, 99, 7, italic, "b")},
			bars:   []formula.Bar{{X0: 15.5, X1: 20, Y: 94.5}},
			want:   `y=x^{\frac{a}{b}}`,
		},
		"an overline below a name": {
			glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "lim"), set(2, 107, 7, italic, "z→0"), set(18, 100, 10, italic, "z=1")},
			bars:   []formula.Bar{{X0: 2, X1: 5.5, Y: 102.5}},
			want:   `\lim_{\overline{z}\to0}z=1`,
		},
		"an accent": {glyphs: [][]formula.Glyph{set(0, 100, 10, regular, "ˆ"), set(0, 100, 10, italic, "u"), set(6, 100, 10, regular, "=1")}, want: `\hat{u}=1`},
	} {
		glyphs := slices.Concat(c.glyphs...)
		slices.Reverse(glyphs) // files have them in any order
		got, ok := formula.LaTeX(glyphs, c.bars)
		if !ok || !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: got %q, %t; want %s", name, got, ok, c.want)
		}
		if !formula.IsOwn(c.want) {
			t.Errorf("%s: %s is not known as its own", name, c.want)
		}
	}
}

// Rows stay apart, each with its fractions.
func TestLaTeX_dividesRows(t *testing.T) {
	t.Parallel()
	glyphs := slices.Concat(set(0, 100, 10, italic, "a="), set(11, 93, 10, italic, "b"), set(11, 107, 10, italic, "c"), set(0, 140, 10, italic, "d=e"), set(16, 136, 7, regular, "2"))
	got, ok := formula.LaTeX(glyphs, []formula.Bar{{X0: 10, X1: 17, Y: 97.5}})
	if want := []string{`a=\frac{b}{c}`, `d=e^{2}`}; !ok || !slices.Equal(got, want) {
		t.Errorf("got %q, %t; want %q", got, ok, want)
	}
}

// What is not certain is not written.
func TestLaTeX_refuses(t *testing.T) {
	t.Parallel()
	for name, glyphs := range map[string][]formula.Glyph{
		"an unknown sign":      set(0, 100, 10, italic, "a⎧b"),
		"a command":            set(0, 100, 10, italic, `\href`),
		"a script of nothing":  slices.Concat(set(0, 96, 7, regular, "2"), set(5, 100, 10, italic, "x")),
		"letters over letters": slices.Concat(set(0, 100, 10, italic, "ab"), set(3, 95, 10, italic, "c")),
		"an item of a list":    slices.Concat(set(0, 100, 10, regular, "2."), set(16, 100, 10, italic, "a=b")),
		"labels":               slices.Concat(set(0, 100, 10, italic, "n=1"), set(90, 100, 10, italic, "n=2")),
		"words":                set(0, 100, 10, italic, "ifClusterS=2"),
		"a matrix":             slices.Concat(set(0, 82, 10, large, "("), set(8, 94, 10, italic, "a=b"), set(8, 106, 10, italic, "c=d"), set(25, 82, 10, large, ")")),
		"within a name":        slices.Concat(set(0, 100, 10, regular, "setin"), set(15, 107, 4, italic, "c"), set(30, 100, 10, italic, "a=b")),
		"below a name":         slices.Concat(set(0, 100, 10, regular, "set"), set(2, 107, 7, italic, "x"), set(20, 100, 10, italic, "a=b")),
		"words of a sentence":  slices.Concat(set(0, 100, 10, regular, "If"), set(14, 100, 10, italic, "a=b")),
		"limits of two rows":   slices.Concat(set(10, 100, 20, "KaTeX_Size2", "∑"), set(7, 112, 7, italic, "i=1"), set(7, 116, 7, italic, "p|n"), set(24, 100, 10, italic, "x=y")),
		"a script over others": slices.Concat(set(0, 100, 10, italic, "xy"), set(5, 96, 7, italic, "abc"), set(16, 100, 10, italic, "=z")),
		"no relation":          set(0, 100, 10, italic, "abc"),
		"nothing":              nil,
		"too much":             set(0, 100, 10, italic, strings.Repeat("a", 500)),
	} {
		if got, ok := formula.LaTeX(glyphs, nil); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestIsOwn_refusesWhatOthersWrite(t *testing.T) {
	t.Parallel()
	for _, latex := range []string{`\href{javascript:x}{y}`, `a$$b`, `\unicode{60}`, "a\nb", `\frac{a}{b} % x`, `\`, `\require{html}`, "`x`", `\\`, `ä`} {
		if formula.IsOwn(latex) {
			t.Errorf("%q passes", latex)
		}
	}
}
