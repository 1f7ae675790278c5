//go:build worker

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"

	"github.com/gen2brain/go-fitz"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// linked says whether MuPDF and Tesseract are part of this program.
const linked = true

// resourceStore is the most bytes of decoded pictures and fonts that MuPDF keeps. They are of use within a page; with the
// binding's own 256 MB a long scan grew to half a gigabyte.
const resourceStore = 48 << 20

func mupdfVersion() string { return fitz.FzVersion }

// withMuPDF opens bytes whose kind was looked at before.
func withMuPDF(data []byte) (*fitz.Document, error) {
	fitz.MaxStore = resourceStore // read when a document is opened; there is one for each process
	return fitz.NewFromMemory(data)
}

// pdf is a document that MuPDF opened. Several calls of the binding end the process with code 1 when MuPDF raises an
// error; the sandbox reports that.
type pdf struct {
	doc  *fitz.Document
	data []byte
	info extract.Document
	ocr  *reader

	places   []placement // of the pages, once a part of one was asked for
	noPlaces error       // why there are none
}

// openPDF opens a document. It looks for the header itself and drops what stands before it, as mail gateways put there:
// the binding guesses from the first bytes, would take other kinds of files too, and crashes on some.
func openPDF(data []byte, ocr *reader) (document, error) {
	begin := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if begin < 0 {
		return nil, &extract.Error{Code: extract.CodeNotPDF, Message: "the file does not begin like a PDF"}
	}
	data = data[begin:]
	doc, err := withMuPDF(data)
	switch {
	case errors.Is(err, fitz.ErrNeedsPassword):
		return nil, &extract.Error{Code: extract.CodeNeedsPassword, Message: "the document is encrypted and needs a password"}
	case err != nil:
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "MuPDF cannot open the document: " + err.Error()}
	}
	pages := doc.NumPage()
	switch {
	case pages <= 0:
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "the document has no pages"}
	case pages > maxPages:
		return nil, &extract.Error{Code: extract.CodeTooLarge, Message: fmt.Sprintf("the document declares %d pages", pages)}
	}
	return &pdf{doc: doc, data: data, info: describe(doc, data, pages), ocr: ocr}, nil
}

// describe collects what a document says of itself.
func describe(doc *fitz.Document, data []byte, pages int) extract.Document {
	meta := doc.Metadata()
	field := func(name string) string { return metaText(meta[name]) }
	out := extract.Document{
		Pages: pages, Title: field("title"), Author: field("author"), Subject: field("subject"), Created: metaTime(field("creationDate")),
		Renderer: "mupdf", Version: fitz.FzVersion, Encrypted: field("encryption") != "" && field("encryption") != "None",
		Tagged: bytes.Contains(data, []byte("/StructTreeRoot")), Forms: bytes.Contains(data, []byte("/AcroForm")),
	}
	entries, err := doc.ToC()
	if err != nil {
		return out // the binding calls the absence of an outline an error
	}
	for _, entry := range entries[:min(len(entries), maxOutline)] {
		page := entry.Page + 1
		if page < 1 || page > pages {
			page = 0
		}
		out.Outline = append(out.Outline, extract.OutlineItem{Level: min(max(entry.Level, 1), 100), Title: metaText(entry.Title), Page: page})
	}
	return out
}

func (p *pdf) about() extract.Document { return p.info }

func (p *pdf) page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	bound, err := p.doc.Bound(r.N - 1)
	if err != nil {
		return extract.Page{}, fmt.Errorf("measure: %w", err)
	}
	out := extract.Page{N: r.N, WidthPt: clampPt(bound.Dx()), HeightPt: clampPt(bound.Dy())}
	if r.Text {
		page, err := p.doc.HTML(r.N-1, false)
		if err != nil {
			return extract.Page{}, fmt.Errorf("read text: %w", err)
		}
		out.Text = pageText(page)
	}
	if r.Image {
		img, dpi, err := p.picture(r, out.WidthPt, out.HeightPt)
		if err != nil {
			return extract.Page{}, err
		}
		if out.Image, err = encodeWithin(ctx, img, r, dpi); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		img, err := p.draw(r.N, fit(out.WidthPt, out.HeightPt, r.OCRDPI, ocrSide, r.MaxPixels))
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = p.ocr.read(forceGrey(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// picture draws a page, or a part of it. The longest side bounds what is asked for, the pixels what is drawn.
func (p *pdf) picture(r extract.PageRequest, width, height float64) (*image.RGBA, float64, error) {
	if r.Rect == nil {
		dpi := fit(width, height, r.DPI, r.MaxSide, r.MaxPixels)
		img, err := p.draw(r.N, dpi)
		return img, dpi, err
	}
	x0, y0, x1, y1, err := p.part(r, width, height)
	if err != nil {
		return nil, 0, err
	}
	dpi := min(fit(x1-x0, y1-y0, r.DPI, r.MaxSide, r.MaxPixels), fit(width, height, r.DPI, math.MaxInt32, r.MaxPixels))
	img, err := p.draw(r.N, dpi)
	if err != nil {
		return nil, 0, err
	}
	scale := func(pt float64) int { return int(math.Round(pt * dpi / 72)) }
	part := image.Rect(scale(x0), scale(y0), max(scale(x1), scale(x0)+1), max(scale(y1), scale(y0)+1)).Add(img.Rect.Min).Intersect(img.Rect)
	if part.Empty() {
		return nil, 0, errors.New("the rectangle is not on the page")
	}
	cut := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(cut, cut.Rect, img, part.Min, draw.Src)
	return cut, dpi, nil
}

// part is the rectangle that was asked for, in points of the page as displayed, from its upper left corner.
func (p *pdf) part(r extract.PageRequest, width, height float64) (x0, y0, x1, y1 float64, err error) {
	if p.places == nil && p.noPlaces == nil {
		p.places, p.noPlaces = placements(p.data)
	}
	at := placement{x1: width, y1: height}
	switch {
	case p.noPlaces != nil:
		return 0, 0, 0, 0, fmt.Errorf("where the rectangle lies is not known: %w", p.noPlaces)
	case r.N <= len(p.places):
		at = p.places[r.N-1]
	}
	ax, ay := at.place(r.Rect.X1, r.Rect.Y1)
	bx, by := at.place(r.Rect.X2, r.Rect.Y2)
	x0, x1 = max(0, min(ax, bx)), min(width, max(ax, bx))
	y0, y1 = max(0, min(ay, by)), min(height, max(ay, by))
	if x1 <= x0 || y1 <= y0 {
		return 0, 0, 0, 0, errors.New("the rectangle is not on the page")
	}
	return x0, y0, x1, y1, nil
}

func (p *pdf) draw(n int, dpi float64) (*image.RGBA, error) {
	img, err := p.doc.ImageDPI(n-1, dpi)
	if err != nil {
		return nil, fmt.Errorf("draw at %.0f dpi: %w", dpi, err)
	}
	return img, nil
}

// clampPt keeps what MuPDF says of a page within what a PDF can mean.
func clampPt(v int) float64 { return math.Min(math.Max(float64(v), 0), 1<<20) }
