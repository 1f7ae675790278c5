package picture

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// stack is a file of one or more pictures that MuPDF draws; see readByMuPDF.
type stack struct {
	doc   Drawings
	sizes []storedSize // of each page
	ocr   *ocr.Reader
}

// openStack opens the pictures. sizes come from the file's headers.
func openStack(data []byte, sizes []storedSize, libraries Libraries) (worker.Document, error) {
	doc, err := libraries.MuPDF(data)
	if err != nil {
		return nil, &extract.Error{Code: failure.Corrupt, Message: "MuPDF cannot open the picture: " + err.Error()}
	}
	pages := doc.Pages()
	if pages < 1 || pages > maxStack {
		return nil, &extract.Error{Code: failure.Corrupt, Message: fmt.Sprintf("the file has %d pictures", pages)}
	}
	if pages < len(sizes) {
		sizes = sizes[:pages]
	}
	return &stack{doc: doc, sizes: sizes, ocr: libraries.OCR}, nil
}

// About returns how many pictures there are.
func (s *stack) About() extract.Document {
	return extract.Document{Pages: len(s.sizes), Renderer: extract.RenderMuPDF, Version: s.doc.Version()}
}

// Page returns a picture upright. A point is a pixel.
func (s *stack) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
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
		if out.Image, err = raster.Encode(ctx, img, r, 72*float64(img.Rect.Dx())/float64(size.X)); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		img, err := s.draw(r.N, raster.OCRSide, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = s.ocr.Read(raster.Print(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// draw draws the picture pixel by pixel, or smaller if a limit requires it.
func (s *stack) draw(n, maxSide int, maxPixels int64) (*image.RGBA, error) {
	size := s.sizes[n-1]
	width, height, err := s.doc.Size(n)
	if err != nil {
		return nil, err
	}
	var img *image.RGBA
	switch {
	case max(size.width, size.height) <= maxSide && int64(size.width)*int64(size.height) <= maxPixels:
		img, err = s.doc.Native(n)
	case width < 1 || height < 1: // less than a point, but too large
		return nil, errors.New("the picture has no size")
	default:
		// The size is rounded down to whole points.
		img, err = s.doc.Draw(n, width, height, raster.Fit(width+1, height+1, 4800, maxSide, maxPixels))
	}
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return raster.Oriented(img, size.orientation), nil
}
