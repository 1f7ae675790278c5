package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Lines that somebody ended stay lines; lines that a program filled become a paragraph.
func TestText_keepsLinesBrokenByHand(t *testing.T) {
	t.Parallel()
	const width, size = 40, 10 // letters of a column
	filled := func(words string) (out []string) {
		line := ""
		for _, word := range strings.Fields(words) {
			if len(line)+1+len(word) > width {
				out, line = append(out, line), ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		return append(out, line)
	}
	prose := filled("Nouns Begin With Capitals in this long text, Which a program Has filled from edge to edge, And so Does the next Sentence of It, As in German.")
	for name, c := range map[string]struct {
		lines  []string
		middle bool
		want   bool
	}{
		"an address":           {lines: []string{"Jane Roe", "12 Long Street", "EC1 2AB London", "United Kingdom"}, want: true},
		"one of three lines":   {lines: []string{"Oak Timber Company Limited", "Mill Street 12", "10115 Berlin"}, want: true},
		"a stanza":             {lines: []string{"The river sleeps below the hill tonight,", "And no one wakes it.", "Over the mill the moon hangs half in white,", "Till morning takes it."}, want: true},
		"a stanza, centred":    {lines: []string{"The river sleeps below the hill tonight,", "And no one wakes it.", "Over the mill the moon hangs half in white,", "Till morning takes it."}, middle: true, want: true},
		"lines nearly as long": {lines: []string{"The river sleeps below the hill tonight,", "And no one wakes it before dawn.", "Over the mill the moon hangs half in white,", "Till morning takes it from the sky."}, middle: true, want: true},
		"names with values":    {lines: []string{"Invoice: 20811", "Issued: 4 May 2026", "Due: 18 May 2026", "Customer: 4411"}, want: true},
		"prose":                {lines: prose},
		"prose, centred":       {lines: prose, middle: true},
		"prose in capitals":    {lines: filled(strings.ToUpper("The software is provided as it is, without warranty of any kind, and nobody is liable for what it does."))},
		"prose beside a box":   {lines: []string{"A box is at the right", "of these lines, so that", "they are short, and then they fill the", "whole of the column again."}},
		"a word cut in two":    {lines: []string{"Something is con-", "Tinued on the next line, which is long."}},
		"a number in a line":   {lines: []string{"It was sold for", "2.3 million in that year to its owner."}},
		"a long title's line":  {lines: []string{"A sentence that goes on to the next line", "here."}},
	} {
		var lines []layout.Line
		for i, words := range c.lines {
			l := at(60, 100+12*float64(i), size, words)
			if c.middle {
				by := (width*size/2 - l.Box.X1 + l.Box.X0) / 2
				l.Box.X0, l.Box.X1 = l.Box.X0+by, l.Box.X1+by
			}
			lines = append(lines, l)
		}
		if got := text(lines...); strings.Contains(got, strings.Join(c.lines, "\n")) != c.want || !c.want && strings.Contains(got, "\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	heavy := []layout.Line{at(60, 100, 10, "Location: Oak House"), at(60, 112, 10, "One Mill Street, 2nd floor, Room 12"), at(60, 124, 10, "Newark 07102")}
	for i := range heavy {
		heavy[i].Bold = true
	}
	heavy = append(heavy, column(60, 160, 20, "Body")...)
	if got := text(heavy...); !strings.Contains(got, "**Location: Oak House**\n**One Mill Street, 2nd floor, Room 12**\n**Newark 07102**\n") {
		t.Errorf("in bold type:\n%s", got)
	}
}
