//go:build worker

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
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
	info extract.Document
	ocr  *reader
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
	return &pdf{doc: doc, info: describe(doc, data, pages), ocr: ocr}, nil
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

func (p *pdf) page(_ context.Context, r extract.PageRequest) (extract.Page, error) {
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
		dpi := fit(out.WidthPt, out.HeightPt, r.DPI, r.MaxSide, r.MaxPixels)
		img, err := p.draw(r.N, dpi)
		if err != nil {
			return extract.Page{}, err
		}
		picture := greyOf(img)
		if out.Image, err = encodePicture(picture, r.Format, dpi, isPhotographic(picture)); err != nil {
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

func (p *pdf) draw(n int, dpi float64) (*image.RGBA, error) {
	img, err := p.doc.ImageDPI(n-1, dpi)
	if err != nil {
		return nil, fmt.Errorf("draw at %.0f dpi: %w", dpi, err)
	}
	return img, nil
}

// clampPt keeps what MuPDF says of a page within what a PDF can mean.
func clampPt(v int) float64 { return math.Min(math.Max(float64(v), 0), 1<<20) }
