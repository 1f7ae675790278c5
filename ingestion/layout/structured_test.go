package layout_test

import (
	"fmt"
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

// A structure that goes through a grid row by row is not followed where headings count down the columns.
func TestText_countsHeadingsRatherThanFollowTags(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for row := range 2 {
		for column, x := range []float64{60, 330} {
			y, n := 100+200*float64(row), 2*column+row+1
			heading := at(x, y, 14, fmt.Sprintf("%d. Subject number %d", n, n))
			body := []layout.Line{at(x, y+30, 10, "What is said about it fills the first line"), at(x, y+43, 10, "and ends with the second line of its text.")}
			page.Lines = append(page.Lines, heading, body[0], body[1])
			page.Tags = append(page.Tags, layout.Tag{Box: heading.Box, Block: len(page.Tags) + 1, Role: layout.RoleHeading, Level: 2})
			block := len(page.Tags) + 1
			for _, l := range body {
				page.Tags = append(page.Tags, layout.Tag{Box: l.Box, Block: block, Role: layout.RoleParagraph})
			}
		}
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	last := -1
	for n := 1; n <= 4; n++ {
		at := strings.Index(got, fmt.Sprintf("%d. Subject", n))
		if at <= last {
			t.Fatalf("subject %d is out of order:\n%s", n, got)
		}
		last = at
	}
}
