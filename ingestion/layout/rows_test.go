package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// stack sets the lines of a cell below one another, with their middle at y.
func stack(x, y, leading float64, lines ...string) (out []layout.Line) {
	for i, line := range lines {
		out = append(out, at(x, y+leading*(float64(i)-float64(len(lines)-1)/2), 10, line))
	}
	return out
}

// centredTable sets rows whose cells are at the middle of their row, with space between rows. It returns what the rows are.
func centredTable(leading, space float64, xs []float64, rows ...[][]string) (lines []layout.Line, want []string) {
	y := 100.0
	for _, row := range rows {
		most, texts := 0, make([]string, len(row))
		for c, cell := range row {
			most, texts[c] = max(most, len(cell)), strings.Join(cell, " ")
		}
		y += leading * float64(most-1) / 2
		for c, cell := range row {
			lines = append(lines, stack(xs[c], y, leading, cell...)...)
		}
		y += leading*float64(most-1)/2 + leading + space
		want = append(want, strings.TrimSpace(strings.Join(texts, " | ")))
	}
	return lines, want
}

// Cells of several lines may be set at the middle of their row, beside cells of one line or of another number of them.
func TestText_joinsCellsAtTheMiddleOfTheirRow(t *testing.T) {
	t.Parallel()
	one := func(words string) []string { return []string{words} }
	head := [][]string{one("Year"), one("Rule"), one("Limit")}
	tables := map[string][][][]string{
		"names of two lines":       {head, {one("1999"), one("Old"), one("110")}, {{"2004 (before", "June 4)"}, one("Old"), one("124")}, {{"2004 (after", "June 3)"}, one("New"), one("124")}, {one("2005"), one("New"), one("127")}},
		"the first row of three":   {head, {{"2004", "(after", "June 3)"}, one("New"), one("124")}, {one("2005"), one("New"), one("127")}, {one("2006"), one("New"), one("131")}},
		"no head":                  {{{"2004", "(after", "June 3)"}, one("New"), one("124")}, {one("2005"), one("New"), one("127")}, {one("2006"), one("New"), one("131")}},
		"rules of two and three":   {head, {one("1999"), {"Residents who left", "the country"}, one("110")}, {one("2004"), {"Residents and others", "who had left the", "country before"}, one("124")}, {one("2005"), one("Everyone"), one("127")}},
		"two beside three":         {head, {{"From 1998", "to 1999"}, {"Residents who left", "the country for", "good"}, one("110")}, {one("2004"), {"Residents and others", "who had left"}, one("124")}, {one("2005"), one("Everyone"), one("127")}},
		"names without small type": {head, {{"Upper Volta", "Burkina Faso"}, one("Old"), one("110")}, {one("Togo"), {"Signed", "Ratified"}, one("124")}, {{"Lower Saxony", "Hannover"}, one("New"), one("127")}},
	}
	xs := []float64{60, 180, 330}
	for name, rows := range tables {
		for _, leading := range []float64{10, 11.5, 13} {
			for _, space := range []float64{1, 3, 8} {
				t.Run(fmt.Sprintf("%s, %v + %v", name, leading, space), func(t *testing.T) {
					lines, want := centredTable(leading, space, xs, rows...)
					rowsAre(t, text(lines...), want...)
					rowsAre(t, text(byRow(lines)...), want...)
					if name == "no head" {
						return
					}
					box := []layout.Box{level(97, 55, 420), level(105+(leading+space)/2, 55, 420)}
					rowsAre(t, withRules(box, lines...), want...)
				})
			}
		}
	}
}

// Rows of two lines may seem to be rows of one and three, with their cells in the middle.
func TestText_keepsCellsAtTheTopOfTheirRow(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Teats", "Boars have at least twelve teats to pass on", "Herd"}, {"", "this characteristic", ""}, {"Descent", "Boars come from sows that wean ten piglets", "Sow"}, {"", "and are good mothers", ""}, {"Years", "Boars must be eight months old", "Age"}}
	rowsAre(t, text(sheet(100, 14, []float64{60, 120, 400}, rows...)...), "Teats | Boars have at least twelve teats to pass on this characteristic | Herd",
		"Descent | Boars come from sows that wean ten piglets and are good mothers | Sow", "Years | Boars must be eight months old | Age")
}

// A name at the middle of several rows is no row.
func TestText_keepsRowsBesideANameAtTheirMiddle(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 140, 260, 340}
	head := cells(100, xs, "Kind", "Way", "2019", "2020")
	names := [][]string{{"BM25", "DPR", "Both"}, {"Own", "Other", "All"}}
	lines, want := head, []string{"Kind | Way | 2019 | 2020"}
	for i, kind := range []string{"Single", "Multi"} {
		y := 114 + 42*float64(i)
		for j, name := range names[i] {
			n := fmt.Sprint(30 + 3*i + j)
			row := []string{"", name, n + ".6", n + ".4"}
			if j == 1 {
				row[0] = kind
			}
			lines = append(lines, cells(y+14*float64(j), xs, row...)...)
			want = append(want, strings.TrimPrefix(strings.TrimSpace(strings.Join(row, " | ")), "| "))
		}
	}
	rowsAre(t, text(lines...), want...)
}

// The names of a head may be so close to one another that the renderer takes them for one line. Each ends where its column ends.
func TestText_dividesNamesOfTheHeadThatAreClose(t *testing.T) {
	t.Parallel()
	ends := []float64{60, 286, 326.2, 366.4, 406.6, 456.3, 496.5, 536.7} // of the columns; the first begins there
	right := func(y float64, from int, texts ...string) (out []layout.Line) {
		for i, text := range texts {
			if text == "" {
				continue
			}
			l := at(0, y, 10, text)
			width := 4.4 * float64(len([]rune(text)))
			l.Box.X0, l.Box.X1 = ends[from+i]-width, ends[from+i]
			out = append(out, l)
		}
		return out
	}
	lines := append([]layout.Line{at(60, 124, 10, "Characteristics")}, right(124, 1, "Neither", "only", "only", "Both", "only", "only", "Both")...)
	lines = append(lines, slices.Concat(right(100, 2, "Under-"), right(100, 5, "Under-"))...)
	for _, from := range []int{2, 5} { // graduate Graduate
		pair := right(112, from, "graduate", "Graduate")
		both := pair[0]
		both.Text, both.Box.X1 = "graduate Graduate", pair[1].Box.X1
		for i := range 8 {
			both.Edges = append(both.Edges, pair[0].Box.X0+4.4*float64(i))
		}
		both.Edges = append(both.Edges, pair[0].Box.X1)
		for i := range 8 {
			both.Edges = append(both.Edges, pair[1].Box.X0+4.4*float64(i))
		}
		lines = append(lines, both)
	}
	want := []string{"Characteristics | Neither | Undergraduate only | Graduate only | Both | Undergraduate only | Graduate only | Both"}
	for i, name := range []string{"Total", "Public", "Private", "Others"} {
		var row []string
		for c := range 7 {
			row = append(row, fmt.Sprintf("%d.%d", 20+i+c, c))
		}
		y := 140 + 14*float64(i)
		lines = append(append(lines, at(60, y, 10, name)), right(y, 1, row...)...)
		want = append(want, name+" | "+strings.Join(row, " | "))
	}
	rowsAre(t, text(lines...), want...)
}

// Lines that all begin with small letters or with the rest of a word continue the row above, also in a head and if all cells have one.
func TestText_joinsLinesWithSmallLetters(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 160, 260, 360}
	for _, rows := range [][][]string{
		{{"Therapy", "", "Suffered", "Followed"}, {"", "", "from", "treatment"}, {"Acupuncture", "Count", "19", "4"}, {"Homeopathy", "Count", "7", "7"}, {"Massage", "Count", "10", "1"}},
		{{"Category", "Approach", "Test", "Action"}, {"Human Function-", "Capability Ap-", "Check if it", "Choose what"}, {"ing", "proach", "expands or", "expands free-"}, {"", "", "contracts", "dom"}, {"Character", "Virtue Ethics", "Publicity Test", "Do what is right"}},
	} {
		want := [][]string{}
		for i, row := range rows {
			n := len(want)
			if i == 0 || row[0] != "" && strings.ToUpper(row[0][:1]) == row[0][:1] {
				want = append(want, slices.Clone(row))
				continue
			}
			for c, cell := range row {
				if cell == "" {
					continue
				}
				if stem, ok := strings.CutSuffix(want[n-1][c], "-"); ok {
					want[n-1][c] = stem + cell
				} else {
					want[n-1][c] += " " + cell
				}
			}
		}
		var texts []string
		for _, row := range want {
			texts = append(texts, strings.Join(row, " | "))
		}
		for _, pitch := range []float64{12, 14} {
			rowsAre(t, text(sheet(100, pitch, xs, rows...)...), texts...)
			rowsAre(t, withRules([]layout.Box{level(98, 55, 440), level(float64(101+len(rows))*pitch, 55, 440)}, sheet(100, pitch, xs, rows...)...), texts...)
		}
	}
}

// In a table of small letters each line is a row.
func TestText_keepsRowsOfSmallLettersApart(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Word", "Class", "Rank"}, {"apple", "noun", "12"}, {"green", "adjective", "14"}, {"to grow", "verb", "15"}}
	rowsAre(t, text(sheet(100, 12, []float64{60, 160, 260}, rows...)...), "Word | Class | Rank", "apple | noun | 12", "green | adjective | 14", "to grow | verb | 15")
	for i := range rows {
		rows[i][2] = strings.Repeat("x", 3+i)
	}
	rows[0][2] = "Mark"
	rowsAre(t, text(sheet(100, 12, []float64{60, 160, 260}, rows...)...), "Word | Class | Mark", "apple | noun | xxxx", "green | adjective | xxxxx", "to grow | verb | xxxxxx")
}

// Word processors shade each line of a cell: the edges between these grounds are no rules.
func TestText_joinsLinesOfACellOnGroundsOfTheirOwn(t *testing.T) {
	t.Parallel()
	rows := [][][]string{
		{{"Treatment"}, {"", ""}, {"Suffered", "from"}, {"Followed", "treatment"}},
		{{"Allergy"}, {"Count"}, {"93"}, {"77"}},
		{{"Chronic", "fatigue"}, {"Count"}, {"19"}, {"4"}},
		{{"Asthma"}, {"Share"}, {"31"}, {"22"}},
	}
	xs := []float64{57.5, 147.5, 227.5, 307.5, 387.5}
	var lines []layout.Line
	var rules []layout.Box
	box := func(x0, y0, x1, y1 float64) {
		rules = append(rules, level(y0, x0, x1), level(y1, x0, x1), upright(x0, y0, y1), upright(x1, y0, y1))
	}
	y := 97.3
	for _, row := range rows {
		high := 27.1
		for c, cell := range row {
			box(xs[c], y, xs[c+1]-1.5, y+high)
			for i, words := range cell {
				top := y + 1.6 + 10.3*float64(i)
				box(xs[c]+0.8, top, xs[c+1]-2.3, top+10.3)
				if words != "" {
					lines = append(lines, at(xs[c]+6, top+0.5, 9, words))
				}
			}
		}
		y += high + 1.5
	}
	rowsAre(t, withRules(rules, lines...), "Treatment |  | Suffered from | Followed treatment", "Allergy | Count | 93 | 77", "Chronic fatigue | Count | 19 | 4", "Asthma | Share | 31 | 22")
}

// Rules divide rows, whatever number of lines their cells have, and a name in a head may be over others that are in a row of their own.
func TestText_keepsCellsAtTheMiddleBetweenRules(t *testing.T) {
	t.Parallel()
	xs, ys := []float64{60, 160, 260, 360, 460}, []float64{100, 120, 150, 170, 190}
	var rules []layout.Box
	for i, y := range ys {
		from := xs[0]
		if i == 1 {
			from = xs[1]
		}
		rules = append(rules, level(y, from, xs[4]))
	}
	for i, x := range xs {
		top := ys[1]
		if i < 2 || i == 4 {
			top = ys[0]
		}
		rules = append(rules, upright(x, top, ys[4]))
	}
	lines := slices.Concat([]layout.Line{at(70, 119, 9, "Symptoms"), at(200, 105, 9, "How often do you have these symptoms")},
		stack(170, 130, 10.4, "At least every", "week"), stack(270, 130, 10.4, "About every", "month"), stack(370, 130, 10.4, "Rarely/Never"),
		sheet(155, 20, []float64{70, 170, 270, 370}, []string{"Headache", "12.1", "20.4", "67.5"}, []string{"Backache", "10.3", "14.2", "75.5"}))
	rowsAre(t, withRules(rules, lines...), "Symptoms | How often do you have these symptoms", "At least every week | About every month | Rarely/Never", "Headache | 12.1 | 20.4 | 67.5", "Backache | 10.3 | 14.2 | 75.5")
}

// A justified line may come in pieces, of which the last ends where the next line does.
func TestText_joinsJustifiedLinesOfACell(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 160, 300}
	lines := sheet(100, 12, xs, []string{"Category", "Test", "Action"}, []string{"Character", "Publicity", "Do what is right"}, []string{"Function", "Check if action", "Choose that action"},
		[]string{"", "", "that expands free-"}, []string{"", "tracts substantive", "dom and secures"})
	lines = append(lines, at(160, 136, 10, "expands"), at(205, 136, 10, "or"), at(230, 136, 10, "con-"))
	rowsAre(t, text(lines...), "Category | Test | Action", "Character | Publicity | Do what is right", "Function | Check if action expands or contracts substantive | Choose that action that expands freedom and secures")
}

// The rule below a head may be drawn in pieces. They are of no name.
func TestText_joinsNamesAboveARuleInPieces(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 130, 200, 270, 340, 410}
	var rules []layout.Box
	for _, y := range []float64{98, 138, 152, 166} {
		rules = append(rules, level(y, 60, 130), level(y, 130, 270), level(y, 270, 410))
	}
	for _, x := range xs {
		rules = append(rules, upright(x, 98, 166))
	}
	lines := sheet(100, 12, []float64{64, 134, 204, 274, 344}, []string{"Number", "Subject", "Method of", "Supplier", "Date"}, []string{"", "", "purchase", "", "signed"}, []string{"", "", "", "", "Mm/yy"})
	lines = append(lines, sheet(140, 14, []float64{64, 134, 204, 274, 344}, []string{"a", "Pickups", "Tender", "Motors Ltd", "April"}, []string{"b", "Buses", "Order", "Western Inc", "May"})...)
	rowsAre(t, withRules(rules, lines...), "Number | Subject | Method of purchase | Supplier | Date signed Mm/yy", "a | Pickups | Tender | Motors Ltd | April", "b | Buses | Order | Western Inc | May")
}
