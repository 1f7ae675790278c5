package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Copies of one text beside one another, as labels or several pages on a sheet, are read one after the other. A table may have columns
// that say the same: the file has it row by row.
func TestText_readsCopiesOneByOne(t *testing.T) {
	t.Parallel()
	var first, second []layout.Line
	for i := range 20 {
		words := fmt.Sprintf("step %d", i/3)
		first, second = append(first, at(60, 100+12*float64(i), 10, words)), append(second, at(330, 100+12*float64(i), 10, words))
	}
	inTurn(t, text(slices.Concat(first, second)...), "step 0", "step 3", "step 6", "step 0", "step 3", "step 6")
	var rows []layout.Line
	for i := range first {
		rows = append(rows, first[i], second[i])
	}
	inTurn(t, text(rows...), "| step 0 | step 0 |", "| step 6 | step 6 |")
}

// Lines at distances of their own are no rows, although some of them are level.
func TestText_keepsLinesOutOfStepApart(t *testing.T) {
	t.Parallel()
	var left, right []layout.Line
	for i, words := range []string{"The letters are learned", "Mostly by their edges", "The pixels depend on one another", "And that is to be learned too", "Layer by layer"} {
		left = append(left, at(60, 180+21*float64(i), 10, words))
	}
	for i := range 13 {
		right = append(right, at(400, 100+13.4*float64(i), 10, fmt.Sprintf("0.%d", 21+i)))
	}
	for _, lines := range [][]layout.Line{slices.Concat(left, right), slices.Concat(right, left)} {
		inTurn(t, text(lines...), "The letters are learned", "Mostly by their edges", "The pixels depend on one another", "And that is to be learned too", "Layer by layer")
		inTurn(t, text(lines...), "0.21", "0.22", "0.25", "0.27", "0.30", "0.33")
		if got := text(lines...); slices.Contains([]rune(got), '|') {
			t.Errorf("got a table:\n%s", got)
		}
	}
}

// The name of a paragraph may be set at the middle of its height.
func TestText_readsANameBesideItsParagraph(t *testing.T) {
	t.Parallel()
	for n := 2; n < 8; n++ {
		lines := []layout.Line{at(60, 100, 10, "Notes on the delivery")}
		want := []string{"Notes"}
		for i, y := 0, 140.0; i < 3; i++ {
			name := at(60, y+6*float64(n-1), 10, fmt.Sprintf("Name %d", i))
			lines, want = append(lines, name), append(want, name.Text)
			for j := range n {
				words := fmt.Sprintf("Line %d of text %d.", j, i)
				lines, want = append(lines, at(200, y+12*float64(j), 10, words)), append(want, words)
			}
			y += 12*float64(n) + 30
		}
		inTurn(t, text(lines...), want...)
	}
}

// An amount in each line of a box makes rows of them, wherever its name is.
func TestText_dividesABoxByItsAmounts(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 250, 330, 420}
	lines := slices.Concat(cells(100, xs, "Item", "Number", "Price", "Amount"), sheet(130, 24, xs, []string{"Notice of 12 May", "", "", "45.93"}, []string{"Printed copy", "1", "0.75", "0.75"},
		[]string{"Second copy", "0", "3.50", "0"}, []string{"", "", "Total net:", "46.68"}, []string{"", "", "Tax 20 %:", "9.34"}, []string{"", "", "Total:", "56.02"}))
	got := withRules(ruled([]float64{50, 240, 320, 400, 520}, []float64{85, 115, 270}), lines...)
	rowsAre(t, got, "Item | Number | Price | Amount", "Notice of 12 May |  |  | 45.93", "Printed copy | 1 | 0.75 | 0.75", "Second copy | 0 | 3.50 | 0",
		"Total net: | 46.68", "Tax 20 %: | 9.34", "Total: | 56.02")
}

// Amounts in two columns make rows of the lines between two rules, although names beside them begin with small letters.
func TestText_dividesRowsWithAmountsAndSmallNames(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 150, 250, 340}
	group := [][]string{{"First", "tuned", "0.1555", "0.4167"}, {"Second", "tuned", "0.1521", "0.3767"}, {"Third", "fixed", "0.1576", "0.4040"}}
	lines := slices.Concat(cells(100, xs, "Model", "Slope", "Mean", "At ten"), sheet(124, 14, xs, group...), sheet(174, 14, xs, group...), sheet(224, 14, xs, group...))
	got := withRules(ruled([]float64{50, 140, 240, 330, 430}, []float64{85, 112, 162, 212, 262}), lines...)
	want := []string{"Model | Slope | Mean | At ten"}
	for range 3 {
		want = append(want, lined(group)...)
	}
	rowsAre(t, got, want...)
}

// A numbered paragraph begins where its number counts on, or left of the letter above.
func TestText_beginsNumberedParagraphsBelowLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string // those with a letter are indented
		want  string
	}{
		{[]string{"1.1 The first clause has", "(a) part one", "(b) part two", "1.2 The second clause has"}, "(b) part two\n\n1.2 The second clause has"},
		{[]string{"§ 4 The first clause has", "(a) part one", "§ 5 The second clause has"}, "(a) part one\n\n§ 5 The second clause has"},
		{[]string{"(a) part one;", "(b) part two.", "4. Next clause of the contract"}, "(b) part two.\n\n4\\. Next clause of the contract"},
		{[]string{"(a) part one;", "(b) part two was sold for", "2.3 million in that year."}, "(b) part two was sold for 2.3 million in that year."},
	} {
		var lines []layout.Line
		for i, words := range c.lines {
			x := 60.0
			if words[0] == '(' {
				x = 84
			}
			lines = append(lines, at(x, 100+12*float64(i), 10, words))
		}
		inTurn(t, text(lines...), c.want)
	}
}

// Names with whole amounts that rise may be a table of contents. Rows stay apart, and none is a heading.
func TestText_keepsRowsOfNamesAndAmountsApart(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for i, name := range []string{"Anna", "1.2 Bert", "Carl"} {
		y := 100 + 13*float64(i)
		l := at(60, y, 10, name)
		l.Bold = name == "Carl"
		lines = append(lines, l, at(300, y, 10, fmt.Sprint(10+10*i)))
	}
	lines = append(lines, at(60, 300, 10, "Words that follow below them."))
	if got, want := text(lines...), "Anna 10\n\n1.2 Bert 20\n\n**Carl 30**\n\nWords that follow below them."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Notes in two columns, their number and their words, are paragraphs; a column of words that are no sentences makes a table.
func TestText_keepsNotesBelowOneAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"See the history of the mill.", "Ibid., p. 14.", "See the letter of 3 May."}, "1 See the history of the mill.\n\n2 Ibid., p. 14.\n\n3 See the letter of 3 May."},
		{[]string{"Norway", "Sweden", "Denmark"}, "| 2 | Sweden |"},
	} {
		var lines []layout.Line
		for i, words := range c.words {
			y := 700 + 11*float64(i)
			lines = append(lines, at(60, y, 8, fmt.Sprint(1+i)), at(90, y, 8, words))
		}
		inTurn(t, text(lines...), c.want)
	}
}

// The head of a table whose rows are on the next column or page is no part of the paragraph above.
func TestText_keepsAHeadBelowAParagraphApart(t *testing.T) {
	t.Parallel()
	lines := []layout.Line{at(60, 100, 10, "The net was set at dawn and drawn in before noon while the wind"), at(60, 112, 10, "from the north east kept the sea rough and cold for the men.")}
	got := text(append(lines, cells(127, []float64{120, 160, 200}, "Year", "Catch", "Price")...)...)
	if !strings.HasSuffix(got, "for the men.\n\nYear Catch Price") {
		t.Errorf("got\n%s", got)
	}
}
