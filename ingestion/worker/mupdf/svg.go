package mupdf

import (
	"cmp"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// glyph is a letter as MuPDF draws it: where its baseline begins, and how large.
type glyph struct {
	text string
	id   string // of the outline: font and glyph
	x, y float64
	size float64
}

// maxRules limits what is read of maps and drawings.
const maxRules = 20_000

// addSVG adds what MuPDF's SVG of a page has and its HTML lacks: the places of letters, and rules. Each element is on its own
// line; those within definitions are not on the page.
func addSVG(page *layout.Page, svg string) {
	var glyphs []glyph
	hidden := 0
	for line := range strings.Lines(svg) {
		switch {
		case strings.HasPrefix(line, "<defs"), strings.HasPrefix(line, "<clipPath"), strings.HasPrefix(line, "<mask"), strings.HasPrefix(line, "<symbol"), strings.HasPrefix(line, "<pattern"):
			hidden++
		case strings.HasPrefix(line, "</defs"), strings.HasPrefix(line, "</clipPath"), strings.HasPrefix(line, "</mask"), strings.HasPrefix(line, "</symbol"), strings.HasPrefix(line, "</pattern"):
			hidden--
		case hidden > 0:
		case strings.HasPrefix(line, "<use "):
			if m, ok := transform(line); ok && m[0] > 0 && m[1] == 0 {
				glyphs = append(glyphs, glyph{html.UnescapeString(attribute(line, "data-text")), attribute(line, "xlink:href"), m[4], m[5], m[0]})
			}
		case strings.HasPrefix(line, "<path ") && len(page.Rules) < maxRules:
			page.Rules = append(page.Rules, rulesOf(line)...)
		}
	}
	place(page.Lines, glyphs)
}

func attribute(element, name string) string {
	_, rest, ok := strings.Cut(element, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func transform(element string) (m [6]float64, ok bool) {
	value, found := strings.CutPrefix(attribute(element, "transform"), "matrix(")
	if !found {
		return [6]float64{1, 0, 0, 1, 0, 0}, !strings.Contains(element, " transform=")
	}
	parts := strings.Split(strings.TrimSuffix(value, ")"), ",")
	if len(parts) != 6 {
		return m, false
	}
	for i, part := range parts {
		m[i] = number(part)
	}
	return m, true
}

// place finds the letters of each line among the glyphs, by its baseline, its left edge and its text. MuPDF puts the top
// of a line eight tenths of its height above the baseline.
func place(lines []layout.Line, glyphs []glyph) {
	widths := widthsOf(glyphs)
	rows := map[int][]glyph{}
	for _, g := range glyphs {
		rows[int(math.Round(g.y))] = append(rows[int(math.Round(g.y))], g)
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b glyph) int { return cmp.Compare(a.x, b.x) })
	}
	for i := range lines {
		line := &lines[i]
		base := line.Box.Y0 + 0.8*(line.Box.Y1-line.Box.Y0)
		key := int(math.Round(base))
		for _, at := range []int{key, key - 1, key + 1} {
			if edges, right, ok := match(*line, rows[at], widths); ok {
				line.Edges, line.Box.X1 = edges, max(right, line.Box.X0)
				break
			}
		}
	}
}

// match returns the left edges of a line's letters and its right edge. Letters of a ligature share its place.
func match(line layout.Line, row []glyph, widths map[string]float64) (edges []float64, right float64, ok bool) {
	at, _ := slices.BinarySearchFunc(row, line.Box.X0-0.6, func(g glyph, x float64) int { return cmp.Compare(g.x, x) })
	rest := ""
	var last glyph
	for _, r := range line.Text {
		if r == ' ' {
			edges = append(edges, last.x+widths[last.id]*last.size)
			continue
		}
		if rest == "" {
			for at < len(row) && strings.TrimSpace(row[at].text) == "" {
				at++
			}
			if at == len(row) {
				return nil, 0, false
			}
			last, rest = row[at], layout.Normal(row[at].text)
			at++
		}
		var fits bool
		if rest, fits = strings.CutPrefix(rest, string(r)); !fits {
			return nil, 0, false
		}
		edges = append(edges, last.x)
	}
	return edges, last.x + widths[last.id]*last.size, len(edges) > 0
}

// widthsOf learns how far glyphs advance, in sizes, from what follows them most closely.
func widthsOf(glyphs []glyph) map[string]float64 {
	widths := map[string]float64{}
	for i, g := range glyphs {
		width := 0.6
		if i+1 < len(glyphs) {
			if next := glyphs[i+1]; next.y == g.y && next.size == g.size && next.x > g.x {
				width = min((next.x-g.x)/g.size, 1)
			}
		}
		if before, ok := widths[g.id]; !ok || width < before {
			widths[g.id] = width
		}
	}
	return widths
}
