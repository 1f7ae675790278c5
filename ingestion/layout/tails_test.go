package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// doubtsOf returns the text of a page and what is doubtful in it.
func doubtsOf(rules []layout.Box, lines ...layout.Line) (markdown, doubts string) {
	page := layout.Page{Width: 600, Height: 800, Lines: lines, Rules: rules}
	read := layout.NewProfile([]layout.Page{page}, nil).TextAfter(page, 1, func() *layout.Tail { return nil })
	for _, d := range read.Doubts {
		doubts += d.Words
	}
	return read.Markdown, doubts
}

// A rule above a sum ends no head: there are amounts above it.
func TestText_takesNoRowsAboveASumForTheHead(t *testing.T) {
	t.Parallel()
	xs := []float64{50, 200, 300, 450}
	rows := [][]string{{"Assets", "", "Liabilities", ""}, {"Cash", "1,204", "Loan", "40,000"}, {"Bank", "18,330", "Bills to pay", "1,877"}, {"Boats", "64,000", "Own funds", "44,223"}, {"Tools", "2,150", "", ""}, {"Claims", "416", "", ""}, {"Total", "86,100", "Total", "86,100"}}
	rules := []layout.Box{level(200, 50, 240), level(200, 300, 490)}
	rowsAre(t, withRules(rules, sheet(100, 17, xs, rows...)...), "Assets |  | Liabilities", "Cash | 1,204 | Loan | 40,000", "Bank | 18,330 | Bills to pay | 1,877", "Boats | 64,000 | Own funds | 44,223", "Tools | 2,150", "Claims | 416", "Total | 86,100 | Total | 86,100")
}

// Several amounts in one cell are doubtful in the first row too.
func TestTextAfter_doubtsAmountsInTheFirstRow(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 200, 300}
	var rules []layout.Box
	for _, y := range []float64{95, 145, 170} {
		rules = append(rules, level(y, 55, 400))
	}
	for _, x := range []float64{55, 190, 290, 400} {
		rules = append(rules, upright(x, 95, 170))
	}
	lines := sheet(100, 14, xs, []string{"Cash and", "1,204", "40,000"}, []string{"bank", "18,330", "1,877"}, []string{"of the club", "64,000", "44,223"})
	lines = append(lines, cells(150, xs, "Total", "83,534", "86,100")...)
	if got, doubt := doubtsOf(rules, lines...); doubt == "" {
		t.Errorf("no doubt:\n%s", got)
	}
}

// The last rows of a table may have empty cells. Their column and their distance tell them from text below.
func TestText_keepsSparseRowsAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		xs   []float64
		rows [][]string
	}{
		"left column longer":  {[]float64{60, 260}, [][]string{{"Present", "Absent"}, {"Ann Berg", "Finn Hall"}, {"Bob Dahl", "Gro Iversen"}, {"Cid Eide", ""}, {"Dag Foss", ""}, {"Eva Gran", ""}}},
		"right column longer": {[]float64{60, 260}, [][]string{{"Present", "Absent"}, {"Ann Berg", "Finn Hall"}, {"Bob Dahl", "Gro Iversen"}, {"", "Cid Eide"}, {"", "Dag Foss"}}},
		"one row":             {[]float64{60, 260}, [][]string{{"To do", "Done"}, {"Call the bank", "Letter sent"}, {"Paint the door", "Fee paid"}, {"Mend the roof", "Boat sold"}, {"Buy tar", ""}}},
		"prices":              {[]float64{60, 260}, [][]string{{"Item", "Price"}, {"Rope", "19.90"}, {"Paint", "42.00"}, {"Shackle", ""}, {"Tar", ""}}},
		"third of three":      {[]float64{60, 220, 380}, [][]string{{"Small", "Medium", "Large"}, {"310 euros", "420 euros", "560 euros"}, {"no power", "one car", "two cars"}, {"", "", "Crane twice a year"}}},
		"marks in three":      {[]float64{60, 220, 380}, [][]string{{"Small", "Medium", "Large"}, {"310 euros", "420 euros", "560 euros"}, {"• no power", "• one car", "• two cars"}, {"", "", "• crane twice a year"}}},
	} {
		for _, pitch := range []float64{13, 14, 16} {
			var want []string
			for _, row := range c.rows {
				want = append(want, strings.Trim(strings.Join(row, " | "), " |"))
			}
			t.Run(fmt.Sprintf("%s, %v", name, pitch), func(t *testing.T) {
				lines := sheet(100, pitch, c.xs, c.rows...)
				end := 100 + pitch*float64(len(c.rows)-1)
				lines = append(lines, at(60, end+pitch+18, 10, "These lists are from the last meeting, and will be read again in spring."))
				got := text(lines...)
				for i, row := range c.rows {
					if n := strings.Count(strings.Join(row, ""), ""); n > 0 && i > 0 && !strings.Contains(got, "\n| "+strings.Join(row, " | ")+" |") {
						t.Errorf("no row %q in\n%s", want[i], got)
					}
				}
			})
		}
	}
}

// Text below a table, and the rest of its last cell, are no rows of it.
func TestText_takesNoTextBelowForRows(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "Price"}, {"Rope", "19.90"}, {"Paint", "42.00"}, {"Tar", "4.00"}}
	for name, below := range map[string]layout.Line{
		"longer":      at(60, 156, 10, "All prices are in euros, and hold until the end of June."),
		"further off": at(60, 166, 10, "Prices in euros"),
		"smaller":     at(60, 156, 8, "Prices in euros"),
	} {
		if got := text(append(sheet(100, 14, []float64{60, 260}, rows...), below)...); strings.Contains(got, "| "+below.Text) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
