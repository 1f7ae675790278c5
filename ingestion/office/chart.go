package office

import "strings"

// chart writes the values that a chart was drawn from, as the file keeps them: a table with a column for each series.
func chart(root *node) string {
	plot := root.first("plotArea")
	if plot == nil {
		return ""
	}
	title := ""
	if t := root.first("title"); t != nil {
		title = strings.TrimSpace(t.flat())
	}
	rows := [][]string{{""}}
	for i, s := range plot.all("ser") {
		name := strings.TrimSpace(values(s.child("tx")).join())
		rows[0] = append(rows[0], escape(name))
		names, numbers := values(s.child("cat")), values(s.child("val"))
		if numbers == nil {
			names, numbers = values(s.child("xVal")), values(s.child("yVal"))
		}
		for r, v := range numbers {
			for len(rows) < r+2 {
				rows = append(rows, []string{""})
			}
			if rows[r+1][0] == "" && r < len(names) {
				rows[r+1][0] = escape(names[r])
			}
			for len(rows[r+1]) < i+1 {
				rows[r+1] = append(rows[r+1], "")
			}
			rows[r+1] = append(rows[r+1], escape(v))
		}
	}
	text := table(rows)
	if title != "" {
		text = "Chart: " + escape(title) + "\n\n" + text
	}
	return strings.TrimSpace(text)
}

// chartTitles names a chart whose values are in the sheet, and its axes.
func chartTitles(root *node) string {
	var titles []string
	for _, t := range root.all("title") {
		if title := strings.Join(strings.Fields(t.flat()), " "); title != "" {
			titles = append(titles, title)
		}
	}
	if titles == nil {
		return ""
	}
	return "Chart: " + escape(strings.Join(titles, ", "))
}

type points []string

func (p points) join() string { return strings.Join(p, " ") }

// values are the cached points below a node, in order.
func values(n *node) points {
	var list points
	for _, pt := range n.all("pt") {
		list = append(list, strings.TrimSpace(pt.child("v").flat()))
		if len(list) >= 10_000 {
			break
		}
	}
	if list == nil && n != nil {
		if v := n.first("v"); v != nil {
			list = points{strings.TrimSpace(v.flat())}
		}
	}
	return list
}

// smartArt lists the texts of a diagram.
func smartArt(root *node) string {
	var b blocks
	for _, p := range root.all("pt") {
		if t := p.child("t"); t != nil {
			if text := strings.TrimSpace(t.flat()); text != "" {
				b.item(0, "-", escape(text))
			}
		}
	}
	return b.String()
}
