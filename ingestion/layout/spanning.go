package layout

import (
	"cmp"
	"slices"
)

// raiseSpans moves the text of cells that span rows into the first of these rows. Such a cell has its text at the middle, and no rule in it, while
// rules divide the other columns there.
func raiseSpans(t *table, rules []Box) {
	type move struct{ column, from, to int }
	var moves []move // made at the end: rules are looked up between the rows as they are printed
	for c := range t.rows[0] {
		var all []Line
		for _, row := range t.rows {
			all = append(all, row[c]...)
		}
		if len(all) == 0 {
			continue
		}
		column := boxOf(all)
		for r := 1; r+1 < len(t.rows); r++ {
			if len(t.rows[r][c]) == 0 {
				continue
			}
			first, last := r, r
			for first > 0 && len(t.rows[first-1][c]) == 0 && spans(t, c, column, first, rules) {
				first--
			}
			for last+1 < len(t.rows) && len(t.rows[last+1][c]) == 0 && spans(t, c, column, last+1, rules) {
				last++
			}
			if above, below := r-first, last-r; above > 0 && below > 0 && above-below <= 1 && below-above <= 1 {
				moves = append(moves, move{c, r, first})
			}
		}
	}
	for _, m := range moves {
		t.rows[m.to][m.column], t.rows[m.from][m.column] = t.rows[m.from][m.column], nil
	}
}

// spans reports whether rules divide a row from the one above in other columns, but not in column c, which has a box.
func spans(t *table, c int, column Box, row int, rules []Box) bool {
	above, below, covered := besides(t.rows[row-1], c), besides(t.rows[row], c), 0.0
	if len(above) == 0 || len(below) == 0 {
		return false
	}
	top, bottom := boxOf(above), boxOf(below)
	from, _ := slices.BinarySearchFunc(rules, (top.Y0+top.Y1)/2, func(r Box, y float64) int { return cmp.Compare(r.Y0, y) })
	for _, rule := range rules[from:] {
		if rule.Y0 > (bottom.Y0+bottom.Y1)/2 {
			break
		}
		if overlap(rule, column) > 0 {
			return false
		}
		covered += max(0, overlap(rule, t.box))
	}
	return covered > 0.3*(t.box.width()-column.width())
}

// besides returns the lines of a row that are not in column c.
func besides(row [][]Line, c int) []Line {
	return slices.Concat(slices.Concat(row[:c]...), slices.Concat(row[c+1:]...))
}
