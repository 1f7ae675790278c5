//go:build worker

package main

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/gen2brain/go-fitz"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// stack is a file of one or more pictures that MuPDF draws; see readByMuPDF.
type stack struct {
	doc   *fitz.Document
	sizes []pictureSize // of each page
	ocr   *reader
}

// openStack opens the pictures. sizes is what the file itself says of them.
func openStack(data []byte, sizes []pictureSize, ocr *reader) (document, error) {
	doc, err := withMuPDF(data)
	if err != nil {
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "MuPDF cannot open the picture: " + err.Error()}
	}
	pages := doc.NumPage()
	if pages < 1 || pages > maxStack {
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: fmt.Sprintf("the file has %d pictures", pages)}
	}
	if pages < len(sizes) {
		sizes = sizes[:pages]
	}
	return &stack{doc: doc, sizes: sizes, ocr: ocr}, nil
}

func (s *stack) about() extract.Document {
	return extract.Document{Pages: len(s.sizes), Renderer: "mupdf", Version: fitz.FzVersion}
}

// page gives a picture upright. A point stands for a pixel.
func (s *stack) page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	size := s.sizes[r.N-1].upright()
	out := extract.Page{N: r.N, WidthPt: float64(size.X), HeightPt: float64(size.Y)}
	if r.Text {
		out.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
	}
	if r.Image {
		img, err := s.draw(r.N, r.MaxSide, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.Image, err = encodeWithin(ctx, img, r, 72*float64(img.Rect.Dx())/float64(size.X)); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		img, err := s.draw(r.N, ocrSide, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = s.ocr.read(forceGrey(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// draw gives the picture pixel by pixel, or smaller where a cap asks for that.
func (s *stack) draw(n, maxSide int, maxPixels int64) (*image.RGBA, error) {
	size := s.sizes[n-1]
	bound, err := s.doc.Bound(n - 1)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	if bound.Dx() < 1 || bound.Dy() < 1 {
		return nil, errors.New("the picture has no size")
	}
	var img *image.RGBA
	if max(size.width, size.height) <= maxSide && int64(size.width)*int64(size.height) <= maxPixels {
		img, err = s.doc.Image(n - 1) // at the resolution of the picture
	} else {
		// The bound is rounded down to whole points.
		img, err = s.doc.ImageDPI(n-1, fit(float64(bound.Dx()+1), float64(bound.Dy()+1), 4800, maxSide, maxPixels))
	}
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return oriented(img, size.orientation), nil
}
