package layout_test

import (
	"strings"
	"testing"
)

// The number of a table stands apart from its title. Both are the title, and no row of the table.
func TestText_joinsNumbersOfTablesToTheirTitles(t *testing.T) {
	t.Parallel()
	columns := []float64{60, 240, 320, 400}
	lines := cells(100, []float64{60, 120}, "Table 15.", "Changes in the number of graduates, by region: School years")
	lines = append(lines, at(120, 112, 10, "2003 through 2021"))
	lines = append(lines, sheet(136, 12, columns, []string{"Region", "2003", "2009", "2015"}, []string{"Northeast", "13.9", "1.4", "3.2"}, []string{"Maine", "6.1", "10.6", "1.0"}, []string{"Ohio", "4.4", "2.5", "7.1"})...)
	got := text(lines...)
	if !strings.Contains(got, "Table 15. Changes in the number of graduates, by region: School years 2003 through 2021") {
		t.Error(got)
	}
	rowsAre(t, got, "Region | 2003 | 2009 | 2015", "Northeast | 13.9 | 1.4 | 3.2", "Maine | 6.1 | 10.6 | 1.0", "Ohio | 4.4 | 2.5 | 7.1")
}

// A list of tables keeps its columns.
func TestText_keepsListsOfTables(t *testing.T) {
	t.Parallel()
	got := text(sheet(100, 13, []float64{60, 125, 400}, []string{"Table 1", "Graduates of high schools", "41"}, []string{"Table 2", "Teachers hired in a year", "7"}, []string{"Table 3", "Expenditures for each pupil", "21"}, []string{"Table 4", "Enrolment by control of school", "30"})...)
	rowsAre(t, got, "Table 1 | Graduates of high schools | 41", "Table 2 | Teachers hired in a year | 7", "Table 3 | Expenditures for each pupil | 21", "Table 4 | Enrolment by control of school | 30")
}
