//go:build worker

package mupdf

// #include "read.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"reflect"
	"slices"
	"unsafe"

	"github.com/gen2brain/go-fitz"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdf"
	"github.com/vaultflow/vaultflow/ingestion/worker/picture"
)

// Version returns the version of the linked library.
func Version() string { return fitz.FzVersion }

// resourceStore is the most bytes of decoded pictures and fonts that MuPDF keeps. They are of use within a page; with the
// binding's own 256 MB a long scan grew to half a gigabyte, with 16 MB a worker by up to 17 % over 600 pages, with 4 MB by 3 to 7 %.
const resourceStore = 4 << 20

// Document is a document that MuPDF opened. It is used by one goroutine, and pages are counted from 1.
type Document struct {
	doc   *fitz.Document
	data  []byte
	pages int
	paper []byte // what pages are drawn on

	// The binding copies each page three times and encodes its pictures to read its text, so read.c draws and reads pages. The
	// binding does not export what it opened.
	context *C.fz_context
	opened  *C.fz_document

	page *C.fz_page // nil = none is open
	at   int        // its number
}

var (
	_ pdf.MuPDF        = (*Document)(nil)
	_ picture.Drawings = (*Document)(nil)
)

// Open opens a document. Look at its kind before: the binding guesses it from the first bytes, and crashes on some. The error
// is pdf.ErrNeedsPassword if the document is encrypted.
func Open(data []byte) (*Document, error) {
	fitz.MaxStore = resourceStore // read when a document is opened; a process opens one
	doc, err := fitz.NewFromMemory(data)
	if errors.Is(err, fitz.ErrNeedsPassword) {
		return nil, pdf.ErrNeedsPassword
	}
	if err != nil {
		return nil, err
	}
	inside := reflect.ValueOf(doc).Elem()
	return &Document{
		doc: doc, data: data, pages: doc.NumPage(),
		context: (*C.fz_context)(inside.FieldByName("ctx").UnsafePointer()), opened: (*C.fz_document)(inside.FieldByName("doc").UnsafePointer()),
	}, nil
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return d.pages }

// Version returns the version of the library.
func (d *Document) Version() string { return Version() }

// Describe returns what the document says about itself.
func (d *Document) Describe() extract.Document {
	meta := d.doc.Metadata()
	field := func(name string) string { return metadata.Text(meta[name]) }
	out := extract.Document{
		Pages: d.pages, Title: field("title"), Author: field("author"), Subject: field("subject"), Created: metadata.Time(field("creationDate")),
		Renderer: extract.RenderMuPDF, Version: Version(), Encrypted: field("encryption") != "" && field("encryption") != "None",
		Language: d.language(), Tagged: bytes.Contains(d.data, []byte("/StructTreeRoot")), Forms: bytes.Contains(d.data, []byte("/AcroForm")),
	}
	entries, err := d.doc.ToC()
	if err != nil {
		return out // the binding returns an error if there is no outline
	}
	for _, entry := range entries[:min(len(entries), metadata.MaxOutline)] {
		page := entry.Page + 1
		if page < 1 || page > d.pages {
			page = 0
		}
		out.Outline = append(out.Outline, extract.OutlineItem{Level: min(max(entry.Level, 1), 100), Title: metadata.Text(entry.Title), Page: page})
	}
	return out
}

// catalogText is the most bytes of a language or a label.
const catalogText = 256

func (d *Document) language() string {
	var text [catalogText]C.char
	C.language(d.context, d.opened, &text[0], catalogText)
	return metadata.Language(metadata.Text(C.GoString(&text[0])))
}

// Label returns the number that is printed on a page, if the catalog has it, or "".
func (d *Document) Label(n int) string {
	page := d.open(n)
	if page == nil {
		return ""
	}
	var text [catalogText]C.char
	C.page_label(d.context, d.opened, page, &text[0], catalogText)
	return metadata.Text(C.GoString(&text[0]))
}

// open opens a page, if it is not the one that is open: a request reads and draws a page several times. It returns nil if that fails.
func (d *Document) open(n int) *C.fz_page {
	if d.page != nil && d.at == n {
		return d.page
	}
	if d.page != nil {
		C.close_page(d.context, d.opened, d.page)
	}
	d.page, d.at = C.open_page(d.context, d.opened, C.int(n-1)), n
	return d.page
}

// Size returns the size of a page as displayed, in points.
func (d *Document) Size(n int) (width, height float64, err error) {
	d.open(n) // where the binding finds it
	bound, err := d.doc.Bound(n - 1)
	if err != nil {
		return 0, 0, fmt.Errorf("measure: %w", err)
	}
	return float64(bound.Dx()), float64(bound.Dy()), nil
}

// keptPaper is the most bytes of a page's pixels whose memory the next page gets: those of a page of A4 at 200 dpi. New memory
// costs a third of the time that drawing a page of text takes.
const keptPaper = 16 << 20

// Draw draws a page without annotations. The size is MuPDF's own. The picture is overwritten by the next one.
func (d *Document) Draw(n int, _, _, dpi float64) (*image.RGBA, error) {
	img := &image.RGBA{}
	var err error
	img.Pix, img.Rect, err = d.draw(n, dpi, 4, nil)
	img.Stride = 4 * img.Rect.Dx()
	return img, err
}

// Picture draws a page as Draw does, and reports whether anything on it has a colour, and what is damaged. Without colour the picture is grey:
// that takes half of the time, and is right if nothing has a colour.
func (d *Document) Picture(n int, dpi float64, colour bool) (_ image.Image, coloured bool, _ layout.Damage, err error) {
	found := C.findings{doc: d.opened, n: C.int(n - 1)}
	if !colour {
		pix, rect, err := d.draw(n, dpi, 1, &found)
		return &image.Gray{Pix: pix, Stride: rect.Dx(), Rect: rect.Sub(rect.Min)}, found.coloured != 0, layout.Damage(found.damage), err
	}
	pix, rect, err := d.draw(n, dpi, 4, &found)
	return &image.RGBA{Pix: pix, Stride: 4 * rect.Dx(), Rect: rect}, found.coloured != 0, layout.Damage(found.damage), err
}

// draw draws a page with so many bytes for each pixel: one for grey, and four for red, green, blue and alpha. found, unless it is nil, gets what
// is found.
func (d *Document) draw(n int, dpi float64, bytes int, found *C.findings) ([]byte, image.Rectangle, error) {
	page, scale := d.open(n), C.float(dpi/72)
	var size C.fz_irect
	if page == nil || C.page_size(d.context, page, scale, &size) == 0 {
		return nil, image.Rectangle{}, fmt.Errorf("load page %d", n)
	}
	rect := image.Rect(int(size.x0), int(size.y0), int(size.x1), int(size.y1))
	if rect.Empty() {
		return nil, rect, fmt.Errorf("draw at %.0f dpi: the page is empty", dpi)
	}
	pix := d.blank(bytes * rect.Dx() * rect.Dy())
	if C.draw_page(d.context, page, scale, size, C.int(bytes), (*C.uchar)(&pix[0]), found) == 0 {
		return nil, rect, fmt.Errorf("draw at %.0f dpi: MuPDF failed", dpi)
	}
	return pix, rect, nil
}

// blank returns so many bytes, which hold anything.
func (d *Document) blank(n int) []byte {
	if n > keptPaper {
		d.paper = nil
		return make([]byte, n)
	}
	if cap(d.paper) < n {
		d.paper = make([]byte, n)
	}
	return d.paper[:n]
}

// Forget empties MuPDF's store. It keeps tiles of patterns as they were drawn first, whatever part of a pixel they begin at: with them, a
// page would depend on what its worker drew before. The fonts go too, so that a page of text takes twice as long: call it only for
// documents with patterns.
func (d *Document) Forget() { C.fz_empty_store(d.context) }

// Native draws a page of a picture at the picture's own resolution.
func (d *Document) Native(n int) (*image.RGBA, error) { return d.doc.Image(n - 1) }

// Lines reads the text of a page without the exact places of its letters, which is fast.
func (d *Document) Lines(n int) (layout.Page, error) {
	text, err := d.html(n)
	if err != nil {
		return layout.Page{}, err
	}
	page := readHTML(text)
	if !sized(page) || hasLarge(page) || slices.ContainsFunc(page.Lines, runsLeft) {
		d.addShapes(&page, n)
	}
	return page, nil
}

// Text reads the text of a page with its links, and the places of letters and rules where lines are beside one another or have links.
func (d *Document) Text(n int) (layout.Page, error) {
	text, err := d.html(n)
	if err != nil {
		return layout.Page{}, err
	}
	page := readHTML(text)
	page.Links = d.links(n)
	if hasLarge(page) || sideBySide(page) || needsGlyphs(page) || len(page.Links) > 0 || len(page.Ticks)+len(page.Struck) > 0 {
		d.addShapes(&page, n)
	}
	markStruck(&page)
	writeTicks(&page)
	return page, nil
}

// html returns the text of a page as MuPDF prints it, with the places of pictures.
func (d *Document) html(n int) (string, error) {
	page := d.open(n)
	if page == nil {
		return "", fmt.Errorf("load page %d", n)
	}
	printed := C.page_text(d.context, d.opened, page, C.int(n-1))
	if printed == nil {
		return "", errors.New("MuPDF failed")
	}
	return d.take(printed), nil
}

// addShapes adds the places of letters and rules. Where MuPDF fails, edges are estimated and rules unknown.
func (d *Document) addShapes(page *layout.Page, n int) {
	opened := d.open(n)
	if opened == nil {
		return
	}
	if drawn := C.page_shapes(d.context, opened); drawn != nil {
		addSVG(page, d.take(drawn))
	}
}

// take returns the content of a buffer, and drops it.
func (d *Document) take(buf *C.fz_buffer) string {
	defer C.fz_drop_buffer(d.context, buf)
	var data *C.uchar
	n := C.fz_buffer_storage(d.context, buf, &data)
	return string(unsafe.Slice((*byte)(data), int(n)))
}
