package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// cellAt is a text that begins at x, in the row at y; words in it are 3 apart.
type cellAt struct {
	x, y int
	text string
}

// scanned returns words as recognition does: boxes surround their ink, in type whose letters are 6 wide.
func scanned(cells ...cellAt) (words []layout.Word) {
	for line, c := range cells {
		x := float64(c.x)
		for word := range strings.FieldsSeq(c.text) {
			top, bottom := 9.0, 15.0 // of small letters
			if strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789bdfhklt") {
				top = 7
			}
			if strings.ContainsAny(word, "gjpqy") {
				bottom = 17
			}
			end := x + 6*float64(len(word))
			words = append(words, layout.Word{Text: word, Line: line, Box: layout.Box{X0: x, Y0: float64(c.y) + top, X1: end, Y1: float64(c.y) + bottom}})
			x = end + 3
		}
	}
	return words
}

// columnsAt places rows whose cells end at some places, the first at the left.
func columnsAt(ends []int, rows ...[]string) (cells []cellAt) {
	for i, row := range rows {
		for c, text := range row {
			if text == "" {
				continue
			}
			x := 50
			if c > 0 {
				x = ends[c-1] - 6*len(text)
			}
			cells = append(cells, cellAt{x, 100 + 20*i, text})
		}
	}
	return cells
}

func TestRecognisedTables_keepAmountsInTheirColumns(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "2022", "2023", "2024"}, {"Travel costs", "120", "", "95"}, {"Office rent", "", "4,100", "4,200"}, {"Shipping", "31", "", ""}, {"Energy", "870", "912", "1,015"}}
	want := "| Item | 2022 | 2023 | 2024 |\n| --- | --- | --- | --- |\n| Travel costs | 120 |  | 95 |\n| Office rent |  | 4,100 | 4,200 |\n| Shipping | 31 |  |  |\n| Energy | 870 | 912 | 1,015 |"
	above := cellAt{50, 40, "The committee asked for a table of all costs."}
	words := scanned(append([]cellAt{above}, columnsAt([]int{240, 310, 380}, rows...)...)...)
	check := func(name string, words []layout.Word, rules []layout.Box) {
		t.Helper()
		got, unsure := layout.RecognisedTables(words, rules)
		if len(got) != 1 || strings.ReplaceAll(got[0].Markdown, "--:", "---") != want || got[0].Words[0] != 9 || unsure || len(got[0].Empty) != 4 {
			t.Fatalf("%s: %+v, unsure %v", name, got, unsure)
		}
	}
	check("white space", words, nil)

	rules := []layout.Box{}
	for i := range 6 {
		rules = append(rules, layout.Box{X0: 45, Y0: float64(100 + 20*i), X1: 385, Y1: float64(101 + 20*i)})
	}
	for _, x := range []float64{45, 195, 245, 315, 384} {
		rules = append(rules, layout.Box{X0: x, Y0: 100, X1: x + 1, Y1: 200})
	}
	for i, w := range words {
		if w.Text == "31" { // a rule was taken for a sign, and another one joined the box of a word
			words[i].Text, words[i].Box.X1 = "31|", 246
		}
		if w.Text == "870" {
			words[i].Box.Y1 = 201
		}
	}
	check("rules", words, rules)
}

func TestRecognisedTables_leaveOtherPagesAlone(t *testing.T) {
	t.Parallel()
	var prose, uneven []cellAt
	left := []string{"the members asked for a table of", "all costs and for further notes", "since most departments had kept", "within the budgets of that year", "and explained what had differed", "from the plan of the committee"}
	for i, line := range left {
		prose = append(prose, cellAt{50, 100 + 20*i, line}, cellAt{270, 100 + 20*i, left[len(left)-1-i]})
	}
	for i, line := range []string{"120 45 6", "31 870", "4,100 912 77", "95 1,015"} { // wherever their columns are
		x := 150 + 35*(i%2)
		for _, amount := range strings.Fields(line) {
			uneven = append(uneven, cellAt{x, 100 + 20*i, amount})
			x += 6*len(amount) + 14
		}
		uneven = append(uneven, cellAt{50, 100 + 20*i, "Travel costs"})
	}
	for name, c := range map[string]struct {
		cells  []cellAt
		unsure bool
	}{
		"columns of prose":        {prose, false},
		"addresses":               {[]cellAt{{50, 100, "Ada Lovelace"}, {50, 120, "12 Analytical Street"}, {50, 140, "London"}, {300, 100, "Nordic Timber"}, {300, 120, "Havnegata 4"}, {300, 140, "7010 Trondheim"}}, false},
		"a form":                  {[]cellAt{{50, 100, "Name:"}, {200, 100, "Lovelace"}, {50, 120, "Born:"}, {200, 120, "10 December"}, {50, 140, "City:"}, {200, 140, "London"}, {50, 160, "Room:"}, {200, 160, "12"}}, false},
		"below a diagram":         {columnsAt([]int{200, 280, 360}, []string{"1", "1", "1", "1"}, []string{"Very", "", "Slightly", "Very"}, []string{"thin", "thin", "heavy", "heavy"}), false},
		"contents":                {columnsAt([]int{400}, []string{"Introduction", "3"}, []string{"First steps", "7"}, []string{"Tables", "12"}, []string{"Index", "90"}), false},
		"nothing":                 {nil, false},
		"amounts without columns": {uneven, true},
	} {
		if got, unsure := layout.RecognisedTables(scanned(c.cells...), nil); len(got) != 0 || unsure != c.unsure {
			t.Errorf("%s: %+v, unsure %v", name, got, unsure)
		}
	}
}

// The number of a table that stands apart from its title is no row of the table.
func TestRecognisedTables_leaveTitlesAbove(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Item", "2022", "2023", "2024"}, {"Travel costs", "120", "118", "95"}, {"Office rent", "4,000", "4,100", "4,200"}, {"Shipping", "31", "36", "38"}}
	for _, apart := range []int{12, 18, 26, 34} {
		title := []cellAt{{50, 80, "Table 14."}, {50 + 57 + apart, 80, "Costs by kind and year"}}
		tables, _ := layout.RecognisedTables(scanned(append(title, columnsAt([]int{240, 310, 380}, rows...)...)...), nil)
		if len(tables) != 1 || !strings.HasPrefix(tables[0].Markdown, "| Item | 2022 | 2023 | 2024 |") {
			t.Errorf("%d apart: got %+v", apart, tables)
		}
	}
}
