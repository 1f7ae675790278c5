package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/formula"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Browsers tag no formulas. Each stays in its column.
func TestText_putsUntaggedFormulasIntoTheirColumns(t *testing.T) {
	t.Parallel()
	var page layout.Page
	page.Width, page.Height = 600, 800
	block := 0
	add := func(x, y float64, text string) {
		block++
		l := at(x, y, 10, text)
		page.Lines = append(page.Lines, l)
		page.Tags = append(page.Tags, layout.Tag{Box: l.Box, Block: block, Role: layout.RoleParagraph})
	}
	for i, x := range []float64{60, 330} {
		side := []string{"left", "right"}[i]
		add(x, 100, "The "+side+" side begins here, above its formula,")
		l := at(x+50, 130, 10, "a=b")
		for n, r := range "a=b" {
			l.Glyphs = append(l.Glyphs, formula.Glyph{Text: string(r), Font: "KaTeX_Math-Italic", X: x + 50 + 6*float64(n), Y: 138, Size: 10, Width: 5})
		}
		page.Lines = append(page.Lines, l)
		add(x, 160, "and the "+side+" side ends here, below that formula.")
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	want := []string{
		"The left side begins here, above its formula,", "$$a=b$$", "and the left side ends here, below that formula.",
		"The right side begins here, above its formula,", "$$a=b$$", "and the right side ends here, below that formula.",
	}
	if got != strings.Join(want, "\n\n") {
		t.Error(got)
	}
}
