package pdftest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
)

// Placed is a text at a place of a page: X of its left edge, and Y of its baseline from the top, in points.
type Placed struct {
	Text string
	X, Y float64
	Size float64 // in points; 0 is 11
	Bold bool
	Mono bool // in Courier, whose letters are 0.6 of the size wide

	Spacing float64 // between letters, in points
	Angle   float64 // in degrees, anticlockwise
	Coded   bool    // each byte stands for what Codes says
}

// Rule is a straight line between two places, in points from the upper left corner.
type Rule struct{ X0, Y0, X1, Y1 float64 }

// PlacedPage adds a page with texts and rules where they are asked for.
func (b *Builder) PlacedPage(texts []Placed, rules []Rule) *Builder {
	var out strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&out, "0.5 w %.2f %.2f m %.2f %.2f l S\n", r.X0, b.height-r.Y0, r.X1, b.height-r.Y1)
	}
	for _, t := range texts {
		size, font := t.Size, "F1"
		if size == 0 {
			size = 11
		}
		if t.Bold {
			font = "F2"
		}
		if t.Coded {
			font = "F4"
		}
		if t.Mono {
			font, b.mono = "F5", true
		}
		sin, cos := math.Sincos(t.Angle * math.Pi / 180)
		fmt.Fprintf(&out, "BT /%s %g Tf %g Tc %.4f %.4f %.4f %.4f %.2f %.2f Tm %s Tj ET\n", font, size, t.Spacing, cos, sin, -sin, cos, t.X, b.height-t.Y, literal(t.Text))
	}
	return b.add(&page{content: out.String()})
}

// Codes says for which text each byte of Coded texts stands. Their font looks like Helvetica.
func (b *Builder) Codes(codes map[byte]string) *Builder {
	b.codes = codes
	return b
}

// putCoded puts the font of Coded texts.
func (d *layout) putCoded() int {
	var rows strings.Builder
	for _, code := range slices.Sorted(maps.Keys(d.codes)) {
		fmt.Fprintf(&rows, "<%02X> <", code)
		for _, unit := range utf16.Encode([]rune(d.codes[code])) {
			fmt.Fprintf(&rows, "%04X", unit)
		}
		rows.WriteString(">\n")
	}
	n, table := d.w.reserve(), d.w.reserve()
	d.w.putStream(table, "", fmt.Appendf(nil, "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Codes def /CMapType 2 def\n"+
		"1 begincodespacerange <00> <FF> endcodespacerange\n%d beginbfchar\n%sendbfchar endcmap CMapName currentdict /CMap defineresource pop end end",
		len(d.codes), rows.String()))
	d.w.put(n, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode "+ref(table)+" >>")
	return n
}

// Fill paints rectangles between opposite corners over what the last page has, from black (0) to white (1).
func (b *Builder) Fill(shade float64, all ...Rule) *Builder {
	p := lastPage(b)
	p.content += filled(p, shade, all)
	return b
}

// Ground paints rectangles below what the last page has.
func (b *Builder) Ground(shade float64, all ...Rule) *Builder {
	p := lastPage(b)
	p.content = filled(p, shade, all) + p.content
	return b
}

func filled(p *page, shade float64, all []Rule) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%g g\n", shade)
	for _, r := range all {
		fmt.Fprintf(&out, "%.2f %.2f %.2f %.2f re f\n", r.X0, p.height-r.Y1, r.X1-r.X0, r.Y1-r.Y0)
	}
	return out.String() + "0 g\n"
}

// Operators adds operators of PDF to the content of the last page: /F1 is Helvetica.
func (b *Builder) Operators(operators string) *Builder {
	lastPage(b).content += operators + "\n"
	return b
}

// NumberWidth gives the width in points of digits, commas and stops set in Helvetica; other signs count as digits do.
func NumberWidth(text string, size float64) float64 {
	width := 0.0
	for _, r := range text {
		if strings.ContainsRune(",. ", r) {
			width += 0.278 * size
		} else {
			width += 0.556 * size
		}
	}
	return width
}
