//go:build worker

package mupdf

/*
typedef struct fz_context fz_context;
void fz_empty_store(fz_context *ctx);
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"reflect"

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
	return &Document{doc: doc, data: data, pages: doc.NumPage()}, nil
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
		Tagged: bytes.Contains(d.data, []byte("/StructTreeRoot")), Forms: bytes.Contains(d.data, []byte("/AcroForm")),
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

// Size returns the size of a page as displayed, in points.
func (d *Document) Size(n int) (width, height float64, err error) {
	bound, err := d.doc.Bound(n - 1)
	if err != nil {
		return 0, 0, fmt.Errorf("measure: %w", err)
	}
	return float64(bound.Dx()), float64(bound.Dy()), nil
}

// Draw draws a page without annotations. The size is MuPDF's own.
func (d *Document) Draw(n int, _, _, dpi float64) (*image.RGBA, error) {
	img, err := d.doc.ImageDPI(n-1, dpi)
	if err != nil {
		return nil, fmt.Errorf("draw at %.0f dpi: %w", dpi, err)
	}
	return img, nil
}

// Forget empties MuPDF's store. It keeps tiles of patterns as they were drawn first, whatever part of a pixel they begin at: with them, a
// page would depend on what its worker drew before. The fonts go too, so that a page of text takes twice as long: call it only for
// documents with patterns. The binding does not export its context.
func (d *Document) Forget() {
	context := reflect.ValueOf(d.doc).Elem().FieldByName("ctx").UnsafePointer()
	C.fz_empty_store((*C.fz_context)(context))
}

// Native draws a page of a picture at the picture's own resolution.
func (d *Document) Native(n int) (*image.RGBA, error) { return d.doc.Image(n - 1) }

// Lines reads the text of a page without the exact places of its letters, which is fast. It also returns how many bytes that
// took, pictures included.
func (d *Document) Lines(n int) (page layout.Page, read int, err error) {
	text, err := d.doc.HTML(n-1, false)
	if err != nil {
		return layout.Page{}, 0, err
	}
	page = readHTML(text)
	if !sized(page) || hasLarge(page) {
		if drawn, err := d.doc.SVG(n - 1); err == nil {
			addSVG(&page, drawn)
		}
	}
	return page, len(text), nil
}

// Text reads the text of a page, and the places of letters and rules where lines are beside one another.
func (d *Document) Text(n int) (layout.Page, error) { return d.TextWithLinks(n, nil) }

// TextWithLinks reads the text of a page as Text does, for links found by another renderer: MuPDF's binding has no places for
// them. With links, the places of letters are always read.
func (d *Document) TextWithLinks(n int, links []layout.Link) (layout.Page, error) {
	text, err := d.doc.HTML(n-1, false)
	if err != nil {
		return layout.Page{}, err
	}
	page := readHTML(text)
	page.Links = links
	if hasLarge(page) || sideBySide(page) || needsGlyphs(page) || len(links) > 0 {
		if drawn, err := d.doc.SVG(n - 1); err == nil { // without it, edges are estimated and rules unknown
			addSVG(&page, drawn)
		}
	}
	return page, nil
}

// HasLinks reports whether a page has links.
func (d *Document) HasLinks(n int) bool {
	found, err := d.doc.Links(n - 1)
	return err == nil && len(found) > 0
}
