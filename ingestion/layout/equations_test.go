package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/formula"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Displayed formulas close to one another, with their numbers at the right and words between them, are no table.
func TestText_numberedFormulasAreNoTable(t *testing.T) {
	t.Parallel()
	lines := []layout.Line{at(60, 120, 10, "Using the triangle inequality")}
	for i := range 4 {
		y := 100 + 20*float64(i)
		if i > 0 {
			y += 20
		}
		l := at(180, y, 10, "a=b+c")
		for n, r := range l.Text {
			font := "CMMI10"
			if strings.ContainsRune("=+", r) {
				font = "CMR10"
			}
			l.Glyphs = append(l.Glyphs, formula.Glyph{Text: string(r), Font: font, X: 180 + 6*float64(n), Y: y + 8, Size: 10, Width: 5})
		}
		lines = append(lines, l, at(500, y, 10, fmt.Sprintf("(%d)", 77+i)))
	}
	if got := withRules(nil, lines...); strings.Contains(got, "| --- |") || strings.Count(got, "$$a=b+c$$") != 4 || !strings.Contains(got, "(78)") {
		t.Errorf("got\n%s", got)
	}
}
