package office

import (
	"strconv"
	"strings"
)

// rows are a table's rows. Repeated cells and rows are written out as long as they hold something; an empty one that is
// repeated a million times, as spreadsheets do to fill the page, is one.
func (o *odf) rows(t *node, depth int) [][]string {
	var rows [][]string
	for _, k := range t.kids {
		switch k.name {
		case "table-header-rows", "table-row-group", "table-rows":
			rows = append(rows, o.rows(k, depth)...)
		case "table-row":
			row := o.row(k, depth)
			for range repeats(k, "number-rows-repeated", row) {
				if o.cells -= len(row); o.cells < 0 || len(rows) >= maxRows {
					o.doc.warn("table %q is longer; the rest is not shown", t.attr("name"))
					return rows
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (o *odf) row(k *node, depth int) []string {
	var row []string
	for _, c := range k.kids {
		text := ""
		switch c.name {
		case "table-cell":
			var b blocks
			o.blocks(c, &b, depth+1)
			text = b.String()
		case "covered-table-cell":
		default:
			continue
		}
		for range repeats(c, "number-columns-repeated", []string{text}) {
			if len(row) >= maxColumns {
				break
			}
			row = append(row, text)
		}
	}
	return row
}

// repeats is how often a cell or row is written.
func repeats(k *node, attr string, content []string) int {
	n, err := strconv.Atoi(k.attr(attr))
	if err != nil || n < 1 {
		return 1
	}
	if strings.TrimSpace(strings.Join(content, "")) == "" {
		return min(n, 16)
	}
	return min(n, 1000)
}
