package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

var seven = []float64{60, 140, 200, 260, 320, 380, 440}

// groups sets a head of two rows: names over columns, and these columns' own. The name of the first column is at the height between.
func groups(place func(l *layout.Line, first, last float64), spans [][2]int, names, below []string) []layout.Line {
	lines := []layout.Line{at(60, 106, 10, "Name")}
	for i, span := range spans {
		l := at(0, 100, 10, names[i])
		place(&l, seven[span[0]], seven[span[1]]+40)
		lines = append(lines, l)
	}
	lines = append(lines, cells(112, seven, below...)...)
	for i := len(lines) - 1; lines[i].Box.Y0 == 112; i-- { // at the right, as the numbers
		if l := &lines[i]; !strings.HasPrefix(l.Text, "2") {
			end := l.Box.X0 + 40
			l.Box.X0, l.Box.X1 = end-l.Box.X1+l.Box.X0, end
		}
	}
	return lines
}

func centred(l *layout.Line, first, last float64) {
	half := (l.Box.X1 - l.Box.X0) / 2
	l.Box.X0, l.Box.X1 = (first+last)/2-half, (first+last)/2+half
}

func begun(l *layout.Line, first, _ float64) { l.Box.X0, l.Box.X1 = first, first+l.Box.X1 }

// A name over three or more columns says so by what is below it: years, the names of another group, or names that it is not in line with.
func TestText_findsNamesOverManyColumns(t *testing.T) {
	t.Parallel()
	body := sheet(126, 12, seven, []string{"Ash", "1.5", "2.25", "3", "4", "55", "6"}, []string{"Birch", "7", "8", "9.75", "10", "11", "12"}, []string{"Cedar", "13", "14", "15", "16", "170.5", "18"}, []string{"Elm", "1", "2", "3", "4", "5", "6"})
	rest := []string{"Ash | 1.5 | 2.25 | 3 | 4 | 55 | 6", "Birch | 7 | 8 | 9.75 | 10 | 11 | 12", "Cedar | 13 | 14 | 15 | 16 | 170.5 | 18", "Elm | 1 | 2 | 3 | 4 | 5 | 6"}
	three, all := [][2]int{{1, 3}, {4, 6}}, [][2]int{{1, 6}}
	quarters, years := []string{"", "Low", "Mid", "High", "Low", "Mid", "High"}, []string{"", "2001", "2002", "2003", "2004", "2005", "2006"}
	for name, c := range map[string]struct {
		lines []layout.Line
		want  string
	}{
		"at the middle of three": {groups(centred, three, []string{"Oak", "Elm"}, quarters), "Name | Oak |  |  | Elm"},
		"at their beginning":     {groups(begun, three, []string{"Oak", "Elm"}, quarters), "Name | Oak |  |  | Elm"},
		"over years":             {groups(centred, all, []string{"Trees"}, years), "Name | Trees"},
	} {
		t.Run(name, func(t *testing.T) {
			head := "Low | Mid | High | Low | Mid | High"
			if c.want == "Name | Trees" {
				head = "2001 | 2002 | 2003 | 2004 | 2005 | 2006"
			}
			rowsAre(t, text(append(c.lines, body...)...), append([]string{c.want, head}, rest...)...)
		})
	}
}

// A name of two lines among names of one is no name over the columns beside it.
func TestText_keepsNamesOfTwoLinesTogether(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 160, 260, 360}
	lines := append(cells(100, xs, "", "", "Unit"), cells(112, xs, "Item", "Quantity", "Price", "Total")...)
	lines = append(lines, sheet(126, 14, xs, []string{"Nails", "10", "1.50", "15.00"}, []string{"Screws", "20", "2.25", "45.00"}, []string{"Hinges", "3", "12.00", "36.00"})...)
	rowsAre(t, text(lines...), "Item | Quantity | Unit Price | Total", "Nails | 10 | 1.50 | 15.00", "Screws | 20 | 2.25 | 45.00", "Hinges | 3 | 12.00 | 36.00")
}

// An address says nothing about the lines beside it, also where the file has both row by row; a list of places is a table.
func TestText_readsAddressesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"10115 Berlin", "D-10115 Berlin", "1012 AB Amsterdam", "111 22 Stockholm", "00-950 Warszawa", "Springfield, IL 62701", "London SW1A 1AA", "Ottawa ON K1A 0B1"} {
		rows := [][]string{{"Oak Timber Ltd", "Elm Furniture"}, {"Clara Carpenter", "Hugo Joiner"}, {"Mill Street 12", "Church Lane 4"}, {place, "75001 Paris"}, {"", "France"}}
		inTurn(t, flowing(text(sheet(100, 12, []float64{60, 320}, rows...)...)), "Oak Timber Ltd Clara Carpenter Mill Street 12 "+place+"\n", "Elm Furniture Hugo Joiner Church Lane 4 75001 Paris France")
		if got := text(sheet(100, 18, []float64{60, 320}, rows...)...); strings.Contains(got, "| --") { // in padded cells
			t.Errorf("got a table:\n%s", got)
		}
	}
	rows := [][]string{{"Name", "Place"}, {"Clara Carpenter", "10115 Berlin"}, {"Hugo Joiner", "75001 Paris"}, {"Ines Turner", "28001 Madrid"}}
	rowsAre(t, text(sheet(100, 12, []float64{60, 320}, rows...)...), "Name | Place", "Clara Carpenter | 10115 Berlin", "Hugo Joiner | 75001 Paris", "Ines Turner | 28001 Madrid")
}

// The items of an invoice begin below the addresses, however close these are and whatever is beside them.
func TestText_dividesAddressesFromTheItemsBelow(t *testing.T) {
	t.Parallel()
	address := []string{"Oak Timber Ltd", "Clara Carpenter", "Mill Street 12", "10115 Berlin", "Germany"}
	xs := []float64{66, 250, 330, 400}
	for name, right := range map[string][]string{
		"an address": {"Elm Furniture", "Church Lane 4", "75001 Paris"},
		"labels":     {"Invoice: 2024-17", "Date: 4 March 2024"},
		"a line":     {"4 March 2024"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := sheet(100, 12, []float64{60}, [][]string{address[:1], address[1:2], address[2:3], address[3:4], address[4:]}...)
			for i, text := range right {
				lines = append(lines, at(440, 100+12*float64(i), 10, text))
			}
			lines = append(lines, sheet(166, 14, xs, []string{"Item", "Quantity", "Price", "Amount"}, []string{"Boards", "10", "1.50", "15.00"}, []string{"Nails", "3", "2.25", "6.75"})...)
			got := text(lines...)
			rowsAre(t, got, "Item | Quantity | Price | Amount", "Boards | 10 | 1.50 | 15.00", "Nails | 3 | 2.25 | 6.75")
			inTurn(t, flowing(got), strings.Join(address, " ")+"\n", strings.Join(right, " "), "| Item")
		})
	}
}

// Numbers of a program's lines divide it neither in smaller nor in other type, without a frame; a table in type of one width has numbers of its own kind.
func TestText_readsNumberedListingsWithoutAFrame(t *testing.T) {
	t.Parallel()
	typed := func(x, y, size float64, text string) layout.Line {
		l := at(x, y, size, text)
		l.Font, l.Box.X1 = "Courier", x+0.6*size*float64(len(text))
		return l
	}
	code := []string{"for oak in forest:", "cut(oak)", "count += 1", "print(count)"}
	xs := []float64{90, 112, 112, 90}
	for name, number := range map[string]func(y float64, text string) layout.Line{
		"smaller": func(y float64, text string) layout.Line { return typed(70, y+2, 6, text) },
		"other":   func(y float64, text string) layout.Line { return at(70, y, 9, text) },
	} {
		lines := []layout.Line{at(60, 70, 10, "The program below counts the trees of a forest.")}
		for i, text := range code {
			y := 100 + 12*float64(i)
			l := number(y, fmt.Sprint(i+1))
			l.Box.Y1, l.Box.Y0 = y+9, y+9-l.Size // on one baseline
			lines = append(lines, l, typed(xs[i], y, 9, text))
		}
		got := text(lines...)
		if strings.Count(got, "```") != 2 || strings.Contains(got, "| --") {
			t.Errorf("%s: got\n%s", name, got)
		}
		inTurn(t, got, "```", "1", code[0], "2", code[1], "3", code[2], "4", code[3], "```")
		page := layout.Page{Width: 600, Height: 800, Lines: lines}
		if layout.NewProfile([]layout.Page{page}, nil).TextAfter(page, 1, nil).Complex {
			t.Errorf("%s: the page counts as complex, so another reader is asked", name)
		}
	}
}

// Spreadsheets set cells at the bottom of their rows, with no more space between rows than between lines.
func TestText_readsCellsAtTheBottomOfTheirRows(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 160, 300, 420}
	rows := [][]string{
		{"Task", "Remark", "Owner", "Days"},
		{"", "Boards of oak", "", ""},
		{"", "from the mill", "", ""},
		{"Buy", "at the river", "Clara", "3"},
		{"Cut", "By hand", "Hugo", "5"},
		{"", "", "Ines and", ""},
		{"", "In two coats", "the painter", ""},
		{"Paint", "of white", "of the house", "2"},
		{"Deliver", "To the shop", "Hugo", "1"},
	}
	lines := sheet(100, 12, xs, rows...)
	rowsAre(t, text(lines...), "Task | Remark | Owner | Days", "Buy | Boards of oak from the mill at the river | Clara | 3", "Cut | By hand | Hugo | 5",
		"Paint | In two coats of white | Ines and the painter of the house | 2", "Deliver | To the shop | Hugo | 1")
}

// Where cells are at the middle of their rows and nothing shows where these begin, the table is doubtful.
func TestText_doubtsCellsAtTheMiddleWithoutRows(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 180, 300}
	lines := cells(100, xs, "Task", "Remark", "Owner")
	for _, l := range []struct {
		x, y float64
		text string
	}{
		{60, 112, "Buy boards"},
		{60, 124, "Of oak"},
		{180, 118, "From the mill"},
		{300, 118, "Clara"},
		{60, 142, "Cut them"},
		{180, 136, "By hand"},
		{180, 148, "Or machine"},
		{300, 136, "Hugo"},
		{300, 148, "Ines"},
		{60, 160, "Deliver"},
		{180, 160, "To the shop"},
		{300, 160, "Hugo"},
	} {
		lines = append(lines, at(l.x, l.y, 10, l.text))
	}
	page := layout.Page{Width: 600, Height: 800, Lines: lines}
	read := layout.NewProfile([]layout.Page{page}, nil).TextAfter(page, 1, func() *layout.Tail { return nil })
	if len(read.Doubts) != 1 {
		t.Errorf("doubts %v of\n%s", read.Doubts, read.Markdown)
	}
}

// The totals below the items of an invoice are rows, also without the rules that are between the items, and though their labels are beside the amounts.
func TestText_keepsTotalsApart(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 200, 300, 420}
	rows := [][]string{{"Item", "Quantity", "Price", "Amount"}, {"Boards", "10", "1.50", "15.00"}, {"Nails", "3", "2.25", "6.75"}, {"Hinges", "2", "4.00", "8.00"}, {"", "", "Net", "29.75"}, {"", "", "Tax", "5.65"}, {"", "", "Amount due", "35.40"}}
	want := []string{"Item | Quantity | Price | Amount", "Boards | 10 | 1.50 | 15.00", "Nails | 3 | 2.25 | 6.75", "Hinges | 2 | 4.00 | 8.00", "Net | 29.75", "Tax | 5.65", "Amount due | 35.40"}
	rules := []layout.Box{level(97, 55, 465), level(113, 55, 465), level(129, 55, 465), level(145, 55, 465), level(161, 55, 465)}
	rowsAre(t, withRules(rules, sheet(100, 16, xs, rows...)...), want...)

	lines := sheet(100, 16, []float64{60, 420}, []string{"Item", "Amount"}, []string{"Boards of oak", "£1,215.00"}, []string{"Nails", "£1,006.75"}, []string{"Hinges", "£1,008.00"})
	lines = append(lines, at(360, 164, 10, "Total"), at(420, 164, 10, "£3,229.75"))
	rowsAre(t, text(lines...), "Item | Amount", "Boards of oak | £1,215.00", "Nails | £1,006.75", "Hinges | £1,008.00", "Total | £3,229.75")
}

// A list of references is no table, however wide the space around its years; a table of authors and years is one.
func TestText_readsReferencesWithWideSpaces(t *testing.T) {
	t.Parallel()
	xs := []float64{60, 200, 260}
	entries := sheet(100, 24, xs, []string{"Carpenter, C.", "1990", "The oak of the old forest and"}, []string{"Joiner, H., Turner, I.", "2004", "A short history of elm"})
	got := text(slices.Concat(entries, []layout.Line{at(80, 112, 10, "its birds. Forests 12, 1–9.")})...)
	inTurn(t, got, "Carpenter, C. 1990 The oak of the old forest and its birds. Forests 12, 1–9.", "Joiner, H., Turner, I. 2004 A short history of elm")

	rows := [][]string{{"Author", "Year", "Title"}, {"Carpenter, C.", "1990", "The oak"}, {"Joiner, H.", "2004", "A short history"}, {"Turner, I.", "2010", "The ash"}}
	rowsAre(t, text(sheet(100, 14, xs, rows...)...), "Author | Year | Title", "Carpenter, C. | 1990 | The oak", "Joiner, H. | 2004 | A short history", "Turner, I. | 2010 | The ash")
}

// A line over many columns of which some have no name below is no name of theirs, and no reason to lose the page.
func TestText_takesHeadsWithGaps(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for _, l := range []struct {
		x0, y0, x1, y1 float64
		text           string
	}{
		{94, 637.9, 295.4, 645.9, "what was said in the hall before they met"},
		{30.2, 637.9, 69.1, 645.9, "10:30 Hall"},
		{19, 676.1, 86, 684.1, "Northern Choir"},
		{19, 688.1, 77.8, 696.1, "Southern Band"},
		{233.5, 688.1, 237.5, 696.1, "1"},
		{273.5, 688.1, 277.5, 696.1, "0"},
		{293.5, 688.1, 297.5, 696.1, "3"},
		{368.7, 688.1, 378.9, 696.1, "0/0"},
		{162.9, 664.1, 182, 672.1, "Hours"},
		{292.1, 664.1, 296.9, 672.1, "T"},
		{332.2, 652.2, 371.2, 660.2, "Shares"},
	} {
		lines = append(lines, layout.Line{Text: l.text, Size: 8, Box: layout.Box{X0: l.x0, Y0: l.y0, X1: l.x1, Y1: l.y1}})
	}
	got := text(lines...)
	for _, l := range lines {
		if !strings.Contains(got, l.Text) {
			t.Errorf("%q is missing:\n%s", l.Text, got)
		}
	}
}
