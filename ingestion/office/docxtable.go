package office

import "strconv"

// table is a table; cells that others span are empty, so that every row has its columns.
func (d *docx) table(t *node, depth int) string {
	var rows [][]string
	for _, tr := range rowsOf(t) {
		var row []string
		if before, err := strconv.Atoi(tr.child("trPr", "gridBefore").attr("val")); err == nil && before < 100 {
			row = append(row, make([]string, max(before, 0))...)
		}
		for _, tc := range cellsOf(tr) {
			pr := tc.child("tcPr")
			text := ""
			if merge := pr.child("vMerge"); merge == nil || merge.attr("val") == "restart" {
				var b blocks
				d.blocks(tc, &b, depth+1)
				text = b.String()
			}
			row = append(row, text)
			if width, err := strconv.Atoi(pr.child("gridSpan").attr("val")); err == nil && width > 1 && width < 100 {
				row = append(row, make([]string, width-1)...)
			}
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// rowsOf and cellsOf look through content controls, which may stand around rows and cells.
func rowsOf(t *node) []*node  { return through(t, "tr") }
func cellsOf(t *node) []*node { return through(t, "tc") }

func through(n *node, name string) []*node {
	var list []*node
	for _, k := range n.kids {
		switch k.name {
		case name:
			list = append(list, k)
		case "sdt", "sdtContent", "customXml", "ins":
			list = append(list, through(k, name)...)
		}
	}
	return list
}
