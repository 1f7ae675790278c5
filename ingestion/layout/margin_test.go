package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// edges returns the text of a page of a document, and what is at its edge.
func edges(pages int, lines []layout.Line) (text string, found []string) {
	page := layout.Page{Width: 600, Height: 800, Lines: lines}
	other := layout.Page{Width: 600, Height: 800, Lines: column(60, 120, 30, "Other")}
	read := layout.NewProfile(append([]layout.Page{page}, slices.Repeat([]layout.Page{other}, pages-1)...), nil).
		TextAfter(page, 1, func() *layout.Tail { return nil })
	return read.Markdown, read.Edges
}

// What is printed at the edge of one page is no part of its text, and is not lost.
func TestTextAfter_putsEdgesAside(t *testing.T) {
	t.Parallel()
	const top, bottom = 30, 775
	body := column(60, 120, 30, "Body")
	side := layout.Line{Text: "arXiv:2108.11480v1  [cs.IR]  25 Aug 2021", Size: 20, Turns: 3, Box: layout.Box{X0: 15, Y0: 200, X1: 35, Y1: 560}}
	for name, lines := range map[string][]layout.Line{
		"a stamp at the side":       {side},
		"a stamp of a library":      {at(60, bottom, 8, "Download date: 15. Sep. 2023")},
		"a stamp close to the text": {at(60, 107, 8, "not this"), at(60, 20, 8, "Downloaded from https://library.example/ on 3 May 2021")},
		"what a browser prints":     {at(24, 16, 8, "10/1/24, 3:42 PM"), at(250, 16, 8, "Edgar, King of England"), at(24, 785, 8, "https://en.wikipedia.example/wiki/Edgar"), at(570, 785, 8, "1/7")},
		"the volume of a journal":   {at(60, top, 8, "J. Plant Path. (2005) 71:107–116"), at(60, top+10, 8, "DOI 10.1007/s10327-004-0170-3")},
		"its number":                {at(60, top, 8, "Vol. 99 (2013) 615 – 628")},
		"rights":                    {at(60, bottom, 8, "© 2014 The Author. All rights reserved.")},
		"very small type":           {at(220, bottom, 5, "Woodworth et al.: Brief Notices")},
	} {
		got, found := edges(1, append(slices.Clone(body), lines...))
		for _, l := range lines {
			kept := l.Text != "not this"
			if shown := strings.Contains(got, l.Text); kept == shown || kept && !strings.Contains(strings.Join(found, "\n"), l.Text) {
				t.Errorf("%s: %q is in the text: %v; at the edge: %q", name, l.Text, shown, found)
			}
		}
	}
	for _, row := range []string{"10/1/24, 3:42 PM", "© 2014 The Author. All rights reserved."} {
		if _, found := edges(1, append(slices.Clone(body), at(24, 16, 8, row), at(60, 30, 10, "The paragraph below."))); !slices.Equal(found, []string{row}) {
			t.Errorf("beside the text below it: %q", found)
		}
	}
	if _, found := edges(1, append(slices.Clone(body), at(60, top, 9, "Chapter 3"), at(520, top, 9, "27"))); !slices.Equal(found, []string{"Chapter 3 27"}) {
		t.Errorf("a head beside a number, of the only page: %q", found)
	}
	if got, found := edges(3, append(slices.Clone(body), at(60, top, 9, "Chapter 3"), at(520, top, 9, "27"))); !slices.Equal(found, []string{"Chapter 3 27"}) || strings.Contains(got, "Chapter 3") {
		t.Errorf("a running head of a book: %q\n%s", found, got)
	}
}

// Text that looks like what is printed at edges stays.
func TestTextAfter_keepsTextAtEdges(t *testing.T) {
	t.Parallel()
	body := column(60, 120, 30, "Body")
	var log []layout.Line
	for i := range 24 {
		log = append(log, at(60, 30+30*float64(i), 10, fmt.Sprintf("%02d/05/2021 10:%02d", i+1, i)), at(300, 30+30*float64(i), 10, "started"))
	}
	for name, lines := range map[string][]layout.Line{
		"rows with times":   log,
		"a letterhead":      append(slices.Clone(body), at(60, 30, 10, "Meyer & Sons, www.meyer.example"), at(450, 30, 10, "3 May 2021")),
		"a title":           append(slices.Clone(body), at(60, 30, 18, "Downloaded from nowhere")),
		"a last reference":  append(column(60, 120, 49, "Body"), at(60, 757, 10, "J. Plant Path. (2005) 71:107–116")),
		"an address below":  append(slices.Clone(body), at(60, 745, 9, "http://www.meyer.example/terms")),
		"a footnote":        append(slices.Clone(body), at(60, 770, 8, "1 See volume 3 of 1999.")),
		"rights in a text":  append(slices.Clone(body), at(60, 400, 10, "Copyright 2014 is mine.")),
		"a line of letters": append(slices.Clone(body), at(60, 770, 9, "We downloaded from the server what was there.")),
	} {
		want := len(strings.Fields(textOf(lines)))
		if got, found := edges(1, lines); len(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(got, "|", ""), "---", ""))) < want || len(found) > 0 {
			t.Errorf("%s: at the edge: %q\n%s", name, found, got)
		}
	}
}

// A running head below the margin shows by the page's number at the other edge of prose; a row of data there does not.
func TestTextAfter_findsRunningHeadsBelowTheMargin(t *testing.T) {
	t.Parallel()
	end := func(l layout.Line) layout.Line { // at the right of the body
		l.Box.X0, l.Box.X1 = 180-l.Box.X1+l.Box.X0, 180
		return l
	}
	var body []layout.Line
	for i := range 20 {
		body = append(body, at(60, 150+13*float64(i), 10, fmt.Sprintf("Words of %02d fill it", i+10)))
	}
	for i := range body {
		body[i].Box.X1, body[i].Text = 180, body[i].Text+" from edge to edge"
	}
	for _, row := range [][]layout.Line{
		{at(60, 100, 10, "The Forest"), end(at(0, 100, 10, "103"))},
		{at(60, 100, 10, "102"), end(at(0, 100, 10, "A Forest"))},
	} {
		for _, pages := range []int{1, 4} {
			if got, _ := edges(pages, append(slices.Clone(row), body...)); strings.Contains(got, "Forest") {
				t.Errorf("%d pages: the head is in the text:\n%s", pages, got)
			}
		}
	}
	for _, words := range []string{"Balance", "Sum due:"} {
		if got, _ := edges(1, append([]layout.Line{at(60, 100, 10, words), end(at(0, 100, 10, "103"))}, body...)); !strings.Contains(got, words) {
			t.Errorf("%q is not in the text:\n%s", words, got)
		}
	}
	items := sheet(150, 14, []float64{60, 140}, []string{"Oak", "10"}, []string{"Elm", "20"}, []string{"Ash", "30"}, []string{"Fir", "43"}, []string{"Yew", "50"}, []string{"Box", "60"})
	if got, _ := edges(1, append([]layout.Line{at(60, 100, 10, "The Forest"), end(at(0, 100, 10, "103"))}, items...)); !strings.Contains(got, "Forest") {
		t.Errorf("a row above a table is not in the text:\n%s", got)
	}
	foot := []layout.Line{at(60, 730, 10, "Rev. 2"), at(105, 730, 10, "No. 17"), end(at(0, 730, 10, "May 3"))}
	if got, found := edges(4, append(foot, body...)); strings.Contains(got, "Rev. 2") || len(found) != 3 {
		t.Errorf("three parts of a foot: %q\n%s", found, got)
	}
}
