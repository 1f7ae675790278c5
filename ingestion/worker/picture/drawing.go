package picture

import (
	"context"
	"fmt"
	"image"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// drawing is an SVG that MuPDF draws. It has no pixels until it is drawn.
type drawing struct {
	doc  Drawings
	info imaging.Info // with the size in pixels that the file declares
	ocr  *ocr.Reader
}

// openDrawing opens an SVG. MuPDF's binding expects the tag in the first bytes.
func openDrawing(data []byte, info imaging.Info, libraries Libraries) (worker.Document, error) {
	doc, err := libraries.MuPDF(imaging.TrimSVG(data))
	if err != nil {
		return nil, &extract.Error{Code: failure.Corrupt, Message: "MuPDF cannot open the drawing: " + err.Error()}
	}
	if doc.Pages() != 1 {
		return nil, &extract.Error{Code: failure.Corrupt, Message: fmt.Sprintf("the drawing has %d pages", doc.Pages())}
	}
	return &drawing{doc: doc, info: info, ocr: libraries.OCR}, nil
}

// About returns that there is one page.
func (d *drawing) About() extract.Document {
	return extract.Document{Pages: 1, Renderer: extract.RenderMuPDF, Version: d.doc.Version()}
}

// Page draws the file on white. A point is a pixel of the size that the file declares.
func (d *drawing) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
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
		if out.Image, err = raster.Encode(ctx, img, r, dpi); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		img, err := d.draw(drawnForText, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = d.ocr.Read(raster.Print(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// drawnForText is the longest side in pixels at which a drawing is read: labels of diagrams are small.
const drawnForText = 2500

// draw draws within a longest side, which need not be reached to the pixel.
func (d *drawing) draw(side int, maxPixels int64) (*image.RGBA, error) {
	width, height, err := d.doc.Size(1)
	if err != nil {
		return nil, err
	}
	width, height = max(width, 1), max(height, 1)
	return d.doc.Draw(1, width, height, raster.Fit(width, height, 72*float64(side)/max(width, height), side+1, maxPixels))
}
