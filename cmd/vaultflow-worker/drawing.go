//go:build worker

package main

import (
	"context"
	"fmt"
	"image"

	"github.com/gen2brain/go-fitz"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// drawing is an SVG that MuPDF draws. It has no pixels until it is drawn.
type drawing struct {
	doc  *fitz.Document
	info imaging.Info // its size in pixels as the file says it
	ocr  *reader
}

// openDrawing opens an SVG. The binding looks at the first bytes alone and expects the tag there.
func openDrawing(data []byte, info imaging.Info, ocr *reader) (document, error) {
	doc, err := withMuPDF(imaging.TrimSVG(data))
	if err != nil {
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "MuPDF cannot open the drawing: " + err.Error()}
	}
	if doc.NumPage() != 1 {
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: fmt.Sprintf("the drawing has %d pages", doc.NumPage())}
	}
	return &drawing{doc: doc, info: info, ocr: ocr}, nil
}

func (d *drawing) about() extract.Document {
	return extract.Document{Pages: 1, Renderer: "mupdf", Version: fitz.FzVersion}
}

// page draws the file on white. A point stands for a pixel of the size that the file names.
func (d *drawing) page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	out := extract.Page{N: 1, WidthPt: float64(d.info.Width), HeightPt: float64(d.info.Height)}
	if r.Text {
		out.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
	}
	if r.Image {
		img, err := d.draw(min(r.MaxSide, max(d.info.Width, d.info.Height)), r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		dpi := 72 * float64(img.Rect.Dx()) / float64(d.info.Width)
		if out.Image, err = encodeWithin(ctx, img, r, dpi); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		img, err := d.draw(drawnForText, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = d.ocr.read(forceGrey(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// drawnForText is the longest side in pixels at which a drawing is read: labels of diagrams are small.
const drawnForText = 2500

// draw draws within a longest side, which need not be reached to the pixel.
func (d *drawing) draw(side int, maxPixels int64) (*image.RGBA, error) {
	bound, err := d.doc.Bound(0)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	width, height := float64(max(bound.Dx(), 1)), float64(max(bound.Dy(), 1))
	img, err := d.doc.ImageDPI(0, fit(width, height, 72*float64(side)/max(width, height), side+1, maxPixels))
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return img, nil
}
