package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// withRules is the text of a page with drawn lines.
func withRules(rules []layout.Box, lines ...layout.Line) string {
	page := layout.Page{Width: 600, Height: 800, Lines: lines, Rules: rules}
	_, markdown := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	return markdown
}

// cells sets a row of cells at x, each in its column; empty ones are left out. Numbers end where their column ends.
func cells(y float64, xs []float64, row ...string) []layout.Line {
	var out []layout.Line
	for i, cell := range row {
		if cell == "" {
			continue
		}
		l := at(xs[i], y, 10, cell)
		if strings.Trim(cell, "0123456789.,()%") == "" {
			wide := l.Box.X1 - l.Box.X0
			l.Box.X0, l.Box.X1 = xs[i]+40-wide, xs[i]+40
		}
		out = append(out, l)
	}
	return out
}

// sheet sets rows of cells, one below the other.
func sheet(y, pitch float64, xs []float64, rows ...[]string) (out []layout.Line) {
	for i, row := range rows {
		out = append(out, cells(y+float64(i)*pitch, xs, row...)...)
	}
	return out
}

func level(y, x0, x1 float64) layout.Box   { return layout.Box{X0: x0, Y0: y, X1: x1, Y1: y} }
func upright(x, y0, y1 float64) layout.Box { return layout.Box{X0: x, Y0: y0, X1: x, Y1: y1} }

// rowsAre fails unless these are the rows of the one table in the text, without their outer bars.
func rowsAre(t *testing.T, got string, want ...string) {
	t.Helper()
	var rows []string
	for line := range strings.Lines(got) {
		if row := strings.TrimSpace(line); strings.HasPrefix(row, "|") && !strings.Contains(row, "| --") {
			rows = append(rows, strings.TrimSpace(strings.Trim(row, "| ")))
		}
	}
	if strings.Count(got, "\n| --") != 1 || !slices.Equal(rows, want) {
		t.Errorf("got\n%s\nwant one table with\n%s", got, strings.Join(want, "\n"))
	}
}

var four = []float64{60, 200, 280, 360}

// Rules may divide the head's columns and not the body's, the columns and not the rows, or only some of both.
func TestText_findsCellsThatNoRuleDivides(t *testing.T) {
	t.Parallel()
	head, body := []string{"Country", "Own", "Other", "All"}, [][]string{{"Austria", "92.9", "7.1", "5,821"}, {"Belgium", "0", "0", "5,906"}, {"Estonia", "86.8", "", "114"}, {"Total", "179.7", "7.1", "11,841"}}
	lines := sheet(100, 16, four, append([][]string{head}, body...)...)
	want := []string{"Country | Own | Other | All", "Austria | 92.9 | 7.1 | 5,821", "Belgium | 0 | 0 | 5,906", "Estonia | 86.8 |  | 114", "Total | 179.7 | 7.1 | 11,841"}
	var levels, uprights []layout.Box
	for i := range 6 {
		levels = append(levels, level(98+16*float64(i), 55, 440))
	}
	for _, x := range []float64{55, 190, 270, 350, 440} {
		uprights = append(uprights, upright(x, 98, 178))
	}
	short := func(x float64) layout.Box { return upright(x, 98, 114) }
	double := slices.Clone(uprights)
	for _, x := range []float64{185, 196, 265, 276} { // shaded paragraphs in the head's cells
		double = append(double, upright(x, 100, 112))
	}
	for name, rules := range map[string][]layout.Box{
		"all rules":              slices.Concat(levels, uprights),
		"upright ones in head":   append(slices.Clone(levels), short(55), short(190), short(270), short(350), short(440)),
		"level ones around head": append(slices.Clone(uprights), levels[0], levels[1], levels[5]),
		"double ones":            append(double, levels[0], levels[1], levels[5]),
		"two columns in one":     append(slices.Clone(levels), uprights[0], uprights[1], uprights[3], uprights[4]),
		"level ones only":        {levels[0], levels[1], levels[5]},
		"a head's only":          {levels[1]},
		"none":                   nil,
	} {
		t.Run(name, func(t *testing.T) { rowsAre(t, withRules(rules, lines...), want...) })
	}
}

// A row with few numbers is a row: its numbers are not those of the row above.
func TestText_keepsSparseRowsApart(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "2009", "2010", "2011"}, {"Rent", "1,200", "", "1,300"}, {"", "", "40", ""}, {"Food", "", "310", ""}, {"", "12", "", ""}, {"Fuel", "90", "95", "99"}}
	rowsAre(t, withRules([]layout.Box{level(98, 55, 410), level(112, 55, 410), level(186, 55, 410)}, sheet(100, 14, four, rows...)...),
		"Item | 2009 | 2010 | 2011", "Rent | 1,200 |  | 1,300", "40", "Food |  | 310", "12", "Fuel | 90 | 95 | 99")
}

// The space below a head says nothing about the rows, whatever the leading, and neither does that above a sum.
func TestText_keepsRowsOfEqualDistanceApart(t *testing.T) {
	t.Parallel()
	xs := []float64{50, 110, 340, 420, 500}
	rows := [][]string{{"01.03.", "Opening balance", "", "", "1,000.00"}, {"02.03.", "Rent March", "650.00", "", "350.00"}, {"", "for 4 Mill Lane", "", "", ""}, {"05.03.", "Salary Timber Works", "", "2,400.00", "2,750.00"}, {"07.03.", "Card payment Oslo", "140.70", "", "2,609.30"}, {"", "20.11. 14:32 card 1234", "", "", ""}, {"31.03.", "Closing balance", "", "", "2,609.30"}}
	want := []string{"Date | Text | Debit | Credit | Balance", "01.03. | Opening balance |  |  | 1,000.00", "02.03. | Rent March for 4 Mill Lane | 650.00 |  | 350.00", "05.03. | Salary Timber Works |  | 2,400.00 | 2,750.00", "07.03. | Card payment Oslo 20.11. 14:32 card 1234 | 140.70 |  | 2,609.30", "31.03. | Closing balance |  |  | 2,609.30"}
	for _, pitch := range []float64{11, 12, 13, 14, 16} {
		for _, below := range []float64{0, 3, 8} {
			for _, above := range []float64{0, 4} { // the last row
				lines := cells(100, xs, "Date", "Text", "Debit", "Credit", "Balance")
				lines = append(lines, sheet(100+pitch+below, pitch, xs, rows[:6]...)...)
				lines = append(lines, cells(100+7*pitch+below+above, xs, rows[6]...)...)
				rowsAre(t, text(lines...), want...)
			}
		}
	}
}

// A line alone, indented more than the rows around it, continues the name above.
func TestText_joinsNamesThatHang(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Name", "District", "2019", "2020", "2021"}, {"Anna Berg", "North", "1,200", "", "1,400"}, {"Bob Carlsen", "South", "", "900", "950"}, {"Cecilia de la", "East", "300", "310", ""}, {"Fuente", "", "", "", ""}, {"Dag Hammer", "West", "", "", "77"}, {"Eva Li", "North", "5", "6", "7"}}
	lines := sheet(100, 14, []float64{60, 200, 300, 380, 460}, rows...)
	for i := range lines {
		if lines[i].Text == "Fuente" {
			lines[i].Box.X0, lines[i].Box.X1 = lines[i].Box.X0+6, lines[i].Box.X1+6
		}
		if lines[i].Box.Y0 > 100 {
			lines[i].Box.Y0, lines[i].Box.Y1 = lines[i].Box.Y0+4, lines[i].Box.Y1+4
		}
	}
	rules := []layout.Box{level(98, 55, 530), level(114, 55, 530), level(202, 55, 530)}
	rowsAre(t, withRules(rules, lines...), "Name | District | 2019 | 2020 | 2021", "Anna Berg | North | 1,200 |  | 1,400", "Bob Carlsen | South |  | 900 | 950", "Cecilia de la Fuente | East | 300 | 310", "Dag Hammer | West |  |  | 77", "Eva Li | North | 5 | 6 | 7")
}

// What stands above the head of an invoice, in labels and values, is no part of its table.
func TestText_keepsLabelsOutOfTheTableBelow(t *testing.T) {
	t.Parallel()
	for _, between := range []float64{0, 10} {
		lines := sheet(100, 14, []float64{30, 120}, []string{"Date:", "20 November 2026"}, []string{"Due:", "20 December 2026"}, []string{"Customer:", "Ada Lovelace, London"})
		xs := []float64{30, 90, 310, 390, 480}
		lines = append(lines, cells(142+between, xs, "Pos", "Description", "Qty", "Unit price", "Amount")...)
		lines = append(lines, sheet(158+between, 14, xs, []string{"1", "Oak plank 20 x 200 mm", "12", "45.00", "540.00"}, []string{"2", "Steel beam HEB 140", "3", "310.50", "931.50"}, []string{"", "galvanised, 6 m", "", "", ""}, []string{"3", "Transport", "1", "120.00", "120.00"})...)
		lines = append(lines, sheet(158+between+4*14+6, 14, xs, []string{"", "", "", "Net", "1,591.50"}, []string{"", "", "", "VAT 25 %", "397.88"}, []string{"", "", "", "Total EUR", "1,989.38"})...)
		got := text(lines...)
		for _, want := range []string{"Pos | Description | Qty | Unit price | Amount |", "1 | Oak plank 20 x 200 mm | 12 | 45.00 | 540.00 |", "2 | Steel beam HEB 140 galvanised, 6 m | 3 | 310.50 | 931.50 |", "3 | Transport | 1 | 120.00 | 120.00 |", " |  |  | VAT 25 % | 397.88 |"} {
			if !strings.Contains(got, "\n| "+want) {
				t.Errorf("with %v between them:\n%s\nwant %s", between, got, want)
			}
		}
	}
}

// Several lines in the first cells of a row are no column of prose beside another.
func TestText_keepsRowsOfWrappedCells(t *testing.T) {
	t.Parallel()
	xs := []float64{78, 188, 398, 468}
	row := func(y float64, owner, cost string, cell ...[]string) (lines []layout.Line) {
		for c, texts := range cell {
			for i, line := range texts {
				l := at(xs[c], y+12*float64(i), 10, line)
				l.Box.X1 = l.Box.X0 + 4.6*float64(len(line))
				lines = append(lines, l)
			}
		}
		return append(lines, at(xs[2], y, 10, owner), at(xs[3], y, 10, cost))
	}
	for _, space := range []float64{1, 6, 10} {
		lines := append(row(100, "Owner", "Cost", []string{"Risk"}, []string{"What we do about it"}),
			row(112+space, "Anna", "12,000", []string{"Supplier goes", "bankrupt in the middle", "of the project"}, []string{"Keep a second supplier under contract and", "pay a retainer of ten percent each year"})...)
		lines = append(lines, row(148+2*space, "Bob", "3,500", []string{"Storm"}, []string{"Insurance"})...)
		lines = append(lines, row(160+3*space, "Cecilia", "0", []string{"Key person leaves"}, []string{"Write down what they know; train a deputy;", "keep the notes in the common vault so that", "everybody finds them"})...)
		lines = append([]layout.Line{at(78, 80, 10, "The committee met three times in spring and wrote down the risks that it could think of.")}, lines...)
		rowsAre(t, withRules([]layout.Box{level(110+space/2, 72, 522)}, lines...), "Risk | What we do about it | Owner | Cost",
			"Supplier goes bankrupt in the middle of the project | Keep a second supplier under contract and pay a retainer of ten percent each year | Anna | 12,000",
			"Storm | Insurance | Bob | 3,500", "Key person leaves | Write down what they know; train a deputy; keep the notes in the common vault so that everybody finds them | Cecilia | 0")
	}
}

// Renderers take cells that blanks divide for one line.
func TestText_dividesLinesWithWideGaps(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for i, row := range []string{"Salaries    1,314,000      373,250", "Rent        1,170,000      150,000", "Telephone     109,400       55,000"} {
		l := at(60, 100+14*float64(i), 10, row)
		l.Font = "Courier"
		l.Box.X1 = l.Box.X0 + 6*float64(len(row))
		lines = append(lines, l)
	}
	rowsAre(t, text(lines...), "Salaries | 1,314,000 | 373,250", "Rent | 1,170,000 | 150,000", "Telephone | 109,400 | 55,000")
}

// Names over several columns go into the first of them, and the names below them into another row.
func TestText_readsHeadsOfSeveralRows(t *testing.T) {
	t.Parallel()
	lines := append(sheet(142, 14, four, []string{"Headache", "239", "119", "128"}, []string{"Stress", "78", "120", "284"}, []string{"Back pain", "139", "126", "219"}),
		at(215, 100, 10, "How often do you have these things"), at(60, 112, 10, "Symptom"), at(200, 112, 10, "Every"), at(280, 112, 10, "Every"), at(200, 124, 10, "week"), at(280, 124, 10, "month"), at(360, 124, 10, "Rarely"))
	for name, rules := range map[string][]layout.Box{"with rules": {level(98, 55, 410), level(111, 195, 410), level(138, 55, 410), level(186, 55, 410)}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			rowsAre(t, withRules(rules, lines...), "Symptom | How often do you have these things", "Every week | Every month | Rarely", "Headache | 239 | 119 | 128", "Stress | 78 | 120 | 284", "Back pain | 139 | 126 | 219")
		})
	}
}

// Titles of sections are rows of their own, and no end of the table.
func TestText_keepsSectionsInTheirTable(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(sheet(100, 12, four, []string{"Kind", "2009", "2010", "2011"}, []string{"Total", "44.8", "33.2", "23.2"}),
		cells(133, four, "Kind of school"), sheet(145, 12, four, []string{"Public", "44.4", "31.2", "25.5"}, []string{"Private", "45.9", "36.6", "20.3"}),
		cells(178, four, "Subject studied there"), sheet(190, 12, four, []string{"Education", "34.3", "23.0", "37.4"}, []string{"Other", "47.4", "28.1", "21.6"}))
	rowsAre(t, text(lines...), "Kind | 2009 | 2010 | 2011", "Total | 44.8 | 33.2 | 23.2", "Kind of school", "Public | 44.4 | 31.2 | 25.5", "Private | 45.9 | 36.6 | 20.3",
		"Subject studied there", "Education | 34.3 | 23.0 | 37.4", "Other | 47.4 | 28.1 | 21.6")
}

// A name of two lines is in one row with its numbers, wherever these are: at its first line, its last, or between.
func TestText_joinsNamesOfTwoLines(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]float64{"first": 0, "between": 6, "last": 12} {
		var lines []layout.Line
		for i, row := range [][]string{{"Household inequality", "as an index", "0.4", "0.5", "0.6"}, {"Inequality of health", "of adults only", "7.1", "7.2", "7.3"}, {"Years of life that are", "lost before age 75", "0.7", "0.8", "0.9"}} {
			y := 100 + 30*float64(i)
			lines = append(lines, at(60, y, 10, row[0]), at(60, y+12, 10, row[1]))
			lines = append(lines, cells(y+down, four, append([]string{""}, row[2:]...)...)...)
		}
		t.Run(name, func(t *testing.T) {
			rowsAre(t, text(lines...), "Household inequality as an index | 0.4 | 0.5 | 0.6", "Inequality of health of adults only | 7.1 | 7.2 | 7.3", "Years of life that are lost before age 75 | 0.7 | 0.8 | 0.9")
		})
	}
}

// What is beside other text by chance is no table.
func TestText_makesNoTablesOfProse(t *testing.T) {
	t.Parallel()
	words := strings.Fields("the committee met again in spring and found that nobody had read what it wrote about wages or the cost of bread in towns")
	var columns, spaced, beside []layout.Line
	for i := range 12 {
		y := 100 + 13*float64(i)
		for c, x := range []float64{60, 320} {
			line := strings.Join(append(slices.Clone(words[(i+5*c)%15:]), words...)[:7], " ")
			if i%5 == 0 {
				line = strings.ToUpper(line[:1]) + line[1:]
			}
			columns = append(columns, at(x, y+5*float64(c), 10, line))
		}
		beside = append(beside, columns[len(columns)-1])
		if i%2 == 0 {
			beside = append(beside, at(60+float64(i*7%50), y+5, 10, fmt.Sprint(10*i)))
		}
	}
	for i, row := range []string{"words set far apart .", "so that lines be full ,", "as in narrow columns of"} {
		x := 60.0
		for j, word := range strings.Fields(row) {
			spaced = append(spaced, at(x, 100+13*float64(i), 10, word))
			x += 5*float64(len(word)) + 12 + float64(i*(j+1)*3%11)
		}
	}
	figure := []layout.Line{at(80, 100, 9, "Item 1"), at(250, 112, 9, "Domain"), at(80, 128, 9, "Item 2"), at(400, 128, 9, "General"), at(250, 128, 9, "one"), at(410, 141, 9, "notion"), at(80, 160, 9, "Item 3"), at(252, 165, 9, "Domain"), at(190, 160, 9, "two")}
	boxes := []layout.Line{at(60, 100, 10, "□"), at(90, 100, 10, "I have read it"), at(60, 114, 10, "□"), at(90, 114, 10, "I agree with it"), at(60, 128, 10, "□"), at(90, 128, 10, "I did not see it")}
	for name, lines := range map[string][]layout.Line{"columns": columns, "words": spaced, "a figure beside": beside, "a figure": figure, "boxes to tick": boxes} {
		if got := text(lines...); strings.Contains(got, "| --") {
			t.Errorf("%s became a table:\n%s", name, got)
		}
	}
}

// Notes below a table are close to it, and have words wherever its columns have gaps.
func TestText_endsTablesBeforeNotes(t *testing.T) {
	t.Parallel()
	var rows [][]string
	for i := range 14 {
		rows = append(rows, []string{fmt.Sprintf("Loan %d", i), fmt.Sprint(100 + i), fmt.Sprint(200 + i), fmt.Sprint(300 + i)})
	}
	lines := sheet(100, 12, four, rows...)
	for i := range 6 {
		x := 60.0
		for j := range 9 {
			word := strings.Repeat("n", 3+(i+2*j)%5) + " of it"
			lines = append(lines, at(x, 268+12*float64(i), 10, word))
			x += 5*float64(len(word)) + 6
		}
	}
	got := text(lines...)
	if !strings.Contains(got, "| Loan 13 | 113 | 213 | 313 |") || strings.Count(got, "\n|") != 14 {
		t.Errorf("got\n%s", got)
	}
}

// Programs shade the paragraphs within cells, and a cell of many lines is one cell.
func TestText_takesShadedParagraphsForNoCells(t *testing.T) {
	t.Parallel()
	xs, ys := []float64{55, 130, 210, 440}, []float64{95, 125, 200, 250}
	var rules []layout.Box
	var lines []layout.Line
	for r := range 3 {
		for c := range 3 {
			rules = append(rules, level(ys[r], xs[c], xs[c+1]), level(ys[r+1], xs[c], xs[c+1]), upright(xs[c], ys[r], ys[r+1]), upright(xs[c+1], ys[r], ys[r+1]))
			for y := ys[r]; y+12 < ys[r+1]; y += 12 { // a box around each line
				rules = append(rules, level(y, xs[c]+5, xs[c+1]-5), level(y+12, xs[c]+5, xs[c+1]-5), upright(xs[c]+5, y, y+12), upright(xs[c+1]-5, y, y+12))
			}
		}
	}
	for y, text := range map[float64][3]string{
		96: {"No.", "Date of", "Action taken"}, 108: {"", "report", "there"}, 126: {"", "", "Cases of it were reported from a village,"},
		138: {"", "", "and a team went there. Cases were treated"}, 150: {"46", "10/11/13", "at the health centre. Samples were taken of"}, 162: {"", "", "the water and sent away. It was not safe,"},
		174: {"", "", "and was treated. All were told to boil it."}, 213: {"34", "12/11/13", "None of them were found when the team"}, 225: {"", "", "searched all of the houses."},
	} {
		for c, cell := range text {
			if cell != "" {
				lines = append(lines, at(xs[c]+6, y, 10, cell))
			}
		}
	}
	rowsAre(t, withRules(rules, lines...), "No. | Date of report | Action taken there",
		"46 | 10/11/13 | Cases of it were reported from a village, and a team went there. Cases were treated at the health centre. Samples were taken of the water and sent away. It was not safe, and was treated. All were told to boil it.",
		"34 | 12/11/13 | None of them were found when the team searched all of the houses.")
}

// Numbers in tables of programs' output are tables too; the rest stays a listing.
func TestText_readsTypedTables(t *testing.T) {
	t.Parallel()
	typed := func(rows ...string) (lines []layout.Line) {
		for i, row := range rows {
			l := at(60, 100+13*float64(i), 10, row)
			l.Font, l.Box.X1 = "Courier", 60+6*float64(len(row))
			lines = append(lines, l)
		}
		return lines
	}
	rowsAre(t, text(typed(
		"Proportion        1.0    1.1    1.2",
		"-----------------------------------",
		"0.99 ..........   800    880    960",
		"0.95 ..........   160    176    192",
		"0.56-0.90 .....    80     88     96",
		"0.50 .......... 1,080  1,120  1,280",
	)...),
		"Proportion | 1.0 | 1.1 | 1.2", "0.99 | 800 | 880 | 960", "0.95 | 160 | 176 | 192", "0.56-0.90 | 80 | 88 | 96", "0.50 | 1,080 | 1,120 | 1,280")
	if got := text(typed("func add(a, b int) int {", "    sum := a + b     // of both", "    count += 1       // of calls", "    return sum       // as asked", "}")...); !strings.HasPrefix(got, "```") {
		t.Errorf("a program:\n%s", got)
	}
}

// What does not add up, or has several numbers in one cell, is doubtful; averages and other kinds of totals are not.
func TestTextAfter_doubtsTables(t *testing.T) {
	t.Parallel()
	rows := func(last ...string) [][]string {
		return append([][]string{{"Kind", "2009", "2010", "2011"}, {"Rent", "120", "130", "1,401"}, {"Food", "310", "290", "305"}, {"Fuel", "90", "95", "99"}}, last)
	}
	wide := func(last ...string) [][]string {
		return [][]string{{"Item", "A", "B", "C", "D"}, {"Rent", "100", "100", "100", "100"}, {"Food", "50", "60", "70", "80"}, {"Bus", "10", "10", "10", "10"}, last}
	}
	for name, c := range map[string]struct {
		rows [][]string
		want string
	}{
		"adds up":             {rows("Total", "520", "515", "1,805"), ""},
		"one column does not": {rows("Total", "520", "515", "1,205"), "a total of a table does not fit the numbers of its column"},
		"another kind":        {rows("Total", "900", "871", "2,205"), ""},
		"an average beside":   {rows("Total", "520", "515", "602"), ""},
		"two numbers in some": {append(rows("Total", "520", "515", "12 1,805"), []string{"Rest", "1", "2", "15 1,905"}), "the columns of a table are unclear"},
		"a note in some":      {append(rows("Total", "520", "515", "1,805 (2)"), []string{"Rest", "1", "2", "1,905 (1)"}), ""},
		"one far away":        {wide("Total", "160", "999", "180", "190"), "a total of a table does not fit the numbers of its column"},
		"a mean far away":     {wide("Total", "160", "55", "180", "190"), ""},
	} {
		p := layout.Page{Width: 600, Height: 800, Lines: sheet(100, 14, append(four, 440), c.rows...)}
		read := layout.NewProfile([]layout.Page{p}, nil).TextAfter(p, 1, func() *layout.Tail { return nil })
		var got string
		for _, d := range read.Doubts {
			got += d.Words
		}
		if got != c.want || !strings.Contains(read.Markdown, "| Food |") {
			t.Errorf("%s: got doubt %q, want %q:\n%s", name, got, c.want, read.Markdown)
		}
	}
}

// The scale of a diagram is no column, and a line about the whole table no row.
func TestText_leavesWhatIsBesideTables(t *testing.T) {
	t.Parallel()
	diagram := sheet(100, 24, four, []string{"54,000", "", "", "0.50"}, []string{"53,000", "income", "", "0.48"}, []string{"52,000", "", "index", "0.46"}, []string{"51,000", "", "", "0.44"}, []string{"50,000", "", "", "0.42"})
	if got := text(diagram...); strings.Contains(got, "|") {
		t.Errorf("a diagram is a table:\n%s", got)
	}
	kinds := sheet(100, 14, four, []string{"Kind", "2009", "2010", "2011"}, []string{"Rent", "120", "310", "90"}, []string{"Food", "118", "300", "88"}, []string{"Fuel", "115", "290", "85"})
	rowsAre(t, text(append(kinds, at(200, 86, 10, "[In thousands]"))...), "Kind | 2009 | 2010 | 2011", "Rent | 120 | 310 | 90", "Food | 118 | 300 | 88", "Fuel | 115 | 290 | 85")
}

// Names above the rules of a table are its head, and a remark or a caption above its first rule is none of it.
func TestText_takesTheHeadAboveRules(t *testing.T) {
	t.Parallel()
	lines := sheet(120, 16, four, []string{"Austria", "92.9", "7.1", "5,821"}, []string{"Belgium", "0", "0", "5,906"}, []string{"Estonia", "86.8", "13.2", "114"})
	var rules []layout.Box
	for i := range 4 {
		rules = append(rules, level(118+16*float64(i), 55, 440))
	}
	for _, x := range []float64{55, 190, 270, 350, 440} {
		rules = append(rules, upright(x, 118, 166))
	}
	rowsAre(t, withRules(rules, append(cells(104, four, "Country", "Own", "Other", "All"), lines...)...),
		"Country | Own | Other | All", "Austria | 92.9 | 7.1 | 5,821", "Belgium | 0 | 0 | 5,906", "Estonia | 86.8 | 13.2 | 114")
	open := []layout.Box{level(98, 55, 440), level(115, 195, 440), level(130, 55, 440), level(180, 55, 440)}
	got := withRules(open, append(sheet(132, 16, four, []string{"Austria", "92.9", "7.1", "5,821"}, []string{"Belgium", "0", "0", "5,906"}, []string{"Estonia", "86.8", "13.2", "114"}),
		at(200, 84, 10, "as counted in autumn"), at(240, 102, 10, "Share of all of them"), at(60, 118, 10, "Country"), at(200, 118, 10, "Own"), at(280, 118, 10, "Other"), at(360, 118, 10, "All"))...)
	rowsAre(t, got, "Country | Share of all of them", "Own | Other | All", "Austria | 92.9 | 7.1 | 5,821", "Belgium | 0 | 0 | 5,906", "Estonia | 86.8 | 13.2 | 114")
	if !strings.Contains(got, "as counted in autumn\n") {
		t.Errorf("a caption became part of a table:\n%s", got)
	}
}

// A row of dots, as between parts of a figure, has no cells.
func TestText_readsRowsOfDotsAlone(t *testing.T) {
	t.Parallel()
	lines := sheet(100, 14, four, []string{"Area", "2008", "2009", "2010"}, []string{"North", "12", "13", "14"})
	lines = append(lines, at(200, 128, 10, ". . . . . . . ."))
	lines = append(lines, sheet(142, 14, four, []string{"South", "15", "16", "17"}, []string{"West", "18", "19", "20"})...)
	if got := text(lines...); !strings.Contains(got, "West") {
		t.Errorf("got %q", got)
	}
}

// A column without cells keeps its name, and no other column gets it.
func TestText_keepsNamesOfEmptyColumns(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 180, 300, 420, 500}
	for name, rows := range map[string][][]string{
		"between": {{"Name", "Paid", "Signature", "Owes", "Remark"}, {"Ann Berg", "120.00", "", "0.00", "late"}, {"Bob Dahl", "80.00", "", "40.00", ""}, {"Cid Eide", "0.00", "", "120.00", "moved"}},
		"two":     {{"Name", "Paid", "Signature", "Initials", "Remark"}, {"Ann Berg", "120.00", "", "", "late"}, {"Bob Dahl", "80.00", "", "", ""}, {"Cid Eide", "0.00", "", "", "moved"}},
		"last":    {{"Name", "Paid", "Owes", "", "Signature"}, {"Ann Berg", "120.00", "0.00", "", ""}, {"Bob Dahl", "80.00", "40.00", "", ""}, {"Cid Eide", "0.00", "120.00", "", ""}},
		"words":   {{"Name", "Morning", "Signature", "Evening", ""}, {"Ann Berg", "Kitchen", "", "Garden", ""}, {"Bob Dahl", "Garden", "", "Kitchen", ""}, {"Cid Eide", "Stairs", "", "Hall", ""}},
	} {
		for _, more := range []int{0, 8} {
			all, want := slices.Clone(rows), []string(nil)
			for i := range more {
				all = append(all, []string{fmt.Sprintf("%s Foss", []string{"Dag", "Ed", "Frida", "Gro", "Hans", "Ida", "Jon", "Kari"}[i]), rows[1][1], "", rows[1][3], ""})
			}
			for _, row := range all {
				cells := slices.Clone(row)
				if name == "last" {
					cells = slices.Delete(cells, 3, 4)
				} else if name == "words" {
					cells = cells[:4]
				}
				want = append(want, strings.Join(cells, " | "))
			}
			t.Run(fmt.Sprint(name, more), func(t *testing.T) {
				t.Parallel()
				got := text(sheet(100, 15, xs, all...)...)
				for i, row := range want {
					if !strings.Contains(got, "| "+row+" |") {
						t.Errorf("row %d: no %q in\n%s", i, row, got)
					}
				}
			})
		}
	}
}
