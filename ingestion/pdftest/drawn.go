package pdftest

import (
	"fmt"
	"strings"

	"github.com/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// DrawnPage adds a page whose font draws each letter by a procedure (Type 3), as the files of old TeX do. Nothing in it says which letters
// these are but their codes: code gives that of a letter, which is the nth that occurs.
func (b *Builder) DrawnPage(code func(letter rune, nth int) byte, lines ...string) *Builder {
	codes := map[rune]byte{}
	var out strings.Builder
	y := b.height - margin
	for _, line := range lines {
		y -= 16
		fmt.Fprintf(&out, "BT /F6 11 Tf %d %.2f Td [<", margin, y)
		for _, r := range line {
			if r == ' ' { // TeX moves on
				out.WriteString("> -300 <")
				continue
			}
			c, ok := codes[r]
			if !ok {
				c = code(r, len(codes))
				codes[r] = c
				b.drawn[c] = r
			}
			fmt.Fprintf(&out, "%02X", c)
		}
		out.WriteString(">] TJ ET\n")
	}
	return b.add(&page{content: out.String()})
}

// putDrawn puts the font of drawn letters.
func (d *layout) putDrawn() int {
	parsed, err := sfnt.Parse(liberationserifregular.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	const em = 1000
	var procs, names, widths strings.Builder
	var buf sfnt.Buffer
	for c := range 256 {
		r, ok := d.drawn[byte(c)]
		if !ok {
			widths.WriteString("0 ")
			continue
		}
		glyph, _ := parsed.GlyphIndex(&buf, r)
		advance, _ := parsed.GlyphAdvance(&buf, glyph, fixed.I(em), font.HintingNone)
		segments, _ := parsed.LoadGlyph(&buf, glyph, fixed.I(em), nil)
		proc := d.w.reserve()
		d.w.putStream(proc, "", []byte(outline(segments, advance.Round())))
		fmt.Fprintf(&procs, "/a%d %s ", c, ref(proc))
		fmt.Fprintf(&names, "%d /a%d ", c, c)
		fmt.Fprintf(&widths, "%d ", advance.Round())
	}
	n := d.w.reserve()
	d.w.put(n, fmt.Sprintf("<< /Type /Font /Subtype /Type3 /FontBBox [0 -300 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0 /LastChar 255 "+
		"/Widths [%s] /Encoding << /Type /Encoding /Differences [%s] >> /CharProcs << %s >> /Resources << >> >>", widths.String(), names.String(), procs.String()))
	return n
}

// outline draws a letter.
func outline(segments sfnt.Segments, width int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d 0 0 -300 1000 1000 d1\n", width)
	at := func(p fixed.Point26_6) string { return fmt.Sprintf("%.1f %.1f ", float64(p.X)/64, -float64(p.Y)/64) }
	var last fixed.Point26_6
	between := func(a, b fixed.Point26_6) fixed.Point26_6 { // two thirds of the way: a curve of one control point as one of two
		return fixed.Point26_6{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3}
	}
	for _, s := range segments {
		end := s.Args[0]
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			out.WriteString(at(end) + "m\n")
		case sfnt.SegmentOpLineTo:
			out.WriteString(at(end) + "l\n")
		case sfnt.SegmentOpQuadTo:
			end = s.Args[1]
			out.WriteString(at(between(last, s.Args[0])) + at(between(end, s.Args[0])) + at(end) + "c\n")
		}
		last = end
	}
	return out.String() + "f\n"
}
