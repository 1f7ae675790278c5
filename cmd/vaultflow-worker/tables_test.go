package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// grid is a table to be set: its cells, and how.
type grid struct {
	name   string
	cells  [][]string // a line break divides the lines of a cell; "<" goes on with the cell to its left, "^" with the one above
	ruled  bool
	head   bool // a rule below the first row, and none else
	size   float64
	widths []float64
	right  bool // all but the first column end at their right edge
	space  float64
	under  []string // the head of the page before, which goes on here
}

// want is what has to stand in each cell.
func (s grid) want() [][]string {
	var out [][]string
	if s.under != nil {
		out = append(out, s.under)
	}
	for _, row := range s.cells {
		var line []string
		for _, cell := range row {
			if cell == "<" || cell == "^" {
				cell = ""
			}
			line = append(line, strings.ReplaceAll(cell, "\n", " "))
		}
		out = append(out, line)
	}
	return out
}

// set places a table below y and gives where it ends.
func (s grid) set(y float64) (texts []pdftest.Placed, rules []pdftest.Rule, end float64) {
	const left = 60
	lead := s.size * 1.2
	edges := []float64{left}
	for _, w := range s.widths {
		edges = append(edges, edges[len(edges)-1]+w)
	}
	last := len(edges) - 1
	for r, row := range s.cells {
		lines := 1
		for _, cell := range row {
			lines = max(lines, 1+strings.Count(cell, "\n"))
		}
		bottom := y + float64(lines)*lead + s.space
		for c, cell := range row {
			if s.ruled && cell != "<" {
				rules = append(rules, pdftest.Rule{X0: edges[c], Y0: y, X1: edges[c], Y1: bottom})
			}
			if s.ruled && cell != "^" {
				rules = append(rules, pdftest.Rule{X0: edges[c], Y0: y, X1: edges[c+1], Y1: y})
			}
			if cell == "<" || cell == "^" {
				continue
			}
			for i, text := range strings.Split(cell, "\n") {
				x := edges[c] + 3
				if s.right && c > 0 {
					x = edges[c+1] - 3 - pdftest.NumberWidth(text, s.size)
				}
				texts = append(texts, pdftest.Placed{Text: text, X: x, Y: y + s.space/2 + s.size + float64(i)*lead, Size: s.size, Bold: r == 0 && s.head})
			}
		}
		if s.ruled {
			rules = append(rules, pdftest.Rule{X0: edges[last], Y0: y, X1: edges[last], Y1: bottom})
		}
		if y = bottom; s.head && r == 0 && !s.ruled {
			rules = append(rules, pdftest.Rule{X0: left, Y0: y, X1: edges[last], Y1: y})
		}
	}
	if s.ruled {
		rules = append(rules, pdftest.Rule{X0: left, Y0: y, X1: edges[last], Y1: y})
	}
	return texts, rules, y
}

// gfm reads the tables of a Markdown text.
func gfm(markdown string) [][][]string {
	var out [][][]string
	open := false
	for line := range strings.Lines(markdown + "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			open = false
			continue
		}
		if !open {
			out, open = append(out, nil), true
		}
		var row []string
		inner := strings.ReplaceAll(strings.TrimSuffix(line[1:], "|"), `\|`, "\x00")
		for cell := range strings.SplitSeq(inner, "|") {
			row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
		}
		if strings.Trim(strings.Join(row, ""), "-: ") == "" && strings.Contains(line, "---") || strings.Contains(line, " --: |") && strings.Trim(line, "|-: ") == "" {
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

// cellsRight counts the cells that stand in their row and column with their text. Cells that are empty count too.
func cellsRight(got, want [][]string) (right, all int) {
	for r, row := range want {
		for c, cell := range row {
			all++
			if r < len(got) && c < len(got[r]) && got[r][c] == cell {
				right++
			}
		}
	}
	return right, all
}

// grids gives tables of many forms.
func grids(ruled bool) []grid {
	words := strings.Fields("Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango")
	var out []grid
	for i := range 14 { // columns, rows, sizes and ways to align
		columns, rows := 2+i%5, 3+i%9
		s := grid{name: fmt.Sprintf("%d by %d", columns, rows), ruled: ruled, head: i%2 == 0, size: 7 + float64(i%8), right: i%3 == 1, space: 2 + float64(i%4)*2}
		if !ruled && s.size > 11 {
			s.space += 2
		}
		for range columns {
			s.widths = append(s.widths, 470/float64(columns)-float64(i%3)*8)
		}
		for r := range rows {
			var row []string
			for c := range columns {
				switch {
				case r == 0 && !s.right:
					row = append(row, words[(c+i)%20]+" no")
				case c == 0 || !s.right && c%2 == 0:
					row = append(row, words[(r*3+c+i)%20]+[]string{"", " one", " | two"}[(r+i)%3])
				default:
					row = append(row, fmt.Sprintf("%d,%03d.%02d", (r*7+c*3+i)%90+1, (r*131+c*17)%1000, (r*13+c)%100))
				}
			}
			s.cells = append(s.cells, row)
		}
		out = append(out, s)
	}
	out = append(out,
		grid{name: "lines", ruled: ruled, head: true, size: 10, space: 8, widths: []float64{100, 150, 100}, cells: [][]string{
			{"Name", "Note", "Sum"},
			{"Alpha", "a note that goes\nover two lines", "1.00"},
			{"Bravo", "short", "22.50"},
			{"Charlie", "one more that\ngoes over three\nlines in all", "3.75"},
		}},
		grid{name: "empty cells", ruled: ruled, head: true, size: 9, space: 5, widths: []float64{90, 90, 90, 90}, cells: [][]string{
			{"Name", "First", "Second", "Third"}, {"Alpha", "", "12", "x y"}, {"Bravo", "7", "", "z"}, {"Charlie", "8", "9", ""}, {"Delta", "1", "2", "w"},
		}},
		grid{name: "span across", ruled: ruled, head: true, size: 10, space: 6, widths: []float64{100, 90, 90}, cells: [][]string{
			{"Region", "Sales of both halves", "<"}, {"North", "100", "200"}, {"South", "110", "210"}, {"East", "120", "220"}, {"West", "130", "230"}, {"Centre", "140", "240"}, {"Abroad", "150", "250"},
		}})
	if ruled {
		out = append(out, grid{name: "span down", ruled: true, size: 10, space: 6, widths: []float64{100, 90, 90}, cells: [][]string{
			{"Region", "Half", "Sum"}, {"North", "first", "200"}, {"^", "second", "210"}, {"East", "first", "220"}, {"^", "second", "230"},
		}}, grid{name: "narrow", ruled: true, size: 10, space: 3, widths: []float64{42, 45, 45, 40}, right: true, cells: [][]string{
			{"Name", "2023.1", "2024.1", "1"}, {"Alphaxx", "12345.67", "12345.67", "123.45"}, {"Bravoxx", "12345.67", "98765.43", "321.00"},
		}})
	}
	return out
}

func TestWorker_tables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		ruled bool
		least int // per cent
	}{{"ruled", true, 95}, {"unruled", false, 85}} {
		all := grids(c.ruled)
		b := pdftest.New()
		for _, s := range all {
			texts, rules, end := s.set(150)
			texts = append(texts, pdftest.Placed{Text: "A paragraph of text stands before the table, as it does in most documents that", X: 60, Y: 100},
				pdftest.Placed{Text: "have any tables at all.", X: 60, Y: 114}, pdftest.Placed{Text: "Another one stands below it, and goes on for the whole width of the text on the page.", X: 60, Y: end + 40})
			b.PlacedPage(texts, rules)
		}
		long := grid{name: "over pages", ruled: c.ruled, head: true, size: 10, space: 4, widths: []float64{120, 120, 120}, cells: [][]string{{"Name", "Amount", "Note"}}}
		for i := range 90 {
			long.cells = append(long.cells, []string{fmt.Sprintf("Item %d", i), fmt.Sprintf("%d.50", i*13), "kept"})
		}
		// Over three pages, once with its head on each of them and once with it on the first alone.
		for _, repeated := range []bool{false, true} {
			for from := 1; from < len(long.cells); from += 30 {
				part := long
				part.cells = long.cells[from : from+30]
				set := part
				if from == 1 || repeated {
					set.cells = append([][]string{long.cells[0]}, part.cells...)
				} else {
					set.head = false
				}
				texts, rules, _ := set.set(90)
				b.PlacedPage(texts, rules)
				part.under = long.cells[0]
				all = append(all, part)
			}
		}
		session, _ := opened(t, b.Bytes(), extract.KindPDF)
		var right, cells int
		for i, s := range all {
			markdown := ask(t, session, extract.PageRequest{N: i + 1, Text: true}).Text.Markdown
			tables := gfm(markdown)
			var got [][]string
			if len(tables) > 0 {
				got = tables[0]
			}
			r, n := cellsRight(got, s.want())
			if right, cells = right+r, cells+n; r < n || len(tables) != 1 {
				t.Logf("%s, %s: %d of %d cells, %d tables\n%s", c.kind, s.name, r, n, len(tables), markdown)
			}
		}
		t.Logf("%s: %d tables, %d of %d cells right, %.1f %%", c.kind, len(all), right, cells, 100*float64(right)/float64(cells))
		if right*100 < c.least*cells {
			t.Errorf("%s: %d of %d cells are right, want %d %%", c.kind, right, cells, c.least)
		}
	}
}
