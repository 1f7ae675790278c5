package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// comb sets a text with a letter in each box, and draws the boxes, or ticks between them.
func comb(x, y, wide, high float64, text string) (lines []layout.Line, rules []layout.Box) {
	for i, r := range text {
		left := x + wide*float64(i)
		if r != ' ' {
			l := at(left+wide/3, y, 10, string(r))
			lines = append(lines, l)
		}
		rules = append(rules, upright(left, y+11-high, y+11))
	}
	right := x + wide*float64(len(text))
	return lines, append(rules, upright(right, y+11-high, y+11), level(y-4, x, right), level(y+11, x, right))
}

func TestComb_lettersAreOneWord(t *testing.T) {
	t.Parallel()
	for name, high := range map[string]float64{"boxes": 15, "ticks": 5} {
		first, rules := comb(60, 100, 16, high, "JANE MARIE")
		second, more := comb(60, 140, 16, high, "86011117947")
		if got := withRules(append(rules, more...), append(first, second...)...); !strings.Contains(got, "JANE MARIE") || !strings.Contains(got, "86011117947") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

// The first letter may be in the line of the label, and an empty box be one to tick.
func TestComb_besideItsLabel(t *testing.T) {
	t.Parallel()
	lines, rules := comb(100, 100, 16, 15, "487,50")
	lines[0] = layout.Line{Text: "Sum 4", Size: 10, Box: layout.Box{X0: 80, Y0: 100, X1: lines[0].Box.X1, Y1: 110}, Edges: []float64{80, 85, 90, 96, 105}}
	if got := withRules(rules, lines...); got != "Sum 487,50" {
		t.Errorf("got\n%s", got)
	}
	lines, rules = comb(100, 100, 16, 15, "PETER")
	lines = append(lines, at(68, 100, 10, "For a")) // without a rule before its last letter
	if got := withRules(rules, lines...); got != "For a PETER" {
		t.Errorf("got\n%s", got)
	}
	lines, rules = comb(100, 100, 16, 15, "ANN LEE")
	lines[3] = layout.Line{Text: "[ ] L", Size: 10, Box: layout.Box{X0: 148, Y0: 100, X1: lines[3].Box.X1, Y1: 110}, Edges: []float64{148, 152, 156, 160, lines[3].Box.X0}}
	if got := withRules(rules, lines...); got != "ANN LEE" {
		t.Errorf("got\n%s", got)
	}
}

// A scale, crosses and a table of single signs have rules between their signs too.
func TestComb_othersStayApart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"12345", "xxxx"} {
		lines, rules := comb(60, 100, 16, 15, text)
		if got := withRules(rules, lines...); !strings.Contains(got, strings.Join(strings.Split(text, ""), " ")) {
			t.Errorf("%s: got\n%s", text, got)
		}
	}
	var lines []layout.Line
	var rules []layout.Box
	for i, text := range []string{"ABC", "PQR", "TUV", "XYZ"} {
		l, r := comb(60, 100+15*float64(i), 16, 15, text)
		lines, rules = append(lines, l...), append(rules, r...)
	}
	rowsAre(t, withRules(rules, lines...), "A | B | C", "P | Q | R", "T | U | V", "X | Y | Z")
}
