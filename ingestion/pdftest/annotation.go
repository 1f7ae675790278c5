package pdftest

import (
	"fmt"
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

// Annotation is an annotation for [Builder.Annotate].
type Annotation struct {
	annotation
	line int // of body text that it lies on; 0 = its rectangle is given
}

// Annotate adds annotations to the last page.
func (b *Builder) Annotate(all ...Annotation) *Builder {
	for _, a := range all {
		if a.line > 0 {
			y := b.height - margin - float64(a.line)*11*1.4 // the baseline
			a.rect[1], a.rect[3] = y-3, y+10
		}
		lastPage(b).annotations = append(lastPage(b).annotations, a.annotation)
	}
	return b
}

// Highlight marks line n of the page's body text, counted from 1, from the left margin over a width in points, in yellow, with
// a comment.
func Highlight(n int, width float64, comment, author string) Annotation {
	return Annotation{annotation{
		subtype: "Highlight", contents: comment, author: author, rect: [4]float64{0: margin, 2: margin + width}, quad: true,
		look: fmt.Sprintf("1 1 0 rg 0 0 %g 13 re f", width), blend: "Multiply",
	}, n}
}

// Stamp is a rubber stamp of 200 × 40 points with a text, in the lower half of the page.
func Stamp(text string) Annotation { return StampDrawn(text, text) }

// StampDrawn is a stamp whose drawn text differs from the text of the annotation, which may be empty.
func StampDrawn(text, contents string) Annotation {
	return Annotation{annotation: annotation{
		subtype: "Stamp", contents: contents, rect: [4]float64{200, 200, 400, 240},
		look: fmt.Sprintf("1 0 0 RG 1 0 0 rg 2 w 2 2 196 36 re S BT /F2 20 Tf 12 12 Td %s Tj ET", literal(text)),
	}}
}

// FreeText is a text of 300 × 20 points as a reviewer writes it.
func FreeText(text, author string) Annotation {
	return Annotation{annotation: annotation{
		subtype: "FreeText", contents: text, author: author, rect: [4]float64{100, 300, 400, 320}, entries: " /DA (/F1 12 Tf 0 0 1 rg)",
		look: fmt.Sprintf("0 0 1 rg BT /F1 12 Tf 2 6 Td %s Tj ET", literal(text)),
	}}
}

// StickyNote is a note, drawn as a small square.
func StickyNote(text, author string) Annotation {
	return Annotation{annotation: annotation{
		subtype: "Text", contents: text, author: author, rect: [4]float64{500, 700, 520, 720}, look: "1 0.8 0 rg 0 0 20 20 re f",
	}}
}

// HiddenNote is a note that no viewer shows.
func HiddenNote(text string) Annotation {
	return Annotation{annotation: annotation{
		subtype: "Text", contents: text, rect: [4]float64{500, 600, 520, 620}, look: "0 0 20 20 re f", hidden: true,
	}}
}

// Field adds fields to the form of the last page.
func (b *Builder) Field(all ...Field) *Builder {
	for _, f := range all {
		lastPage(b).fields = append(lastPage(b).fields, field(f))
	}
	return b
}

// Field is a form field for [Builder.Field].
type Field field

// TextField is a field with a value. The value is in the field alone, not in the page's content.
func TextField(name, value string) Field { return Field{name: name, value: value} }

// CheckBox is a box, ticked or not.
func CheckBox(name string, ticked bool) Field { return Field{name: name, box: true, ticked: ticked} }

// Choice is a list of options, one of them chosen.
func Choice(name, chosen string, options ...string) Field {
	return Field{name: name, value: chosen, options: options}
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
	lastPage(b).links = append(lastPage(b).links, link{place, page, uri})
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
