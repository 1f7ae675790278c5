package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// boxed draws a box with a label in small type above a value; either may be empty.
func boxed(x, y, wide, high float64, label, value string) (lines []layout.Line, rules []layout.Box) {
	if label != "" {
		lines = append(lines, at(x+3, y+8, 6, label))
	}
	for i, text := range strings.Split(value, "\n") {
		if text != "" {
			lines = append(lines, at(x+6, y+22+12*float64(i), 10, text))
		}
	}
	return lines, []layout.Box{level(y, x, x+wide), level(y+high, x, x+wide), upright(x, y, y+high), upright(x+wide, y, y+high)}
}

type formBox struct {
	x, y, wide, high float64
	label, value     string
}

func readForm(boxes []formBox, rules []layout.Box, more ...layout.Line) string {
	var lines []layout.Line
	for _, b := range boxes {
		l, r := boxed(b.x, b.y, b.wide, b.high, b.label, b.value)
		lines, rules = append(lines, l...), append(rules, r...)
	}
	return withRules(rules, append(lines, more...)...)
}

func TestForm_labelsStayWithTheirValues(t *testing.T) {
	t.Parallel()
	items := sheet(190, 20, []float64{55, 155, 305}, []string{"Article", "Sort", "Quantity"}, []string{"Flour", "rye", "4"}, []string{"Yeast", "fresh", "10"})
	var grid []layout.Box
	for i := range 4 {
		grid = append(grid, level(175+20*float64(i), 50, 400))
	}
	for _, x := range []float64{50, 150, 300, 400} {
		grid = append(grid, upright(x, 175, 235))
	}
	got := readForm([]formBox{
		{50, 60, 100, 30, "Order no.", "4711-A"},
		{150, 60, 100, 30, "Date", "3 July 2025"},
		{250, 60, 150, 30, "Telephone", ""},
		{50, 90, 200, 55, "Address:", "22 Chapel Street\n5678 Newtown"},
		{250, 90, 150, 55, "Customer", "Hill Bakery"},
		{50, 145, 350, 30, "Remarks", "At the back door"},
	}, grid, items...)
	want := "Order no.: 4711-A\nDate: 3 July 2025\nTelephone\nAddress:\n22 Chapel Street\n5678 Newtown\nCustomer: Hill Bakery\nRemarks: At the back door\n\n" +
		"| Article | Sort | Quantity |\n| --- | --- | --: |\n| Flour | rye | 4 |\n| Yeast | fresh | 10 |"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestForm_boxesApart(t *testing.T) {
	t.Parallel()
	got := readForm([]formBox{
		{50, 60, 100, 30, "Name", "Roe"},
		{160, 60, 100, 30, "Born", "3 May 1970"},
		{50, 100, 100, 30, "Town", "Newtown"},
		{160, 100, 100, 30, "Zip", "5678"},
	}, nil)
	if want := "Name: Roe\nBorn: 3 May 1970\nTown: Newtown\nZip: 5678"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Small type above a word in the cells of a table is no label of a form.
func TestForm_tablesStayTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		boxes []formBox
		want  []string
	}{
		"calendar": {
			[]formBox{{50, 60, 100, 30, "", "Monday"}, {150, 60, 100, 30, "", "Tuesday"}, {50, 90, 100, 30, "12", "Bread"}, {150, 90, 100, 30, "13", "Cake"}},
			[]string{"Monday | Tuesday", "12 Bread | 13 Cake"},
		},
		"timetable": {
			[]formBox{
				{50, 60, 60, 30, "", "Time"},
				{110, 60, 100, 30, "", "Mon"},
				{210, 60, 100, 30, "", "Tue"},
				{50, 90, 60, 30, "", "8:00"},
				{110, 90, 100, 30, "Room 12", "Maths"},
				{210, 90, 100, 30, "Gym hall", "Sport"},
				{50, 120, 60, 30, "", "9:00"},
				{110, 120, 100, 30, "Room 3", "Art"},
				{210, 120, 100, 30, "Room 1", "Music"},
			},
			[]string{"Time | Mon | Tue", "8:00 | Room 12 Maths | Gym hall Sport", "9:00 | Room 3 Art | Room 1 Music"},
		},
		"columns of names and amounts, with rules between the columns only": {
			[]formBox{{50, 60, 100, 50, "Article", "Flour\nYeast\nSalt"}, {150, 60, 100, 50, "Price", "12.00\n1.20\n2.20"}},
			nil,
		},
	} {
		got := readForm(c.boxes, nil)
		if c.want != nil {
			rowsAre(t, got, c.want...)
		} else if !strings.Contains(got, "| Flour | 12.00 |") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}
