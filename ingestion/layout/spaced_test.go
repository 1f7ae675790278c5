package layout_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// duties is a table with cells of several lines in several columns.
var duties = [][][]string{
	{{"Position"}, {"Duties"}, {"Powers"}, {"Deputy"}},
	{{"Apprentice"}, {"Cleans tools and sweeps the", "shop floor each evening"}, {"May sign for deliveries up to", "50 euros"}, {"Mr Voss"}},
	{{"Journeyman"}, {"Works alone on standard orders"}, {"Orders material, signs for", "deliveries, trains apprentices in", "the use of machines"}, {"Mrs Pohl"}},
	{{"Foreman"}, {"Plans the week, checks finished", "pieces and writes the reports for", "the customers"}, {"Signs offers"}, {"Mr Abt and Mrs", "Sander together"}},
	{{"Owner"}, {"All the rest"}, {"All the rest, including the bank"}, {"herself"}},
}

// A row's cells may be at its top, its middle or its bottom, to the left or centred, with rules between rows or with space.
func TestText_findsRowsByTheirSpace(t *testing.T) {
	t.Parallel()
	xs, wide := []float64{50, 140, 300, 460}, []float64{80, 150, 150, 90}
	for name, share := range map[string]float64{"top": 0, "middle": 0.5, "bottom": 1} {
		for _, centred := range []bool{false, true} {
			for _, space := range []float64{3, 8} {
				for _, ruled := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, centred %v, %v, ruled %v", name, centred, space, ruled), func(t *testing.T) {
						const leading = 12
						y, lines, rules, want := 120.0, []layout.Line{at(50, 60, 14, "Duties and powers")}, []layout.Box(nil), []string(nil)
						for _, row := range duties {
							most, texts := 0, make([]string, len(row))
							for c, cell := range row {
								most, texts[c] = max(most, len(cell)), strings.Join(cell, " ")
							}
							for c, cell := range row {
								for i, words := range cell {
									l := at(xs[c], y+leading*(share*float64(most-len(cell))+float64(i)), 10, words)
									l.Box.X1 = l.Box.X0 + 0.88*(l.Box.X1-l.Box.X0) // as narrow as Helvetica
									if centred {
										by := (wide[c] - (l.Box.X1 - l.Box.X0)) / 2
										l.Box.X0, l.Box.X1 = l.Box.X0+by, l.Box.X1+by
									}
									lines = append(lines, l)
								}
							}
							y += leading*float64(most) + space
							if ruled {
								rules = append(rules, level(y-space/2-1, 45, 555))
							}
							want = append(want, strings.Join(texts, " | "))
						}
						lines = append(lines, at(50, y+30, 10, "These rules hold from January. Ask Mrs Pohl if you are in doubt about a duty."))
						rowsAre(t, withRules(rules, lines...), want...)
					})
				}
			}
		}
	}
}

// A name over several columns stays with them.
func TestText_keepsNamesOverSpacedRows(t *testing.T) {
	t.Parallel()
	xs := []float64{50, 300, 360, 420}
	lines := append(cells(100, xs, "", "", "Year"), cells(116, xs, "Measure", "1997", "1998", "1999")...)
	y := 136.0
	for _, row := range [][]string{{"Shares of what all", "households have", "Lowest fifth"}, {"Mean of those with", "the most"}, {"Ratio of the", "upper to the lower"}} {
		for i, words := range row {
			lines = append(lines, at(50, y+12*float64(i), 10, words))
		}
		lines = append(lines, cells(y+6*float64(len(row)-1), xs, "", "12.5", "13.5", "14.5")...)
		y += 12*float64(len(row)) + 8
	}
	rowsAre(t, text(lines...), "Measure |  | Year", "1997 | 1998 | 1999", "Shares of what all households have Lowest fifth | 12.5 | 13.5 | 14.5", "Mean of those with the most | 12.5 | 13.5 | 14.5", "Ratio of the upper to the lower | 12.5 | 13.5 | 14.5")
}

// Blocks of lines beside one another are no cells.
func TestText_takesNoBlocksForSpacedRows(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for k := range 3 {
		for c, words := range []string{"Anna Berg", "Bob Dahl", "Cid Eide"} {
			for i, line := range []string{words, "Quay Road 1", "Bergen"} {
				lines = append(lines, at(50+175*float64(c), 100+90*float64(k)+13*float64(i), 10, line))
			}
		}
	}
	if got := text(lines...); strings.Contains(got, "Berg Quay") {
		t.Errorf("addresses:\n%s", got)
	}
	var sums []layout.Line
	for k := range 3 {
		y := 100 + 60*float64(k)
		sums = slices.Concat(sums, cells(y+12, []float64{60}, "Region"), cells(y, []float64{200, 300}, "North", "1,200"), cells(y+12, []float64{200, 300}, "South", "900"), cells(y+24, []float64{200, 300}, "the rest", "70"))
	}
	if got := text(sums...); strings.Contains(got, "1,200 900") {
		t.Errorf("amounts:\n%s", got)
	}
}

// The days of a calendar are cells, though no line of them continues a sentence: the file has one day after the other.
func TestText_readsDaysOfACalendar(t *testing.T) {
	t.Parallel()
	xs := []float64{50, 110, 200, 280, 340}
	lines, y := sheet(100, 0, xs, []string{"Mon", "Tue", "Wed", "Thu", "Fri"}), 130.0
	for _, week := range [][]string{{"3", "4", "5/Dentist/14:30", "6", "7"}, {"10", "11/School trip", "12", "13", "14/Wedding Ada"}, {"17", "18/Picnic", "19", "20", "21"}} {
		for c, day := range week {
			parts := strings.Split(day, "/")
			for i, words := range parts {
				lines = append(lines, at(xs[c], y+6*float64(3-len(parts))+12*float64(i), 10, words))
			}
		}
		y += 60
	}
	want := []string{"Mon | Tue | Wed | Thu | Fri", "3 | 4 | 5 Dentist 14:30 | 6 | 7", "10 | 11 School trip | 12 | 13 | 14 Wedding Ada", "17 | 18 Picnic | 19 | 20 | 21"}
	rowsAre(t, text(lines...), want...)
	slices.SortStableFunc(lines, func(a, b layout.Line) int { return cmp.Compare(a.Box.Y0, b.Box.Y0) })
	if got := text(lines...); strings.Contains(got, want[1]) {
		t.Errorf("the file has line after line:\n%s", got)
	}
}
