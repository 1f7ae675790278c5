package pdftest

import (
	"fmt"
	"unicode/utf16"
)

// annotation is drawn over a page's contents. It has a look of its own, as annotations of editors have.
type annotation struct {
	subtype, contents, author string
	rect                      [4]float64 // lower left and upper right corner
	quad                      bool       // it marks what lies in the rectangle
	look                      string     // operators, in coordinates that begin at the rectangle's lower left corner
	blend                     string     // mode of the look
	entries                   string     // further entries of the dictionary
	hidden                    bool       // viewers do not show it
}

// baseline is the distance in points of the n-th line of body text, counted from 1, from the lower edge of the page.
func (b *Builder) baseline(n int) float64 { return b.height - margin - float64(n)*11*1.4 }

// Highlight marks line n of the last page's body text, counted from 1, from the left margin over a width in points, in
// yellow, with a comment.
func (b *Builder) Highlight(n int, width float64, comment, author string) *Builder {
	y := b.baseline(n)
	return b.annotate(annotation{
		subtype: "Highlight", contents: comment, author: author, rect: [4]float64{margin, y - 3, margin + width, y + 10}, quad: true,
		look: fmt.Sprintf("1 1 0 rg 0 0 %g 13 re f", width), blend: "Multiply",
	})
}

// Stamp puts a rubber stamp of 200 × 40 points with a text into the lower half of the last page.
func (b *Builder) Stamp(text string) *Builder { return b.StampDrawn(text, text) }

// StampDrawn is Stamp with another text drawn than the one that the annotation says of itself, which may be empty.
func (b *Builder) StampDrawn(text, contents string) *Builder {
	return b.annotate(annotation{
		subtype: "Stamp", contents: contents, rect: [4]float64{200, 200, 400, 240},
		look: fmt.Sprintf("1 0 0 RG 1 0 0 rg 2 w 2 2 196 36 re S BT /F2 20 Tf 12 12 Td %s Tj ET", literal(text)),
	})
}

// FreeText writes a text on the last page as a reviewer does, in the place of 300 × 20 points.
func (b *Builder) FreeText(text, author string) *Builder {
	return b.annotate(annotation{
		subtype: "FreeText", contents: text, author: author, rect: [4]float64{100, 300, 400, 320}, entries: " /DA (/F1 12 Tf 0 0 1 rg)",
		look: fmt.Sprintf("0 0 1 rg BT /F1 12 Tf 2 6 Td %s Tj ET", literal(text)),
	})
}

// Note adds a sticky note to the last page. It is drawn as a small square.
func (b *Builder) Note(text, author string) *Builder {
	return b.annotate(annotation{
		subtype: "Text", contents: text, author: author, rect: [4]float64{500, 700, 520, 720}, look: "1 0.8 0 rg 0 0 20 20 re f",
	})
}

// Hidden adds a note to the last page that no viewer shows.
func (b *Builder) Hidden(text string) *Builder {
	return b.annotate(annotation{
		subtype: "Text", contents: text, rect: [4]float64{500, 600, 520, 620}, look: "0 0 20 20 re f", hidden: true,
	})
}

func (b *Builder) annotate(a annotation) *Builder {
	b.last().annotations = append(b.last().annotations, a)
	return b
}

// CheckBox adds a box to the last page's form, ticked or not.
func (b *Builder) CheckBox(name string, ticked bool) *Builder {
	b.last().fields = append(b.last().fields, field{name: name, box: true, ticked: ticked})
	return b
}

// Choice adds a list of options to the last page's form, of which one is chosen.
func (b *Builder) Choice(name, chosen string, options ...string) *Builder {
	b.last().fields = append(b.last().fields, field{name: name, value: chosen, options: options})
	return b
}

// WideText adds a page with a line of Japanese or Chinese text of 24 points in a font that is not in the file.
func (b *Builder) WideText(text string) *Builder {
	hex := ""
	for _, unit := range utf16.Encode([]rune(text)) {
		hex += fmt.Sprintf("%04X", unit)
	}
	b.wide = true
	return b.add(&page{content: fmt.Sprintf("BT /F3 24 Tf %d %g Td <%s> Tj ET\n", margin, b.height-2*margin, hex)})
}

// putWide writes the font of WideText.
func (d *layout) putWide() int {
	descendant, descriptor, n := d.w.reserve(), d.w.reserve(), d.w.reserve()
	d.w.put(descriptor, "<< /Type /FontDescriptor /FontName /KozMinPro-Regular /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 "+
		"/Descent -200 /CapHeight 700 /StemV 80 >>")
	d.w.put(descendant, fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType0 /BaseFont /KozMinPro-Regular /CIDSystemInfo << /Registry %s /Ordering %s "+
		"/Supplement 4 >> /FontDescriptor %s /DW 1000 >>", d.w.str(descendant, "Adobe"), d.w.str(descendant, "Japan1"), ref(descriptor)))
	d.w.put(n, fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /KozMinPro-Regular /Encoding /UniJIS-UCS2-H /DescendantFonts [%s] >>", ref(descendant)))
	return n
}

// putAnnotation writes an annotation of a page with its look.
func (d *layout) putAnnotation(a annotation) int {
	n, look := d.w.reserve(), d.w.reserve()
	width, height := a.rect[2]-a.rect[0], a.rect[3]-a.rect[1]
	resources, content := fmt.Sprintf("/Font << /F1 %s /F2 %s >>", ref(d.regular), ref(d.bold)), a.look
	if a.blend != "" {
		resources += " /ExtGState << /G0 << /BM /" + a.blend + " >> >>"
		content = "/G0 gs " + content
	}
	d.w.putStream(look, fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 %g %g] /Resources << %s >>", width, height, resources), []byte(content+"\n"))
	flags, entries := 4, a.entries // printed
	if a.hidden {
		flags = 2
	}
	if a.quad {
		entries += fmt.Sprintf(" /QuadPoints [%[1]g %[4]g %[3]g %[4]g %[1]g %[2]g %[3]g %[2]g] /C [1 1 0]", a.rect[0], a.rect[1], a.rect[2], a.rect[3])
	}
	d.w.put(n, fmt.Sprintf("<< /Type /Annot /Subtype /%s /Rect [%g %g %g %g] /F %d /Contents %s /T %s /AP << /N %s >>%s >>", a.subtype,
		a.rect[0], a.rect[1], a.rect[2], a.rect[3], flags, d.w.str(n, a.contents), d.w.str(n, a.author), ref(look), entries))
	return n
}

// putBox writes a check box. Its look when ticked is a black square.
func (d *layout) putBox(n, pageNumber int, rect string, f field) {
	on, off := d.w.reserve(), d.w.reserve()
	d.w.putStream(on, "/Type /XObject /Subtype /Form /BBox [0 0 20 20]", []byte("0 G 0.5 0.5 19 19 re S 4 4 12 12 re f\n"))
	d.w.putStream(off, "/Type /XObject /Subtype /Form /BBox [0 0 20 20]", []byte("0 G 0.5 0.5 19 19 re S\n"))
	state := "Off"
	if f.ticked {
		state = "Yes"
	}
	d.w.put(n, fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Btn /T %s /V /%[2]s /AS /%[2]s /F 4 /P %[3]s /Rect %[4]s /AP << /N << /Yes %[5]s /Off %[6]s >> >> >>",
		d.w.str(n, f.name), state, ref(pageNumber), rect, ref(on), ref(off)))
}

// Link lays a link over a place of the last page, in points from the upper left corner: to a page, counted from 1, or with
// page 0 to an address.
func (b *Builder) Link(place Rule, page int, uri string) *Builder {
	b.last().links = append(b.last().links, link{place, page, uri})
	return b
}

// link is a place of a page that leads somewhere.
type link struct {
	place Rule
	page  int
	uri   string
}

func (d *layout) putLink(p *page, l link) int {
	n, leads := d.w.reserve(), ""
	if l.page > 0 {
		leads = fmt.Sprintf("/Dest [%s /Fit]", ref(d.pages[l.page-1]))
	} else {
		leads = "/A << /S /URI /URI " + d.w.str(n, l.uri) + " >>"
	}
	d.w.put(n, fmt.Sprintf("<< /Type /Annot /Subtype /Link /Rect [%g %g %g %g] /Border [0 0 0] %s >>", l.place.X0, p.height-l.place.Y1, l.place.X1, p.height-l.place.Y0, leads))
	return n
}
