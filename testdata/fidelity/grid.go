package main

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// grid holds the plain texts of a table's cells by row and column. A cell that spans several places stands in each of them;
// owner tells which places belong together, and is 0 for blank ones.
type grid struct {
	texts [][]string
	owner [][]int
}

// set puts a cell into all its places.
func (g *grid) set(row, col, endRow, endCol, id int, s string) {
	for r := row; r <= endRow; r++ {
		for len(g.texts) <= r {
			g.texts, g.owner = append(g.texts, nil), append(g.owner, nil)
		}
		for len(g.texts[r]) <= endCol {
			g.texts[r], g.owner[r] = append(g.texts[r], ""), append(g.owner[r], 0)
		}
		for c := col; c <= endCol; c++ {
			g.texts[r][c], g.owner[r][c] = s, id
		}
	}
}

// at returns the cell at a place, 0 if it is blank or outside.
func (g *grid) at(row, col int) (id int, s string) {
	if row >= len(g.texts) || col >= len(g.texts[row]) {
		return 0, ""
	}
	return g.owner[row][col], g.texts[row][col]
}

func (g *grid) width() int {
	w := 0
	for _, row := range g.texts {
		w = max(w, len(row))
	}
	return w
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.Table))

// grids reads the tables of a Markdown text. The head row is a row like the others, since a table of GFM cannot do without one;
// there are no spans.
func grids(markdown string) []*grid {
	source := []byte(markdown)
	var found []*grid
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*tables.Table); ok {
				found = append(found, gridOf(t, source))
			} else {
				walk(c)
			}
		}
	}
	walk(gfm.Parser().Parse(text.NewReader(source)))
	return found
}

func gridOf(t *tables.Table, source []byte) *grid {
	g, id, row := &grid{}, 0, 0
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		col := 0
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			if s := normalise(plain(c, source)); s != "" {
				id++
				g.set(row, col, row, col, id, s)
			}
			col++
		}
		row++
	}
	return g
}

// plain is the text of an inline tree without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.RawHTML:
			if strings.HasPrefix(strings.ToLower(string(n.Segments.Value(source))), "<br") {
				b.WriteByte(' ')
			}
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			walk(c)
		}
	}
	walk(n)
	return unescape(b.String())
}
