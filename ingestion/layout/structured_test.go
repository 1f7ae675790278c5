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

// A paragraph in large type is a heading only in a document that tags none, and only if it is no sentence.
func TestText_takesNoTaggedParagraphForAHeading(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headings bool
		large    []string // lines of the paragraph in large type
		heading  bool
	}{
		"one line":          {true, []string{"After the columns comes the rest"}, false},
		"a lead":            {true, []string{"This lead stands above the columns, in type", "that is larger than theirs, and it ends here."}, false},
		"a sentence alone":  {false, []string{"After the columns comes a formula in a line."}, false},
		"a title in a file": {false, []string{"After the columns"}, true},
	} {
		page := layout.Page{Width: 600, Height: 800}
		add := func(role layout.Role, y, size float64, lines ...string) {
			block := len(page.Tags) + 1
			for i, line := range lines {
				l := at(60, y+1.3*size*float64(i), size, line)
				page.Lines = append(page.Lines, l)
				page.Tags = append(page.Tags, layout.Tag{Box: l.Box, Block: block, Role: role, Level: 2})
			}
		}
		if c.headings {
			add(layout.RoleHeading, 60, 16, "On timber")
		}
		add(layout.RoleParagraph, 100, 12, c.large...)
		for i := range 3 {
			add(layout.RoleParagraph, 160+60*float64(i), 9, "The first line of it is about ships and the sea", "and the second one about the towns at its shores.")
		}
		_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
		if strings.Contains(got, "# "+strings.Join(c.large, " ")) != c.heading || strings.Contains(got, "# On timber") != c.headings {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// Word processors tag text boxes after everything else on the page, and draw them where they are. Columns that are drawn line by line are read
// as they are tagged.
func TestText_readsTextBoxesWhereTheyAre(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	var captions []layout.Tag
	block := 0
	tagged := func(x, y float64, text string) layout.Tag {
		l := at(x, y, 10, text)
		page.Lines = append(page.Lines, l)
		return layout.Tag{Box: l.Box, Block: block, Role: layout.RoleParagraph}
	}
	var want []string
	for part := range 4 {
		y := 80 + 150*float64(part)
		block++
		for i := range 3 {
			page.Tags = append(page.Tags, tagged(60, y+13*float64(i), fmt.Sprintf("P%d%d is a line of a paragraph that fills the page", part, i)))
		}
		for i, x := range []float64{90, 330} {
			block++
			captions = append([]layout.Tag{tagged(x, y+100, fmt.Sprintf("C%d%d below a picture", part, i))}, captions...)
		}
		want = append(want, fmt.Sprintf("P%d0", part), fmt.Sprintf("C%d0", part), fmt.Sprintf("C%d1", part))
	}
	for i := range captions {
		captions[i].Block = 100 + i
	}
	page.Tags = append(page.Tags, captions...)
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	inTurn(t, got, want...)

	page, block = layout.Page{Width: 600, Height: 800}, 0
	var right []layout.Tag
	for i := range 20 {
		y := 80 + 40*float64(i)/2
		block++
		page.Tags = append(page.Tags, tagged(60, y, fmt.Sprintf("L%02d Name of a thing", i)))
		right = append(right, tagged(330, y, fmt.Sprintf("R%02d Name of a thing", i)))
	}
	for i := range right {
		right[i].Block = 100 + i
	}
	page.Tags = append(page.Tags, right...)
	_, got = layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	inTurn(t, got, "L00", "L19", "R00", "R19")
}

// A table whose cells are tagged as one text has its rows from where its words are. A paragraph with a gap in one line keeps its tags.
func TestText_readsTablesThatAreTaggedAsText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows [][]string // by their places across the page
		want string
	}{
		"a table": {
			[][]string{{"Oslo", "5:10", "", "6:25"}, {"Bergen", "", "5:47", "6:30"}, {"Bodo", "5:30", "5:52", ""}, {"Tromso", "5:44", "6:00", "6:50"}},
			"| Oslo | 5:10 |  | 6:25 |\n| --- | --- | --- | --- |\n| Bergen |  | 5:47 | 6:30 |\n| Bodo | 5:30 | 5:52 |  |\n| Tromso | 5:44 | 6:00 | 6:50 |",
		},
		"a paragraph": {
			[][]string{{"The ship leaves from"}, {"Oslo in the morning,", "", "at ten"}, {"and comes to Bergen."}},
			"The ship leaves from Oslo in the morning, at ten and comes to Bergen.",
		},
	} {
		page := layout.Page{Width: 600, Height: 800}
		for r, row := range c.rows {
			for column, text := range row {
				if text == "" {
					continue
				}
				l := at(60+100*float64(column), 100+14*float64(r), 10, text)
				page.Lines = append(page.Lines, l)
				page.Tags = append(page.Tags, layout.Tag{Box: l.Box, Block: 1, Role: layout.RoleParagraph})
			}
		}
		if _, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1); got != c.want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
