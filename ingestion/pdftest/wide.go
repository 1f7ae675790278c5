package pdftest

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// wideFont is a font for Chinese or Japanese that viewers know by its name.
type wideFont struct{ name, ordering, encoding string }

var (
	japanese = wideFont{"KozMinPro-Regular", "Japan1", "UniJIS-UCS2-H"}
	chinese  = wideFont{"STSong-Light", "GB1", "UniGB-UCS2-H"}
)

// WideText adds a page with lines of Japanese text of 24 points in a font that is not in the file.
func (b *Builder) WideText(lines ...string) *Builder { return b.addWide(japanese, lines) }

// ChineseText is WideText for simplified Chinese. A document has one of both.
func (b *Builder) ChineseText(lines ...string) *Builder { return b.addWide(chinese, lines) }

func (b *Builder) addWide(font wideFont, lines []string) *Builder {
	var out strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&out, "BT /F3 24 Tf %d %g Td <", margin, b.height-2*margin-36*float64(i))
		for _, unit := range utf16.Encode([]rune(line)) {
			fmt.Fprintf(&out, "%04X", unit)
		}
		out.WriteString("> Tj ET\n")
	}
	b.wide = font
	return b.add(&page{content: out.String()})
}

// putWide writes the font of wide text.
func (d *layout) putWide() int {
	descendant, descriptor, n, font := d.w.reserve(), d.w.reserve(), d.w.reserve(), d.wide
	d.w.put(descriptor, "<< /Type /FontDescriptor /FontName /"+font.name+" /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 "+
		"/Descent -200 /CapHeight 700 /StemV 80 >>")
	d.w.put(descendant, fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType0 /BaseFont /%s /CIDSystemInfo << /Registry %s /Ordering %s "+
		"/Supplement 4 >> /FontDescriptor %s /DW 1000 >>", font.name, d.w.str(descendant, "Adobe"), d.w.str(descendant, font.ordering), ref(descriptor)))
	d.w.put(n, fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /%s /DescendantFonts [%s] >>", font.name, font.encoding, ref(descendant)))
	return n
}
