package mupdf

import (
	"html"
	"math"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// glyph is a letter as MuPDF draws it: where its baseline begins, and how large.
type glyph struct {
	text  string // normalised; empty for blanks
	id    string // of the outline: font and glyph
	x, y  float64
	size  float64
	turns int  // quarter turns clockwise of its direction, or askew
	blank bool // the file has a blank behind it
}

// askew is the turn of glyphs at any other angle.
const askew = -1

// maxRules limits what is read of maps and drawings.
const maxRules = 20_000

// addSVG adds what MuPDF's SVG of a page has and its HTML lacks: the places of letters, and rules. Each element is on its own
// line; those within definitions are not on the page.
func addSVG(page *layout.Page, svg string) {
	glyphs := make([]glyph, 0, strings.Count(svg, "<use "))
	var last matrix
	letters := map[string]string{} // as they are written: normalised
	hidden := 0
	for line := range strings.Lines(svg) {
		switch {
		case strings.HasPrefix(line, "<defs"), strings.HasPrefix(line, "<clipPath"), strings.HasPrefix(line, "<mask"), strings.HasPrefix(line, "<symbol"), strings.HasPrefix(line, "<pattern"):
			hidden++
		case strings.HasPrefix(line, "</defs"), strings.HasPrefix(line, "</clipPath"), strings.HasPrefix(line, "</mask"), strings.HasPrefix(line, "</symbol"), strings.HasPrefix(line, "</pattern"):
			hidden--
		case hidden > 0:
		case strings.HasPrefix(line, "<use "):
			if last.read(line) {
				glyphs = append(glyphs, glyphOf(line, last.m, letters))
			}
		case strings.HasPrefix(line, "<path ") && len(page.Rules) < maxRules:
			page.Rules = append(page.Rules, rulesOf(line)...)
		}
	}
	rescale(glyphs)
	place(page, glyphs, readLeftwards(page, glyphs))
}

func glyphOf(use string, m [6]float64, letters map[string]string) glyph {
	written := attribute(use, ` data-text="`)
	text, known := letters[written]
	if !known {
		text = strings.TrimSpace(layout.Normal(html.UnescapeString(written)))
		letters[written] = text
	}
	return glyph{
		text: text, id: attribute(use, ` xlink:href="`),
		x: m[4], y: m[5], size: math.Hypot(m[0], m[1]), turns: turnsOf(m[0], m[1]),
	}
}

// turnsOf returns in which direction text runs whose base goes along (a, b).
func turnsOf(a, b float64) int {
	switch level, upright := math.Abs(a), math.Abs(b); {
	case upright <= 0.02*level && a > 0:
		return 0
	case level <= 0.02*upright && b > 0:
		return 1
	case upright <= 0.02*level && a < 0:
		return 2
	case level <= 0.02*upright && b < 0:
		return 3
	}
	return askew
}

// font is what the ids of the glyphs of a font begin with.
func (g glyph) font() string { return g.id[:max(strings.LastIndexByte(g.id, '_'), 0)] }

// along returns how far in the direction of its text a glyph begins, and how far down its baseline is, as the text is read.
func (g glyph) along() (u, v float64) {
	switch g.turns {
	case 1:
		return g.y, -g.x
	case 2:
		return -g.x, -g.y
	case 3:
		return -g.y, g.x
	}
	return g.x, g.y
}

// attribute returns the value of an attribute, whose name is given as it begins in an element, with the blank before and the quotation mark after
// it, or "".
func attribute(element, name string) string {
	_, rest, ok := strings.Cut(element, name)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// matrix is the transformation of an element. That of the next one mostly differs only in its place, so what is equal is not read again.
type matrix struct {
	m     [6]float64
	parts [6]string // of m, as they are written
}

// read reads the transformation of an element, and reports whether it is well formed.
func (t *matrix) read(element string) bool {
	value, found := strings.CutPrefix(attribute(element, ` transform="`), "matrix(")
	if !found {
		*t = matrix{m: [6]float64{1, 0, 0, 1, 0, 0}}
		return !strings.Contains(element, " transform=")
	}
	value = strings.TrimSuffix(value, ")")
	for i := range t.m {
		part, rest, more := strings.Cut(value, ",")
		if more != (i+1 < len(t.m)) {
			return false
		}
		if value = rest; part != t.parts[i] || part == "" {
			t.m[i], t.parts[i] = number(part), part
		}
	}
	return true
}

// widthsOf learns how far glyphs advance, in sizes, from what follows them most closely.
func widthsOf(glyphs []glyph) map[string]float64 {
	widths := map[string]float64{}
	for i, g := range glyphs {
		width := 0.6
		if i+1 < len(glyphs) && glyphs[i+1].turns == g.turns && g.size > 0 {
			u, v := g.along()
			if nu, nv := glyphs[i+1].along(); math.Abs(nv-v) < 0.01 && nu > u {
				width = min((nu-u)/g.size, 1)
			}
		}
		if before, ok := widths[g.id]; !ok || width < before {
			widths[g.id] = width
		}
	}
	return widths
}
