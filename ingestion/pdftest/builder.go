// Package pdftest builds small PDF files for tests and for the demo vault: text, scans, forms, outlines, passwords, and
// files made to do harm.
//
// The same calls give the same bytes. The package is plain Go; it reads no PDF and is no library for making real ones.
package pdftest

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// A4 in points.
const (
	a4Width  = 595
	a4Height = 842
	margin   = 72
)

// Line is a line of text on a page. It is not wrapped. An empty Text leaves a gap, as between paragraphs.
type Line struct {
	Text string
	Size float64 // in points; 0 is 11
	Bold bool
}

// Text gives lines of body text.
func Text(lines ...string) []Line {
	out := make([]Line, len(lines))
	for i, text := range lines {
		out[i] = Line{Text: text}
	}
	return out
}

// Heading gives a line in bold type of 20 points.
func Heading(text string) Line { return Line{Text: text, Size: 20, Bold: true} }

// Builder collects pages. Its methods return it, so that calls can be chained.
type Builder struct {
	attached      []attachedFile
	width, height float64
	pages         []*page
	outline       []outlineItem
	title, author string
	userPassword  string
	encrypted     bool
	language      string
	labels        string // number tree of the page labels
	scanDPI       float64
	lossless      bool
	grain         uint64   // of the next scans; 0: of their page
	wide          wideFont // of a page whose font is not in the file
	codes         map[byte]string
	mono          bool          // a page has text in Courier
	drawn         map[byte]rune // the letters of a font that draws them
}

type page struct {
	width, height float64
	rotate        int
	content       string
	picture       *picture
	fields        []field
	annotations   []annotation
	links         []link
}

type attachedFile struct {
	name string
	data []byte
}

type outlineItem struct {
	title string
	page  int
}

type field struct {
	name, value string
	options     []string // of a choice
	box, ticked bool
}

// New gives a builder of A4 pages.
func New() *Builder {
	return &Builder{width: a4Width, height: a4Height, scanDPI: scanDPI, drawn: map[byte]rune{}}
}

// PageSize sets the size in points of the pages that follow.
func (b *Builder) PageSize(width, height float64) *Builder {
	b.width, b.height = width, height
	return b
}

// Resolution sets the pixels per inch of the scans that follow; they begin with 200.
func (b *Builder) Resolution(dpi float64) *Builder {
	b.scanDPI = dpi
	return b
}

// Lossless makes the scans that follow pictures without loss (Flate) instead of JPEG.
func (b *Builder) Lossless() *Builder {
	b.lossless = true
	return b
}

func (b *Builder) add(p *page) *Builder {
	p.width, p.height = b.width, b.height
	b.pages = append(b.pages, p)
	return b
}

// Language says in which language the document is, as "de-CH".
func (b *Builder) Language(tag string) *Builder {
	b.language = tag
	return b
}

// Attach puts a file into the document, as invoices and portfolios have them.
func (b *Builder) Attach(name string, data []byte) *Builder {
	b.attached = append(b.attached, attachedFile{name, data})
	return b
}

// RomanLabels numbers the first n pages i, ii, … and those that follow from 1.
func (b *Builder) RomanLabels(n int) *Builder {
	b.labels = fmt.Sprintf("<< /Nums [0 << /S /r >> %d << /S /D >>] >>", n)
	return b
}

// BlankPage adds an empty page.
func (b *Builder) BlankPage() *Builder { return b.add(&page{}) }

// TextPage adds a page of Helvetica.
func (b *Builder) TextPage(lines ...Line) *Builder {
	return b.add(&page{content: setText(b, lines, 0)})
}

// ScanPage adds a page that is a grey picture with the lines in it and no text: a JPEG of 200 dpi, unless Resolution or
// Lossless say otherwise.
func (b *Builder) ScanPage(lines ...string) *Builder {
	return b.add(scanPage(b, lines))
}

// StampedScanPage is a scan with a line of real text in its lower margin, as copiers and courts print it.
func (b *Builder) StampedScanPage(stamp string, lines ...string) *Builder {
	p := scanPage(b, lines)
	p.content += fmt.Sprintf("BT /F1 9 Tf %d %d Td %s Tj ET\n", margin, 24, literal(stamp))
	return b.add(p)
}

// InvisibleTextScan is a scan with the text of an earlier recognition behind it, which may differ from the picture.
func (b *Builder) InvisibleTextScan(hidden []string, lines ...string) *Builder {
	p := scanPage(b, lines)
	p.content += setText(b, Text(hidden...), 3)
	return b.add(p)
}

// Grain sets the dirt on the scans that follow, so that a page looks the same on whichever sheet it is. Without it, each sheet has its
// own.
func (b *Builder) Grain(seed uint64) *Builder {
	b.grain = seed
	return b
}

func scanPage(b *Builder, lines []string) *page {
	return &page{
		content: fmt.Sprintf("q %g 0 0 %g 0 0 cm /Im0 Do Q\n", b.width, b.height),
		picture: scanned(b, lines, cmp.Or(b.grain, uint64(len(b.pages)+1))),
	}
}

// Rotated turns the last page by degrees clockwise, a multiple of 90, when it is displayed.
func (b *Builder) Rotated(degrees int) *Builder {
	lastPage(b).rotate = degrees
	return b
}

// Outline adds an entry to the table of contents that leads to a page, counted from 1.
func (b *Builder) Outline(title string, page int) *Builder {
	b.outline = append(b.outline, outlineItem{title, page})
	return b
}

// Info sets the title and the author of the document.
func (b *Builder) Info(title, author string) *Builder {
	b.title, b.author = title, author
	return b
}

// UserPassword encrypts the document (RC4, 40 bits) so that it opens with this password; see also OwnerPasswordOnly.
func (b *Builder) UserPassword(password string) *Builder {
	b.userPassword, b.encrypted = password, true
	return b
}

// OwnerPasswordOnly encrypts the document so that every reader opens it, and only changing it needs a password.
func (b *Builder) OwnerPasswordOnly() *Builder { return b.UserPassword("") }

func lastPage(b *Builder) *page {
	if len(b.pages) == 0 {
		panic("pdftest: no page yet")
	}
	return b.pages[len(b.pages)-1]
}

// setText sets lines from the top margin down. Mode 3 is invisible.
func setText(b *Builder, lines []Line, mode int) string {
	var out strings.Builder
	y := b.height - margin
	for _, line := range lines {
		size, font := line.Size, "F1"
		if size == 0 {
			size = 11
		}
		if line.Bold {
			font = "F2"
		}
		y -= size * 1.4
		if line.Text == "" {
			continue
		}
		fmt.Fprintf(&out, "BT %d Tr /%s %g Tf %d %.2f Td %s Tj ET\n", mode, font, size, margin, y, literal(line.Text))
	}
	return out.String()
}

// Bytes gives the file.
func (b *Builder) Bytes() []byte {
	pages := b.pages
	if len(pages) == 0 {
		pages = []*page{{width: b.width, height: b.height}}
	}
	w := &writer{}
	if b.encrypted {
		w.crypt = newCipher(b.userPassword)
	}
	d := layout{Builder: b, w: w}
	d.catalog, d.tree = w.reserve(), w.reserve()
	d.regular, d.bold = w.reserve(), w.reserve()
	w.put(d.regular, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	w.put(d.bold, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
	if b.wide != (wideFont{}) {
		d.wideFont = d.putWide()
	}
	if b.codes != nil {
		d.codedFont = d.putCoded()
	}
	if b.mono {
		d.monoFont = w.reserve()
		w.put(d.monoFont, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>")
	}
	if len(b.drawn) > 0 {
		d.drawnFont = d.putDrawn()
	}
	for range pages {
		d.pages = append(d.pages, w.reserve())
	}
	for i, p := range pages {
		d.putPage(d.pages[i], p)
	}
	w.put(d.tree, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), refs(d.pages)))
	w.put(d.catalog, "<< /Type /Catalog /Pages "+ref(d.tree)+d.putOutline()+d.putForm()+d.putMore()+" >>")
	info := w.reserve()
	w.put(info, fmt.Sprintf("<< /Title %s /Author %s /Producer %s /CreationDate %s >>", w.str(info, b.title), w.str(info, b.author),
		w.str(info, "vaultflow pdftest"), w.str(info, "D:20260102030405Z")))
	var out bytes.Buffer
	w.write(&out, d.catalog, info)
	return out.Bytes()
}

// HugePageCount declares 9,999,999,999 pages and has one.
func HugePageCount() []byte {
	return bytes.Replace(New().TextPage(Text("One page, whatever the tree says.")...).Bytes(), []byte("/Count 1 "), []byte("/Count 9999999999 "), 1)
}

// GiantPage is a page of 18000 × 36000 points, more than ten metres high, with a line of text.
func GiantPage() []byte {
	return New().PageSize(18000, 36000).TextPage(Line{Text: "A poster for the side of a house", Size: 900}).Bytes()
}

// Truncated is the beginning of a file: the header and the catalogue are there, the pages that it names are not.
func Truncated() []byte {
	whole := New().TextPage(Text("This page was lost on the way.")...).Bytes()
	return whole[:bytes.Index(whole, []byte("\n2 0 obj"))+4]
}

// Rubbish starts like a PDF and holds none.
func Rubbish() []byte {
	return append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("nothing here is an object\n"), 200)...)
}

// WithPreamble puts bytes before a file, as mail gateways and web servers do. Readers have to look for the header.
func WithPreamble(pdf []byte) []byte {
	return append([]byte("\xef\xbb\xbfContent-Type: application/pdf\r\n\r\n"), pdf...)
}
