package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// lined are rows as a test expects them.
func lined(rows [][]string) (want []string) {
	for _, row := range rows {
		want = append(want, strings.TrimSpace(strings.Trim(strings.Join(row, " | "), "| ")))
	}
	return want
}

// Names that end near the widest one do not go on in the title of a section, and a title is no name of the row below. Narrow names, as years, do not
// wrap at all.
func TestText_keepsTitlesOfSectionsApart(t *testing.T) {
	t.Parallel()
	tables := map[string][][]string{
		"names": {
			{"Region", "2010", "2011", "2012"},
			{"Current assets", "", "", ""},
			{"Trinidad and Tobago", "67.6", "72.5", "23.1"},
			{"Luxembourg", "36.3", "8.9", "–"},
			{"Bosnia and Herzegovina", "29.1", "57.2", "74.6"},
			{"Households with children", "", "", ""},
			{"Catalonia", "23.1", "12.5", "35.6"},
			{"Northumberland", "10.7", "–", "13.8"},
			{"Manufacturing", "", "", ""},
			{"Peru", "87.3", "62.5", "12.7"},
		},
		"no name above names": {
			{"", "2010", "2011", "2012"}, {"Urban areas", "", "", ""}, {"Norway", "38.1", "47.8", "43.1"}, {"Lower Saxony", "48.0", "6.8", "56.5"}, {"Rural areas", "", "", ""}, {"Luxembourg", "79.2", "14.0", "28.2"},
		},
		"years": {
			{"Year", "Private", "Public", "All"}, {"Actual", "", "", ""}, {"1999", "6,154", "3,185", "8,023"}, {"2000", "2,415", "1,132", "9,882"}, {"2001", "1,688", "8,337", "7,747"}, {"Projected", "", "", ""}, {"2002", "3,714", "7,614", "9,932"}, {"2003", "6,596", "2,673", "5,512"},
		},
		"sparse": {
			{"Region", "2010", "2011", "2012"}, {"Austria", "", "43.3", "10.5"}, {"Republic of Moldova", "", "", ""}, {"Iceland", "69.9", "88.6", ""}, {"United Arab Emirates", "11.8", "84.9", "77.8"}, {"Peru", "", "41.7", "3.4"}, {"Malta", "71.6", "", "2.0"},
		},
	}
	for name, rows := range tables {
		for _, pitch := range []float64{11.5, 13, 15} {
			t.Run(fmt.Sprintf("%s, %v", name, pitch), func(t *testing.T) {
				rowsAre(t, text(sheet(100, pitch, []float64{60, 240, 320, 400}, rows...)...), lined(rows)...)
			})
		}
	}
}

// The title of a section may be at the middle of the table, over columns of numbers.
func TestText_keepsTitlesAtTheMiddleApart(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Country", "2010", "2011"}, {"", "", ""}, {"Lower Saxony", "251.7", "934.1"}, {"Papua New Guinea", "947.9", "17.0"}, {"", "", ""}, {"Estonia", "131.7", "263.2"}, {"Luxembourg", "504.1", "729.9"}}
	for _, xs := range [][]float64{{60, 200, 300}, {60, 230, 270}} {
		for _, pitch := range []float64{13, 16, 22} {
			lines, middle := sheet(100, pitch, xs, rows...), (xs[0]+xs[2]+40)/2
			want := lined(rows)
			for i, title := range map[int]string{1: "Manufacturing", 4: "Agriculture"} {
				l := at(0, 100+pitch*float64(i), 10, title)
				wide := l.Box.X1 - l.Box.X0
				l.Box.X0, l.Box.X1 = middle-wide/2, middle+wide/2
				lines, want[i] = append(lines, l), title
			}
			rowsAre(t, text(lines...), want...)
		}
	}
}

// Where most names of a column would have had room behind the one above, a small letter continues nothing.
func TestText_keepsNamesInSmallLettersApart(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"property", "value", "remark"}, {"exhaust standard", "as stated", "optional"}, {"mass of the trailer", "as stated", "optional"}, {"colour", "see annex", "mandatory"}, {"name of the operator of the vehicle", "see annex", "on request"}, {"number of axles", "as stated", "mandatory"}, {"type of fuel", "see annex", "optional"}}
	for _, pitch := range []float64{11.5, 13} {
		rowsAre(t, text(sheet(100, pitch, []float64{60, 260, 360}, rows...)...), lined(rows)...)
	}
}

// A table that is set at the middle of its rows is not torn where a row is unlike the others: a dash in it is no mark of a list.
func TestText_keepsTablesWhole(t *testing.T) {
	t.Parallel()
	one := func(words string) []string { return []string{words} }
	rows := [][][]string{
		{one("Region"), one("2010"), one("2011")},
		{one("Fuel"), one("14.3"), one("–")},
		{{"Employers' social", "contributions"}, one("68.9"), one("54.4")},
		{one("Travel"), one("97.6"), one("85.0")},
		{{"Insurance paid in", "advance"}, one("81.5"), one("80.1")},
		{one("Wages"), one("39.9"), one("12.5")},
		{{"Income from other", "interests"}, one("85.8"), one("77.8")},
	}
	lines, want := centredTable(11.5, 3, []float64{60, 200, 280}, rows...)
	rowsAre(t, text(lines...), want...)
	caption := at(60, 88, 13, "Costs by kind") // as near as the rows are
	rowsAre(t, text(slices.Concat([]layout.Line{caption}, lines)...), want...)
	for i := range lines {
		if lines[i].Text == "14.3" { // it reaches up to the next column
			lines[i].Box.X0, lines[i].Box.X1 = lines[i].Box.X0+30, lines[i].Box.X1+57
		}
	}
	if got := text(lines...); strings.Count(got, "\n| --") != 1 {
		t.Errorf("got\n%s\nwant one table", got)
	}
}

// What is further above a table than its rows are from one another is no name in its head.
func TestText_keepsLinesFarAboveOutOfTheHead(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "2010", "2011", "2012"}, {"Norway", "49.4", "94.8", "69.5"}, {"Estonia", "98.9", "43.8", "38.3"}, {"Catalonia", "71.0", "52.4", "40.5"}, {"Lower Saxony", "55.9", "39.2", "83.1"}}
	lines := append([]layout.Line{at(260, 81, 10, "Sheet1")}, sheet(100, 13, four, rows...)...)
	rowsAre(t, text(lines...), lined(rows)...)
}

// A name may be over two columns, with its middle between their numbers. One above names in its own column is not.
func TestText_putsNamesOverTheColumnsTheyAreBetween(t *testing.T) {
	t.Parallel()
	ends := []float64{60, 240, 310, 380, 450}
	row := func(y float64, texts ...string) (out []layout.Line) {
		for i, text := range texts {
			l := at(60, y, 10, text)
			if wide := l.Box.X1 - l.Box.X0; i > 0 {
				l.Box.X0, l.Box.X1 = ends[i]-wide, ends[i]
			}
			if text != "" {
				out = append(out, l)
			}
		}
		return out
	}
	middle := func(y, x float64, words string) layout.Line {
		l := at(0, y, 10, words)
		wide := l.Box.X1 - l.Box.X0
		l.Box.X0, l.Box.X1 = x-wide/2, x+wide/2
		return l
	}
	lines := []layout.Line{middle(100, 245, "Earnings"), middle(100, 385, "Index")}
	lines = slices.Concat(lines, row(113, "Country", "2010", "2011", "2012", "2013"), row(126, "Norway", "137.3", "374.0", "313.1", "133.4"), row(139, "Malta", "949.7", "881.7", "605.3", "301.3"), row(152, "Peru", "109.8", "746.4", "609.0", "690.6"))
	rowsAre(t, text(lines...), "Country | Earnings |  | Index", "2010 | 2011 | 2012 | 2013", "Norway | 137.3 | 374.0 | 313.1 | 133.4", "Malta | 949.7 | 881.7 | 605.3 | 301.3", "Peru | 109.8 | 746.4 | 609.0 | 690.6")
}

// Dots lead to amounts in a table, and to rising page numbers in a table of contents.
func TestText_findsTablesWithLeaders(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "2010", "2011"}, {"Austria", "12.4", "27.8"}, {"Luxembourg", "672.3", "95.2"}, {"Malta", "485.0", "806.4"}, {"Estonia", "395.1", "565.5"}}
	led := slices.Clone(rows)
	for i := range led[1:] {
		led[i+1] = append([]string{rows[i+1][0] + strings.Repeat(" .", 12)}, rows[i+1][1:]...)
	}
	rowsAre(t, text(sheet(100, 13, []float64{60, 240, 320}, led...)...), lined(rows)...)
}
