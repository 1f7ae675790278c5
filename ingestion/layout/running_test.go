package layout_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// atEdge are rows at the edges of pages: what page i of n has there, in one piece or at both margins. Those of counters have nothing but the page's own
// number besides words that are the same on all pages.
var atEdge = []struct {
	counter bool
	row     func(i, n int) []string
}{
	{true, func(i, n int) []string { return []string{fmt.Sprintf("Page %d of %d", i, n)} }},
	{true, func(i, _ int) []string { return []string{"The Village Courier", fmt.Sprintf("Page %d", i)} }},
	{true, func(i, _ int) []string { return []string{"The Village Courier", fmt.Sprint(i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("The Village Courier %d", i)} }},
	{true, func(i, _ int) []string { return []string{fmt.Sprintf("The Village Courier | %d", i)} }},
	{false, func(_, _ int) []string { return []string{"The Village Courier"} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Invoice 2025-%d of Oak Ltd", 117+i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Customer %d, amount due %d.50", 1180+7*i, 95*i)} }},
	{false, func(i, _ int) []string { return []string{"Carried over", fmt.Sprintf("%d.00", 1234*i)} }},
	{false, func(i, _ int) []string { return []string{"Carried over:", fmt.Sprint(200 + i)} }},
	{false, func(i, _ int) []string {
		return []string{fmt.Sprintf("Patient no. %d Blood sugar %d mg", 4600+111*i, 50+5*i)}
	}},
	{false, func(i, _ int) []string { return []string{"Patient", fmt.Sprint(4600 + 111*i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("%d May 2025", i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Certificate no. %d", 1180+i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Exercise %d", i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Lesson plan %d", i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("%d. Section %d", i, i)} }},
	{false, func(i, _ int) []string {
		return []string{fmt.Sprintf("Recipe %d for %d people, %d minutes", i, 2*i, 15*i)}
	}},
	{false, func(i, _ int) []string { return []string{"Points achieved", fmt.Sprint(14 + 3*i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("For the answer see page %d", 3+4*i*i)} }},
	{false, func(i, _ int) []string { return []string{"Points achieved", fmt.Sprintf("%d of 30", 14+3*i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprint(12 + 5*i), "Room"} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprint(37 + 5*i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Downloaded from oak.example on %d May 2025", i)} }},
	{false, func(i, _ int) []string { return []string{fmt.Sprintf("Copyright 20%d Oak Ltd", 10+3*i)} }},
	{false, func(i, _ int) []string { return []string{"xiv", fmt.Sprintf("Ill %d", i*i)} }},
}

// bodies are the rows of text that page i has, in its columns.
var bodies = []func(i, k int) []string{
	func(i, k int) []string {
		return []string{fmt.Sprintf("the river carried small boats past the mill %d%02d of old", i, k)}
	},
	func(i, k int) []string {
		return []string{fmt.Sprintf("Order %d", 1000+40*i+k), "Shipped", fmt.Sprintf("%d.50", 3*k+7*i)}
	},
	func(i, k int) []string { return []string{fmt.Sprintf("[%02d:%02d] reading %d is mm", i, k, 40*i+k)} },
	func(i, k int) []string {
		return []string{fmt.Sprintf("Article %c%c", 'A'+k%26, 'a'+k%23), fmt.Sprint(40*i + k)}
	},
}

// Nothing is lost: each word of a page is in its text or at its edge, or is the page's own number, or in a line that a page before shows.
func TestTextAfter_losesNothingAtEdges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(16, 1))
	for n := range 2 * len(atEdge) {
		pages, excused := document(random, n)
		profile, before := layout.NewProfile(pages, nil), map[string]bool{}
		for i, page := range pages {
			read := profile.TextAfter(page, i+1, func() *layout.Tail { return nil })
			missing := wordsOf(textOf(page.Lines))
			for w, n := range wordsOf(read.Markdown + " " + strings.Join(read.Edges, " ")) {
				missing[w] -= n
			}
			for _, l := range page.Lines {
				known := before[l.Text] || excused(l.Text)
				for w, n := range wordsOf(l.Text) {
					if missing[w] -= n; known {
						continue
					}
					missing[w] += n
				}
				before[l.Text] = true
			}
			maps.DeleteFunc(missing, func(_ string, n int) bool { return n <= 0 })
			if len(missing) > 0 {
				t.Fatalf("document %d: page %d of %d lost %v\nits edges %q\n%s\n%s", n, i+1, len(pages), missing, read.Edges, textOf(page.Lines), read.Markdown)
			}
		}
	}
}

// pagesWith makes pages of prose with a row at the top, so far above it.
func pagesWith(n int, apart float64, row func(i int) []layout.Line) (pages []layout.Page) {
	for i := 1; i <= n; i++ {
		lines := row(i)
		for k := range 14 {
			lines = append(lines, at(60, 30+apart+13*float64(k), 10, fmt.Sprintf("the river carried boats past mill %d%02d", i, k)))
		}
		pages = append(pages, layout.Page{Width: 600, Height: 500, Lines: lines})
	}
	return pages
}

// A line is a running head if it is the same on pages, but for their own number. It is shown once.
func TestTextAfter_takesRunningHeadsAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row   func(i int) []layout.Line
		gone  bool
		edges []string // of all pages together, if it is gone
	}{
		"the same": {func(int) []layout.Line { return []layout.Line{at(60, 22, 9, "The Courier")} }, true, []string{"The Courier"}},
		"beside a number": {func(i int) []layout.Line {
			return []layout.Line{at(60, 22, 9, "The Courier"), at(300, 22, 9, fmt.Sprint(i+614))}
		}, true, []string{"The Courier"}},
		"a number that is not": {func(i int) []layout.Line {
			return []layout.Line{at(60, 22, 9, "The Courier"), at(300, 22, 9, fmt.Sprint(i*i))}
		}, false, nil},
		"with its page": {func(i int) []layout.Line {
			return []layout.Line{at(60, 22, 9, fmt.Sprintf("The Courier, page %d of 4", i))}
		}, true, []string{"The Courier, page 1 of 4"}},
		"before a number":       {func(i int) []layout.Line { return []layout.Line{at(60, 22, 9, fmt.Sprintf("The Courier – %d", i+7))} }, true, []string{"The Courier – 8"}},
		"close to a number":     {func(i int) []layout.Line { return []layout.Line{at(60, 22, 9, fmt.Sprintf("The Courier %d", i))} }, true, []string{"The Courier 1", "The Courier 2", "The Courier 3", "The Courier 4"}},
		"a label":               {func(i int) []layout.Line { return []layout.Line{at(60, 22, 9, "Room:"), at(100, 22, 9, fmt.Sprint(i))} }, false, nil},
		"a thing with a number": {func(i int) []layout.Line { return []layout.Line{at(60, 22, 9, fmt.Sprintf("Exercise %d", i))} }, false, nil},
		"a table's title":       {func(int) []layout.Line { return []layout.Line{at(60, 22, 9, "Table 14. Graduates by region")} }, false, nil},
		"a date":                {func(i int) []layout.Line { return []layout.Line{at(60, 22, 9, fmt.Sprintf("%d May 2025", i))} }, false, nil},
		"an invoice": {func(i int) []layout.Line {
			return []layout.Line{at(60, 22, 9, fmt.Sprintf("Invoice 2025-%d of Oak", i))}
		}, false, nil},
	} {
		pages := pagesWith(4, 23, c.row)
		profile, shown := layout.NewProfile(pages, nil), []string(nil)
		for i, page := range pages {
			read := profile.TextAfter(page, i+1, func() *layout.Tail { return nil })
			if in := strings.Contains(read.Markdown, page.Lines[0].Text); in == c.gone {
				t.Errorf("%s: on page %d, it is in the text: %v", name, i+1, in)
			}
			shown = append(shown, read.Edges...)
		}
		if !slices.Equal(shown, c.edges) {
			t.Errorf("%s: at the edge: %q", name, shown)
		}
	}
	for i, page := range pagesWith(3, 13, func(int) []layout.Line { return []layout.Line{at(60, 30, 10, "What we bought")} }) {
		read := layout.NewProfile(pagesWith(3, 13, func(int) []layout.Line { return []layout.Line{at(60, 30, 10, "What we bought")} }), nil).
			TextAfter(page, i+1, func() *layout.Tail { return nil })
		if !strings.Contains(read.Markdown, "What we bought") {
			t.Errorf("a line in the rhythm of the text: it is not in that of page %d", i+1)
		}
	}
}

func wordsOf(text string) map[string]int {
	out := map[string]int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' }) {
		if w = strings.Trim(w, "."); w != "" {
			out[w]++
		}
	}
	return out
}

// document makes pages with rows at their edges, of which one is that of a number, and says which texts are counters of theirs.
func document(random *rand.Rand, number int) (pages []layout.Page, counter func(text string) bool) {
	pick := func(of ...float64) float64 { return of[random.IntN(len(of))] }
	body, pitch := bodies[random.IntN(len(bodies))], pick(12, 16, 21)
	top, bottom, n := atEdge[number%len(atEdge)], atEdge[random.IntN(len(atEdge))], 1+random.IntN(4)
	if random.IntN(2) == 0 {
		top, bottom = bottom, top
	}
	first, apart, size, bold, place := pick(10, 20, 35), pick(pitch, 24, 40), pick(9, 10, 12), random.IntN(3) == 0, pick(0, 0.5, 1)
	counters := map[string]bool{}
	for i := 1; i <= n; i++ {
		var lines []layout.Line
		row := func(y, size, place float64, texts ...string) {
			for k, text := range texts {
				l := at(60, y, size, text)
				if len(texts) > 1 {
					place = float64(k) / float64(len(texts)-1)
				}
				move := place * (500 - l.Box.X1)
				l.Box.X0, l.Box.X1 = l.Box.X0+move, l.Box.X1+move
				lines = append(lines, l)
			}
		}
		edge := func(y float64, counter bool, texts []string) {
			begun := len(lines)
			row(y, size, place, texts...)
			for k := range lines[begun:] {
				lines[begun+k].Bold = bold
			}
			if counter {
				counters[texts[len(texts)-1]] = true
			}
		}
		edge(first, top.counter, top.row(i, n))
		y := first + apart
		for k := 0; y < 380-apart; k++ {
			row(y, 10, 0, body(i, k)...)
			y += pitch
		}
		edge(y-pitch+apart, bottom.counter, bottom.row(i, n))
		pages = append(pages, layout.Page{Width: 560, Height: 400, Lines: lines})
	}
	return pages, func(text string) bool { return counters[text] }
}
