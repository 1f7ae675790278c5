package webpage

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Limits of the cells that one cell may span, and of the text of a cell that stays in a table although it has lists or headings.
const (
	maxSpan = 100
	maxCell = 1000
)

// tables makes tables of Markdown possible: cells keep only lines, and what lays out a page becomes its contents, one below the other.
// The inner tables are first, so that no table has others in its cells.
func tables(n *html.Node) {
	for k := n.FirstChild; k != nil; {
		next := k.NextSibling
		tables(k)
		k = next
	}
	if n.Type != html.ElementNode || n.Data != "table" || n.Parent == nil {
		return
	}
	distribute(n)
	if oneColumn(n) {
		linesOfColumn(n)
		return
	}
	divide(n)
}

// linesOfColumn makes lines of a table with one column: a receipt, or a page that is laid out with a table.
func linesOfColumn(table *html.Node) {
	for e := range table.Descendants() {
		switch {
		case e.Type != html.ElementNode:
		case e.Data == "caption", (e.Data == "td" || e.Data == "th") && !hasBlocks(e):
			rename(e, "p")
		case e.Data == "td", e.Data == "th", e.Data == "tr", e.Data == "tbody", e.Data == "thead", e.Data == "tfoot":
			rename(e, "div")
		}
	}
	rename(table, "div")
}

// distribute moves a style or link around a table into its cells, because Markdown has none around tables.
func distribute(table *html.Node) {
	for up := table.Parent; up != nil; up = up.Parent {
		switch up.Data {
		case "a", "b", "strong", "i", "em", "s", "del", "strike":
		default:
			continue
		}
		for _, c := range all(up, "td", "th", "caption") {
			if find(c, "table") != nil {
				continue
			}
			inner := &html.Node{Type: up.Type, Data: up.Data, DataAtom: up.DataAtom, Attr: up.Attr}
			move(c, inner)
			c.AppendChild(inner)
		}
		rename(up, "div")
	}
}

// divide leaves the rows that a table of Markdown can have in tables, and puts the cells of all others between them.
func divide(table *html.Node) {
	rows := rowsOf(table)
	headed := len(rows) > 0 && isHead(rows[0])
	var part *html.Node
	put := func(n *html.Node) { table.Parent.InsertBefore(n, table) }
	if c := find(table, "caption"); c != nil {
		c.Parent.RemoveChild(c)
		rename(c, "p")
		put(c)
	}
	for i, row := range rows {
		cells := cellsOf(row)
		row.Parent.RemoveChild(row)
		if unfolds(row, len(rows), headed) {
			part = nil
			for _, c := range cells {
				row.RemoveChild(c)
				rename(c, "div")
				put(c)
			}
			continue
		}
		if part == nil {
			part = &html.Node{Type: html.ElementNode, Data: "table", DataAtom: table.DataAtom}
			put(part)
		}
		for _, c := range cells {
			if part.FirstChild != nil {
				rename(c, "td") // the library makes the first row with a th the head
			}
			limit(c, "colspan", maxSpan)
			limit(c, "rowspan", min(maxSpan, len(rows)-i))
			flatten(c)
			spread(c)
		}
		part.AppendChild(row)
	}
	table.Parent.RemoveChild(table)
}

// spread puts empty cells behind one that spans columns: the library counts the columns of a second one wrongly.
func spread(cell *html.Node) {
	columns := numberOf(cell, "colspan", 1)
	cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == "colspan" })
	for range columns - 1 {
		empty := &html.Node{Type: html.ElementNode, Data: cell.Data, DataAtom: cell.DataAtom, Attr: slices.Clone(cell.Attr)}
		cell.Parent.InsertBefore(empty, cell.NextSibling)
	}
}

// unfolds reports whether a row lays out a page, or holds more than cells can.
func unfolds(row *html.Node, rows int, headed bool) bool {
	for _, c := range cellsOf(row) {
		if !hasBlocks(c) {
			continue
		}
		whole := text(c)
		title := ""
		for d := range c.Descendants() {
			if heading(d) {
				title = text(d)
				break
			}
		}
		if find(c, "table") != nil && !headed || utf8.RuneCountInString(whole) > maxCell || rows == 1 && title != "" && title != whole {
			return true
		}
	}
	return false
}

func hasBlocks(n *html.Node) bool {
	return len(all(n, "table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "blockquote", "pre", "hr")) > 0
}

// flatten makes lines of what a cell of Markdown cannot have.
func flatten(cell *html.Node) {
	for _, e := range all(cell, "ul", "ol") {
		for i, li := range items(e) {
			mark := "• "
			if e.Data == "ol" {
				mark = strconv.Itoa(i) + ". "
			}
			begin(li, mark)
		}
	}
	for _, e := range all(cell, "tr") {
		for i, c := range cellsOf(e) {
			if i > 0 {
				e.InsertBefore(&html.Node{Type: html.TextNode, Data: " · "}, c)
			}
			rename(c, "span")
		}
	}
	for _, e := range all(cell, "pre") {
		lines := strings.Split(strings.Trim(rawText(e), "\n"), "\n")
		for e.FirstChild != nil {
			e.RemoveChild(e.FirstChild)
		}
		rename(e, "div")
		for i, line := range lines {
			if i > 0 {
				e.AppendChild(&html.Node{Type: html.ElementNode, Data: "br"})
			}
			code := &html.Node{Type: html.ElementNode, Data: "code"}
			code.AppendChild(&html.Node{Type: html.TextNode, Data: line})
			e.AppendChild(code)
		}
	}
	for _, e := range all(cell, "table", "thead", "tbody", "tfoot", "tr", "caption", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote") {
		rename(e, "div")
	}
	for _, e := range all(cell, "hr") {
		rename(e, "br")
	}
}

// items yields the items of a list with their numbers.
func items(list *html.Node) func(yield func(int, *html.Node) bool) {
	return func(yield func(int, *html.Node) bool) {
		var all []*html.Node
		for k := range list.ChildNodes() {
			if k.Type == html.ElementNode && k.Data == "li" {
				all = append(all, k)
			}
		}
		n, step := numberOf(list, "start", 1), 1
		if has(list, "reversed") {
			n, step = numberOf(list, "start", len(all)), -1
		}
		for _, li := range all {
			n = numberOf(li, "value", n)
			if !yield(n, li) {
				return
			}
			n += step
		}
	}
}

func numberOf(n *html.Node, attr string, otherwise int) int {
	v, err := strconv.Atoi(strings.TrimSpace(attribute(n, attr)))
	if err != nil || v < 0 || v > 999_999_999 {
		return otherwise
	}
	return v
}

// begin puts a mark before the first text of an element.
func begin(n *html.Node, mark string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			d.Data = mark + strings.TrimLeft(d.Data, " \t\r\n")
			return
		}
	}
}

// rowsOf returns the rows of a table, without those of tables in it.
func rowsOf(table *html.Node) (rows []*html.Node) {
	for k := range table.ChildNodes() {
		switch k.Data {
		case "tr":
			rows = append(rows, k)
		case "tbody", "thead", "tfoot":
			rows = append(rows, rowsOf(k)...)
		}
	}
	return rows
}

func cellsOf(row *html.Node) (cells []*html.Node) {
	for k := range row.ChildNodes() {
		if k.Type == html.ElementNode && (k.Data == "td" || k.Data == "th") {
			cells = append(cells, k)
		}
	}
	return cells
}

// isHead reports whether a row has names of columns. Those of a table in its cells are not its own.
func isHead(row *html.Node) bool {
	return slices.ContainsFunc(cellsOf(row), func(c *html.Node) bool { return c.Data == "th" })
}

// limit bounds how many rows or columns a cell spans.
func limit(cell *html.Node, attr string, most int) {
	if numberOf(cell, attr, most+1) > most {
		set(cell, attr, strconv.Itoa(most))
	}
}

// oneColumn reports whether no row of a table has two cells, and no table is in it. A table with a head is one, however narrow.
func oneColumn(table *html.Node) bool {
	if rows := rowsOf(table); len(rows) > 0 && isHead(rows[0]) {
		return false
	}
	for d := range table.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		if d.Data == "table" {
			return false
		}
		if d.Data != "tr" {
			continue
		}
		if len(cellsOf(d)) > 1 {
			return false
		}
	}
	return true
}
