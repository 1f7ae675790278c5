package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// run sets words at places of their own as one line, as renderers return cells that are as close as words.
func run(y float64, xs []float64, words ...string) layout.Line {
	var out layout.Line
	for i, word := range words {
		if word == "" {
			continue
		}
		l := at(xs[i], y, 10, word)
		if out.Text == "" {
			out = l
		} else {
			out.Text, out.Edges = out.Text+" "+word, append(out.Edges, out.Box.X1)
		}
		for r := range word {
			out.Edges = append(out.Edges, xs[i]+5*float64(r))
		}
		out.Box.X1 = xs[i] + 5*float64(len(word))
	}
	return out
}

// Columns of numbers may be as close to one another as words, and the renderer has some of the cells in one line.
func TestText_findsColumnsAsCloseAsWords(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 93, 107, 121, 135}
	page := layout.Page{Width: 600, Height: 800}
	for i, row := range [][]string{{"", "P", "W", "D", "Pts"}, {"Lyn", "10", "7", "2", "23"}, {"Viking", "10", "5", "3", "18"}, {"Moss", "9", "1", "", "4"}, {"Brann", "10", "6", "1", "19"}} {
		page.Lines = append(page.Lines, run(100+14*float64(i), xs, row...))
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	rowsAre(t, got, "P | W | D | Pts", "Lyn | 10 | 7 | 2 | 23", "Viking | 10 | 5 | 3 | 18", "Moss | 9 | 1 |  | 4", "Brann | 10 | 6 | 1 | 19")
}

// A long name reaches nearly to the column of its amount.
func TestText_findsAmountsCloseToLongNames(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i, row := range [][2]string{{"Energy", "1046 kJ"}, {"Fat", "9,2 g"}, {"of which saturated", "3,1 g"}, {"Carbohydrate", "34 g"}, {"Salt", "1,1 g"}} {
		y := 100 + 14*float64(i)
		if len(row[0]) > 15 {
			page.Lines = append(page.Lines, run(y, []float64{60, 157}, row[:]...))
			continue
		}
		page.Lines = append(page.Lines, run(y, []float64{60}, row[0]), run(y, []float64{157}, row[1]))
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	rowsAre(t, got, "Energy | 1046 kJ", "Fat | 9,2 g", "of which saturated | 3,1 g", "Carbohydrate | 34 g", "Salt | 1,1 g")
}

// Blanks after the thousands of amounts divide nothing.
func TestText_takesNoThousandsForCloseColumns(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i, row := range [][]string{{"Fish", "12", "345"}, {"Salt", "", "745"}, {"Nets and ropes", "", "900"}, {"Boats", "1", "200"}} {
		y := 100 + 14*float64(i)
		page.Lines = append(page.Lines, run(y, []float64{60}, row[0]), run(y, []float64{210 - 5*float64(len(row[1])), 213}, row[1:]...))
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	rowsAre(t, got, "Fish | 12 345", "Salt | 745", "Nets and ropes | 900", "Boats | 1 200")
}

// Values set apart from labels with a colon are lines, and no column.
func TestText_takesNoLabelsForCloseColumns(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i, row := range [][]string{{"Name:", "Anna Berg"}, {"Town of birth:", "Bergen"}, {"Street:", "Quay Lane"}, {"Born:", "in May"}} {
		page.Lines = append(page.Lines, run(100+14*float64(i), []float64{60, 142}, row...))
	}
	if _, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1); strings.Contains(got, "|") {
		t.Errorf("got\n%s", got)
	}
}

// A row of a programme begins with its time, though it has nothing else beside it.
func TestText_beginsRowsWithTimes(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i, row := range [][2]string{{"09:00 Registration", "Foyer"}, {"09:30 Opening speech by the minister, and questions", "Hall A"}, {"10:15 Break", ""}, {"10:30 Workshops", "Rooms 4, 5"}} {
		page.Lines = append(page.Lines, run(100+14*float64(i), []float64{60, 322}, row[:]...))
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	rowsAre(t, got, "09:00 Registration | Foyer", "09:30 Opening speech by the minister, and questions | Hall A", "10:15 Break", "10:30 Workshops | Rooms 4, 5")
}

// Numbers and letters of clauses, set apart from their text, are no column of a table.
func TestText_takesNoClausesForRows(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"1", "Term"}, {"1.1", "The tenant takes the premises."}, {"1.2", "The rent includes:"}, {"(a)", "water;"}, {"(b)", "rooms, but not"}, {"(i)", "the cellar."}, {"2", "Deposit"}, {"2.1", "The deposit is three rents."}}
	var lines []layout.Line
	for i, row := range rows {
		y := 100 + 15*float64(i)
		lines = append(lines, at(72, y, 11, row[0]), at(108, y, 11, row[1]))
	}
	got := text(lines...)
	if strings.Contains(got, "|") || !strings.Contains(got, "1.1 The tenant takes the premises.") {
		t.Errorf("got\n%s", got)
	}
}
