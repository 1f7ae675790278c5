package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// sentence is a line of prose that is as wide as a page.
func sentence(x, y float64, i int) layout.Line {
	return at(x, y, 10, fmt.Sprintf("the committee went on to talk of matter %d, and found that nobody knew of it", i))
}

// Lines in capitals are headings where they stand over prose, and only there.
func TestText_findsHeadingsInCapitals(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	y := 80.0
	for i, title := range []string{"INTRODUCTION", "2 METHODS USED", "RESULTS AND CONCLUSIONS"} {
		lines = append(lines, at(60, y, 10, title))
		for n := range 4 {
			lines = append(lines, sentence(60, y+22+13*float64(n), 10*i+n))
		}
		y += 100
	}
	if got := text(lines...); strings.Count("\n"+got, "\n# ") != 3 || !strings.Contains(got, "# 2 METHODS USED\n\nthe committee") {
		t.Errorf("headings are missing:\n%s", got)
	}
	for name, other := range map[string][]layout.Line{
		"an acronym":      {at(60, 80, 10, "NATO"), sentence(60, 110, 1), sentence(60, 123, 2)},
		"a sentence":      {at(60, 80, 10, "DO NOT OPEN."), sentence(60, 110, 1), sentence(60, 123, 2)},
		"a number":        {at(60, 80, 10, "AB-2231-CD 99"), sentence(60, 110, 1), sentence(60, 123, 2)},
		"an address":      {at(60, 80, 10, "JOHN MILLER"), at(60, 110, 10, "12 Main Street"), at(60, 140, 10, "Springfield")},
		"a signature":     {sentence(60, 80, 1), sentence(60, 93, 2), at(300, 140, 10, "JANE MILLER")},
		"far above":       {at(60, 80, 10, "RETURN TO SENDER"), sentence(60, 240, 1), sentence(60, 253, 2)},
		"beside":          {at(400, 80, 10, "RETURN TO SENDER"), sentence(60, 110, 1), sentence(60, 123, 2)},
		"words in a text": {sentence(60, 80, 1), at(60, 93, 10, "AND NOBODY ELSE KNEW IT"), sentence(60, 106, 2)},
		"above a list":    {at(60, 80, 10, "TO BE BOUGHT"), at(60, 110, 10, "• bread"), at(60, 123, 10, "• butter")},
	} {
		if got := text(other...); strings.Contains(got, "#") {
			t.Errorf("%s became a heading:\n%s", name, got)
		}
	}
}

// Bold words at the beginning of a paragraph are no heading when they fill its first line.
func TestText_keepsBoldBeginningsWithTheirParagraph(t *testing.T) {
	t.Parallel()
	first := at(60, 80, 10, "Other reporting requirements. If you")
	first.Bold = true
	got := text(first, at(60, 93, 10, "meet the exception you must file a form, and"), at(60, 106, 10, "keep a copy of it for ten years at least."), at(60, 150, 10, "Another paragraph."))
	if want := "Other reporting requirements. If you meet the exception you must file a form, and keep a copy of it for ten years at least.\n\nAnother paragraph."; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Entries of a table of contents stand each in a line of its own, and are no headings of this page.
func TestText_keepsEntriesOfContentsApart(t *testing.T) {
	t.Parallel()
	first := at(60, 80, 14, "1 Introduction . . . . . . . . . 1")
	first.Bold = true
	got := text(first, at(70, 100, 10, "1.1 Contributions . . . . . . 2"), at(70, 113, 10, "1.2 Outline of it ...... iv"), at(70, 126, 10, "A line of text that ends here ..."), at(70, 139, 10, "and goes on."))
	if want := "**1 Introduction . . . . . . . . . 1**\n\n1.1 Contributions . . . . . . 2\n\n1.2 Outline of it ...... iv\n\nA line of text that ends here ... and goes on."; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a program recognised stands in type of one width, and is prose all the same.
func TestText_takesNoOldRecognitionForPrograms(t *testing.T) {
	t.Parallel()
	lines := []layout.Line{sentence(60, 80, 1), sentence(60, 93, 2), sentence(60, 106, 3)}
	for i := range lines {
		lines[i].Font = "Courier"
	}
	if got := text(lines...); !strings.HasPrefix(got, "```") {
		t.Errorf("a program:\n%s", got)
	}
	for i := range lines {
		lines[i].Invisible = true
	}
	if got := text(lines...); strings.Contains(got, "```") || strings.Contains(got, "\n") {
		t.Errorf("recognised text:\n%s", got)
	}
}

func TestText_knowsMarksOfWordProcessors(t *testing.T) {
	t.Parallel()
	got := text(at(60, 100, 10, "\uf0b7 - one"), at(80, 114, 10, "o deep"), at(80, 128, 10, "o deeper still"), at(100, 142, 10, "\uf0a7 deepest"), at(60, 156, 10, "\uf0b7 two"))
	if want := "- one\n    - deep\n    - deeper still\n        - deepest\n- two"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := text(at(60, 100, 10, "Bebe agua"), at(80, 130, 10, "o vino")); strings.Contains(got, "- ") {
		t.Errorf("a Spanish word became a list:\n%s", got)
	}
}

// ruled draws the rules of a table with these edges.
func ruled(xs, ys []float64) (rules []layout.Box) {
	for _, x := range xs {
		rules = append(rules, layout.Box{X0: x, Y0: ys[0], X1: x, Y1: ys[len(ys)-1]})
	}
	for _, y := range ys {
		rules = append(rules, layout.Box{X0: xs[0], Y0: y, X1: xs[len(xs)-1], Y1: y})
	}
	return rules
}

// Rows that no rule divides are rows, and lines of one text are none.
func TestText_dividesRowsBetweenRules(t *testing.T) {
	t.Parallel()
	page := func(cells [][2]string) string {
		p := layout.Page{Width: 600, Height: 800, Rules: ruled([]float64{60, 200, 340}, []float64{100, 116, 170})}
		p.Lines = []layout.Line{at(64, 102, 10, "Date"), at(204, 102, 10, "Name")}
		for i, row := range cells {
			for c, cell := range row {
				p.Lines = append(p.Lines, at(64+140*float64(c), 118+14*float64(i), 10, cell))
			}
		}
		_, got := layout.NewProfile([]layout.Page{p}, nil).Text(p, 1)
		return got
	}
	if got := page([][2]string{{"2005-09-23", "Katrina"}, {"2005-10-02", "Longwang"}, {"2005-11-20", "Gamma"}}); !strings.Contains(got, "\n| 2005-10-02 | Longwang |\n") {
		t.Errorf("three rows:\n%s", got)
	}
	for _, cells := range [][][2]string{
		{{"The storm that", "It was seen off"}, {"came in May of", "the coast, and"}, {"that year", "was forgotten"}},
		{{"Hurricane", "Many"}, {"Katrina", "People"}},
		{{"Katrina", "Many"}, {"", "People"}, {"", "Died"}},
	} {
		if got := page(cells); strings.Count(got, "\n|") != 2 {
			t.Errorf("one row:\n%s", got)
		}
	}
}

// A table that goes on at the top of the next page is written below its head there, and says so.
func TestText_goesOnWithTables(t *testing.T) {
	t.Parallel()
	page := func(y float64, rows ...[3]string) layout.Page {
		p := layout.Page{Width: 600, Height: 800}
		for i, row := range rows {
			for c, cell := range row {
				p.Lines = append(p.Lines, at(60+150*float64(c), y+20*float64(i), 10, cell))
			}
		}
		return p
	}
	items := func(from, to int) (out [][3]string) {
		for i := from; i < to; i++ {
			out = append(out, [3]string{fmt.Sprintf("Item %d", i), fmt.Sprintf("%d.50", i*13), "kept"})
		}
		return out
	}
	head := [3]string{"Name", "Amount", "Note"}
	const marked = "*(continued from page 1)*\n\n| Name | Amount | Note |\n| --- | --- | --- |\n| Item 30 | 390.50 | kept |\n"
	const headless = "*(continued from page 1)*\n\n|  |  |  |\n| --- | --- | --- |\n| Item 30 | 390.50 | kept |\n"
	for name, c := range map[string]struct {
		first, second layout.Page
		begins        string
	}{
		"goes on":          {page(120, append([][3]string{head}, items(0, 30)...)...), page(80, items(30, 40)...), marked},
		"repeats its head": {page(120, append([][3]string{head}, items(0, 30)...)...), page(80, append([][3]string{head}, items(30, 40)...)...), marked},
		"has no head":      {page(120, items(0, 30)...), page(80, items(30, 40)...), headless},
		"ended before":     {page(120, append([][3]string{head}, items(0, 5)...)...), page(80, items(30, 40)...), "| Item 30 | 390.50 | kept |\n"},
		"begins below":     {page(120, append([][3]string{head}, items(0, 30)...)...), page(400, items(30, 40)...), "| Item 30 | 390.50 | kept |\n"},
	} {
		profile := layout.NewProfile([]layout.Page{c.first, c.second}, nil)
		tail := profile.TextAfter(c.first, 1, func() *layout.Tail { return nil }).Tail
		read := profile.TextAfter(c.second, 2, func() *layout.Tail { return tail })
		plain, got, next := read.Plain, read.Markdown, read.Tail
		if name == "ended before" || name == "begins below" {
			if !strings.HasPrefix(got, c.begins) {
				t.Errorf("%s:\n%s", name, got)
			}
			continue
		}
		if !strings.HasPrefix(got, c.begins) || strings.Count(got, "Item 3") != 10 || strings.Count(plain, "Item 3") != 10 {
			t.Errorf("%s:\n%s\nwant\n%s…", name, got, c.begins)
		}
		if next != nil {
			t.Errorf("%s: the table ends in the middle of page 2", name)
		}
	}
}
