package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// byRow puts lines into the order in which recognition and some programs write them: from the top down, over all columns.
func byRow(lines []layout.Line) []layout.Line {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b layout.Line) int { return int(a.Box.Y0 - b.Box.Y0) })
	return out
}

// Sections in columns are read one after the other, below headings that are as short as a column or shorter.
func TestText_readsSectionsInTurn(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	var want []string
	for s, title := range []string{"First part", "Second part", "Third part"} {
		y := 80 + 190*float64(s)
		head := at(60, y, 10, title)
		head.Bold = true
		lines = append(append(append(lines, head), column(60, y+26, 10, fmt.Sprintf("L%d", s))...), column(320, y+26, 10, fmt.Sprintf("R%d", s))...)
		want = append(want, title, fmt.Sprintf("L%d09", s), fmt.Sprintf("R%d00", s), fmt.Sprintf("R%d09", s))
	}
	inTurn(t, text(lines...), want...)
	inTurn(t, text(byRow(lines)...), want...)
	for i := range lines {
		lines[i].Bold = false // the order of the file is enough
	}
	inTurn(t, text(lines...), want...)
}

// Headings in a column belong to it, whatever is beside them.
func TestText_keepsHeadingsInTheirColumn(t *testing.T) {
	t.Parallel()
	lines := column(60, 100, 12, "Up")
	head := at(60, 280, 10, "The heading")
	head.Bold = true
	lines = append(append(append(lines, head), column(60, 300, 12, "Low")...), column(320, 100, 12, "Side")...)
	lines = append(lines, column(320, 300, 12, "Deep")...)
	want := []string{"Up00", "Up11", "The heading", "Low00", "Low11", "Side00", "Deep11"}
	inTurn(t, text(lines...), want...)
	lines = append(lines, column(320, 256, 3, "Beside")...) // no white space over the page
	inTurn(t, text(byRow(lines)...), append(slices.Clone(want[:6]), "Beside00", "Deep11")...)
}

// Prose is no column of a table, whatever stands beside it.
func TestText_keepsProseBesideOtherThings(t *testing.T) {
	t.Parallel()
	var listing, figure, index, others []layout.Line
	for i := range 14 {
		y := 103 + 13.7*float64(i)
		listing = append(listing, at(330, y, 9, fmt.Sprintf("%d  if primes[%d] {", i, i)))
		figure = append(figure, at(330+float64(i%3)*60, y, 7, fmt.Sprintf("t%d", i)))
		index = append(index, at(60, 100+13*float64(i), 10, fmt.Sprintf("matter of it %d, 4%d", i, i)))
		others = append(others, at(240, 100+13*float64(i), 10, fmt.Sprintf("further matter %d, 9%d", i, i)))
	}
	prose := column(60, 100, 15, "Prose")
	for name, lines := range map[string][]layout.Line{
		"listing": slices.Concat(prose, listing), "figure": slices.Concat(prose, figure), "listing first": slices.Concat(listing, prose),
	} {
		got := text(lines...)
		inTurn(t, got, "Prose00", "Prose01", "Prose13", "Prose14")
		if _, beside, _ := strings.Cut(got, "Prose00"); strings.Contains(strings.SplitN(beside, "Prose14", 2)[0], "if primes") || strings.Contains(got, "Prose00 goes on with words |") {
			t.Errorf("%s is among the prose:\n%s", name, got)
		}
	}
	inTurn(t, text(slices.Concat(index, others)...), "matter of it 0", "matter of it 13", "further matter 0", "further matter 13")
}

// A table that goes over both columns stays whole, between what is above and below it.
func TestText_keepsTablesBetweenColumns(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(column(60, 60, 12, "Up"), column(320, 60, 12, "Side"))
	for i := range 8 {
		for c, x := range []float64{60, 190, 330, 450} {
			lines = append(lines, at(x, 240+16*float64(i), 10, fmt.Sprintf("cell %d%d", i, c)))
		}
	}
	lines = append(lines, slices.Concat(column(60, 400, 12, "Low"), column(320, 400, 12, "Deep"))...)
	got := text(lines...)
	inTurn(t, got, "Up00", "Up11", "Side00", "Side11", "| cell 00 | cell 01 | cell 02 | cell 03 |", "| cell 70 |", "Low00", "Low11", "Deep00")
}

// Words that a file places one by one make lines.
func TestText_joinsWords(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for _, side := range []string{"left", "right"} {
		for i := range 8 {
			x := map[string]float64{"left": 60, "right": 320}[side]
			for _, word := range []string{side, fmt.Sprintf("line%d", i), "goes", "on", "and", "on", "to", "its", "end"} {
				l := at(x, 100+13*float64(i), 10, word)
				for r := range word {
					l.Edges = append(l.Edges, x+5*float64(r))
				}
				lines = append(lines, l)
				x = l.Box.X1 + 4
			}
		}
	}
	inTurn(t, text(lines...), "left line0 goes on and on to its end left line1", "left line7", "right line0 goes on", "right line7 goes on and on to its end")
}
