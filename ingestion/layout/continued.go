package layout

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Tail is a table at the end of a page, which may continue at the top of the next one.
type Tail struct {
	page    int
	columns []Box  // of the cells of each column
	head    []cell // of the table, from the page where it begins; nil if its first row may be like the others
	first   string // text of the row that looks like a head, to know it again
}

// cell is the text of a cell: plain, and as Markdown.
type cell struct{ plain, marked string }

// Shares of the page's height: a table that continues ends below the one and begins above the other.
const (
	endsBelow   = 0.6
	beginsAbove = 0.3
)

// tail returns the table that ends a page, or nil if something else does.
func (w *writer) tail(all []block, height float64, before *Tail) *Tail {
	if len(all) == 0 || all[len(all)-1].table == nil {
		return nil
	}
	t := *all[len(all)-1].table
	if t.box.Y1 < endsBelow*height {
		return nil
	}
	out := &Tail{page: w.page, columns: t.columns(), first: rowText(t.rows[0])}
	switch {
	case len(all) == 1 && before != nil: // it began before this page
		out.head, out.first = before.head, before.first
	case t.headed():
		out.head = w.cells(t.rows[0])
	}
	return out
}

// continues reports whether a table at the top of a page continues the one that ended the page before: both have the same columns.
func (t table) continues(before *Tail, height float64) bool {
	if before == nil || t.box.Y0 > beginsAbove*height {
		return false
	}
	columns := t.columns()
	return slices.EqualFunc(columns, before.columns, func(a, b Box) bool {
		shared := min(a.X1, b.X1) - max(a.X0, b.X0)
		return shared > 0.5*min(a.width(), b.width())
	})
}

// columns returns the box of each column's text.
func (t table) columns() []Box {
	out := make([]Box, len(t.rows[0]))
	for c := range out {
		var lines []Line
		for _, row := range t.rows {
			lines = append(lines, row[c]...)
		}
		if len(lines) > 0 {
			out[c] = boxOf(lines)
		}
	}
	return out
}

// headed reports whether the first row is a head: it alone is bold, or it names columns of numbers.
func (t table) headed() bool {
	bold := func(row [][]Line) bool {
		return !slices.ContainsFunc(row, func(c []Line) bool { return slices.ContainsFunc(c, func(l Line) bool { return !l.Bold }) })
	}
	if bold(t.rows[0]) && len(t.rows) > 1 && !bold(t.rows[1]) {
		return true
	}
	for c := range t.rows[0] {
		numbers := 0
		for _, row := range t.rows[1:] {
			if len(row[c]) > 0 && strings.ContainsFunc(row[c][0].Text, unicode.IsDigit) && !strings.ContainsFunc(row[c][0].Text, unicode.IsLetter) {
				numbers++
			}
		}
		if head := rowText(t.rows[0][c : c+1]); strings.ContainsFunc(head, unicode.IsLetter) && !strings.ContainsFunc(head, unicode.IsDigit) && numbers*2 > len(t.rows) {
			return true
		}
	}
	return false
}

func rowText(row [][]Line) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(cellText(c, nil) + "\t")
	}
	return unsigned(b.String())
}

// writeContinued writes the rest of a table below its head, without a repeated head. Without a head, its first row stays a row.
func (w *writer) writeContinued(t table, before *Tail) {
	plain, marked := fmt.Sprintf("(continued from page %d)", before.page), fmt.Sprintf("*(continued from page %d)*", before.page)
	w.put(plain, marked, 0)
	rows, head := t.rows, before.head
	if rowText(rows[0]) == before.first {
		rows = rows[1:]
		if head == nil {
			head = w.cells(t.rows[0])
		}
	}
	if head == nil {
		head = make([]cell, len(t.rows[0]))
	}
	body := make([][]cell, len(rows))
	for i, row := range rows {
		body[i] = w.cells(row)
	}
	plain, marked = t.written(append([][]cell{head}, body...))
	if before.head == nil && head[0] == (cell{}) {
		_, plain, _ = strings.Cut(plain, "\n")
	}
	w.put(plain, marked, 0)
}
