package formula_test

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/formula"
)

const (
	roman = "CMR10"
	maths = "CMMI10"
	signs = "CMSY10"
)

// typed sets pieces of text one after the other, half a size each letter. A piece is a font and its text; in "^x" and "_x" the letters are small
// and raised or lowered.
func typed(pieces ...[2]string) (glyphs []formula.Glyph, apart []bool) {
	x, blank := 0.0, false
	for _, p := range pieces {
		size, y, text := 10.0, 100.0, p[1]
		switch {
		case len(text) > 1 && text[0] == '^':
			size, y, text = 7, 96, text[1:]
		case len(text) > 1 && text[0] == '_':
			size, y, text = 7, 102, text[1:]
		}
		for _, r := range text {
			if r == ' ' {
				x, blank = x+3, true
				continue
			}
			glyphs, apart = append(glyphs, formula.Glyph{Text: string(r), Font: p[0], X: x, Y: y, Size: size, Width: 0.5 * size}), append(apart, blank)
			if blank = false; r != '\u0338' { // which has no width
				x += 0.5 * size
			}
		}
	}
	return glyphs, apart
}

func TestInline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces [][2]string
		want   []string
	}{
		"a letter":              {[][2]string{{roman, "Let "}, {maths, "n"}, {roman, " be a number, and "}, {maths, "k"}, {roman, "."}}, []string{"n", "k"}},
		"a relation":            {[][2]string{{roman, "for "}, {maths, "n "}, {signs, "≥ "}, {roman, "3, say"}}, []string{`n\geq3`}},
		"scripts":               {[][2]string{{roman, "where "}, {maths, "x"}, {maths, "_i"}, {roman, " = 2"}, {maths, "y"}, {roman, "^2"}, {roman, " holds"}}, []string{"x_{i}=2y^{2}"}},
		"a list":                {[][2]string{{roman, "of "}, {maths, "x"}, {roman, "_1"}, {maths, ", . . . , x"}, {maths, "_n"}, {roman, ", in order"}}, []string{`x_{1},\ldots,x_{n}`}},
		"a function":            {[][2]string{{roman, "in "}, {maths, "O"}, {roman, "("}, {maths, "n "}, {roman, "log "}, {maths, "n"}, {roman, ") steps"}}, []string{`O(n\log n)`}},
		"a name":                {[][2]string{{roman, "as Var("}, {maths, "X"}, {roman, ") is"}}, []string{`\operatorname{Var}(X)`}},
		"brackets of the text":  {[][2]string{{roman, "a point (so "}, {maths, "x "}, {roman, "= 1) and ("}, {maths, "y"}, {roman, ")"}}, []string{"x=1", "y"}},
		"a pair":                {[][2]string{{roman, "the point ("}, {maths, "x, y"}, {roman, ") is"}}, []string{"(x,y)"}},
		"a power of ten":        {[][2]string{{roman, "about 10"}, {"CMSY7", "^−"}, {"CMR7", "^3"}, {roman, " or so, as before"}}, []string{"10^{-3}"}},
		"a decimal fraction":    {[][2]string{{roman, "with "}, {maths, "p "}, {signs, "≤ "}, {roman, "0"}, {maths, "."}, {roman, "05."}}, []string{`p\leq0.05`}},
		"an absolute value":     {[][2]string{{roman, "that "}, {signs, "|"}, {maths, "x"}, {signs, "| "}, {maths, "< "}, {roman, "1 holds"}}, []string{"|x| < 1"}},
		"a stroke through":      {[][2]string{{roman, "as "}, {maths, "k"}, {signs, "\u0338"}, {roman, "= 0 holds"}}, []string{`k\neq0`}},
		"behind an operation":   {[][2]string{{roman, "and so "}, {maths, "x "}, {roman, "="}}, []string{"x"}},
		"before a hyphen":       {[][2]string{{roman, "a "}, {maths, "k"}, {roman, "-means method"}}, []string{"k"}},
		"prose":                 {[][2]string{{roman, "In 2020, prices (+5) rose by 3 = 2 + 1 or $5 of $9."}}, nil},
		"a footnote":            {[][2]string{{roman, "Smith"}, {maths, "^a"}, {roman, " and Jones"}, {signs, "^∗"}, {roman, " wrote"}}, nil},
		"arrows and dots":       {[][2]string{{signs, "• "}, {roman, "from Rome "}, {signs, "→ "}, {roman, "Paris 3 "}, {signs, "× "}, {roman, "4"}}, nil},
		"a power in text":       {[][2]string{{roman, "about 10"}, {"CMR7", "^6"}, {roman, " of H"}, {"CMR7", "_2"}, {roman, "O"}}, nil},
		"a word in italics":     {[][2]string{{roman, "the "}, {maths, "temperature"}, {roman, " is"}}, nil},
		"an unknown sign":       {[][2]string{{roman, "the sum "}, {maths, "x"}, {"CMEX10", "\ufffd"}, {roman, " of"}}, nil},
		"letters of the text":   {[][2]string{{"Times-Ital", "y "}, {signs, "∼ N"}, {roman, " is usual in this place"}}, nil},
		"half of a bracket":     {[][2]string{{roman, "in "}, {maths, "O"}, {roman, "("}, {maths, "n "}, {roman, "+"}}, nil},
		"half of a large sign":  {[][2]string{{roman, "is "}, {maths, "S "}, {roman, "= "}, {"CMEX10", "∑"}}, nil},
		"half of a stroke":      {[][2]string{{roman, "is "}, {signs, "|"}, {maths, "x "}, {roman, "and more of this"}}, nil},
		"a script of an arrow":  {[][2]string{{roman, "is "}, {maths, "x "}, {signs, "→"}, {maths, "^n"}, {roman, " and more"}}, nil},
		"small type of a title": {[][2]string{{roman, "all of it "}, {maths, "_abc"}}, nil},
	} {
		glyphs, apart := typed(c.pieces...)
		var got []string
		for _, r := range formula.Inline(glyphs, apart, nil) {
			if got = append(got, r.LaTeX); !formula.IsOwn(r.LaTeX) {
				t.Errorf("%s: %s is not known as its own", name, r.LaTeX)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestJoined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, operation, after, want string }{
		{"a", "=", "b", "a=b"}, {"a", "∈", "B", `a\in B`}, {`\alpha`, "−", "b", `\alpha-b`}, {"a", "•", "b", ""}, {"a", "and", "b", ""},
	} {
		if got, _ := formula.Joined(c.before, c.operation, c.after); got != c.want {
			t.Errorf("%s %s %s: got %s, want %s", c.before, c.operation, c.after, got, c.want)
		}
	}
}
