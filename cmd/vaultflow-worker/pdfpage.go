//go:build worker

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

func (p *pdf) page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	by := p.choose(r.N, r.Other)
	out := extract.Page{N: r.N}
	var err error
	if out.WidthPt, out.HeightPt, err = p.size(r.N, by); err != nil {
		return extract.Page{}, err
	}
	if p.traces.catalog || p.doc == nil {
		if second, err := p.pdfium(); err == nil {
			out.Label = second.label(r.N)
		}
	}
	if r.Text {
		read := choice{pdfium: p.doc == nil || by.pdfium && (r.Other || strings.HasPrefix(by.reason, fontsMissing)), reason: by.reason}
		if out.Text, read, err = p.text(r.N, read); err != nil {
			return extract.Page{}, err
		}
		if read.pdfium && p.doc != nil {
			out.Renderer, out.Reason = read.renderer(), read.reason
		}
		p.look(r, out.WidthPt, out.HeightPt, by, out.Text)
	}
	if r.Image {
		var img *image.RGBA
		var dpi float64
		if img, dpi, by, err = p.picture(r, out.WidthPt, out.HeightPt, by); err != nil {
			return extract.Page{}, err
		}
		if r.Rect == nil && by.pdfium && strings.HasPrefix(by.reason, fontsMissing) {
			by.reason = p.fontless(r.N, img, dpi, by.reason)
		}
		if out.Image, err = encodeWithin(ctx, img, r, dpi); err != nil {
			return extract.Page{}, err
		}
	}
	if r.OCR {
		dpi := fit(out.WidthPt, out.HeightPt, r.OCRDPI, ocrSide, r.MaxPixels)
		img, drawn, err := p.draw(r.N, out.WidthPt, out.HeightPt, dpi, by)
		if err != nil {
			return extract.Page{}, err
		}
		by = drawn
		if out.OCR, err = p.ocr.read(forceGrey(img), r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	if (r.Image || r.OCR) && (by.renderer() != p.info.Renderer || by.reason != p.info.Reason) {
		out.Renderer, out.Reason = by.renderer(), by.reason
	}
	return out, nil
}

// size is that of a page as displayed, in points.
func (p *pdf) size(n int, by choice) (width, height float64, err error) {
	if !by.pdfium || !p.mayFallBack() && p.doc != nil {
		bound, err := p.doc.Bound(n - 1)
		if err == nil {
			return clampPt(float64(bound.Dx())), clampPt(float64(bound.Dy())), nil
		}
		if !p.mayFallBack() {
			return 0, 0, fmt.Errorf("measure: %w", err)
		}
	}
	second, err := p.pdfium()
	if err != nil {
		return 0, 0, err
	}
	width, height, err = second.size(n)
	return clampPt(width), clampPt(height), err
}

// mayFallBack says whether the other renderer may do what one cannot.
func (p *pdf) mayFallBack() bool { return p.renderer == "" || p.renderer == extract.RenderAuto }

// text reads the text layer, with PDFium when MuPDF cannot, and what stands beside it.
func (p *pdf) text(n int, by choice) (*extract.PageText, choice, error) {
	var out *extract.PageText
	if !by.pdfium {
		page, err := p.layer(n)
		if err != nil && !p.mayFallBack() {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		if err == nil {
			out, p.tails[n] = pageText(page, p.profileOf(page), n, func() *layout.Tail { return p.tail(n-1, farthestBack) })
		} else {
			by = choice{true, "mupdf_failed: read text: " + err.Error()}
		}
	}
	if out == nil {
		second, err := p.pdfium()
		if err != nil {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		found, err := second.text(n)
		if err != nil {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		out, _ = pageText(found, p.profileOf(found), n, noTable)
	}
	if p.traces.annotations || p.doc == nil {
		b, err := p.beside(n)
		if err != nil {
			return nil, by, fmt.Errorf("read form values and annotations: %w", err)
		}
		out.Besides = b.markdown()
	}
	return out, by, nil
}

// fontless gives the reason for a renderer, or another one when the text that was the reason is not in the picture.
func (p *pdf) fontless(n int, img *image.RGBA, dpi float64, reason string) string {
	if page, err := p.second.text(n); err == nil && undrawn(page, img, dpi, isWide) {
		return noFont + "Chinese, Japanese or Korean text without its fonts, and no font of this system draws it"
	}
	return reason
}

// farthestBack is how many pages back the beginning of a table is looked for, where they were not read before.
const farthestBack = 10

// tail gives the table that ends page n; nil when none does, or no other page may be read.
func (p *pdf) tail(n, back int) *layout.Tail {
	if found, read := p.tails[n]; read || n < 1 || back == 0 || p.alone {
		return found
	}
	page, err := p.layer(n)
	if err != nil {
		return nil
	}
	_, p.tails[n] = pageText(page, p.profileOf(page), n, func() *layout.Tail { return p.tail(n-1, back-1) })
	return p.tails[n]
}

// picture draws a page, or a part of it. The longest side bounds what is asked for, the pixels what is drawn.
func (p *pdf) picture(r extract.PageRequest, width, height float64, by choice) (*image.RGBA, float64, choice, error) {
	if r.Rect == nil {
		dpi := fit(width, height, r.DPI, r.MaxSide, r.MaxPixels)
		img, by, err := p.draw(r.N, width, height, dpi, by)
		return img, dpi, by, err
	}
	x0, y0, x1, y1, err := p.part(r, width, height)
	if err != nil {
		return nil, 0, by, err
	}
	dpi := min(fit(x1-x0, y1-y0, r.DPI, r.MaxSide, r.MaxPixels), fit(width, height, r.DPI, math.MaxInt32, r.MaxPixels))
	img, by, err := p.draw(r.N, width, height, dpi, by)
	if err != nil {
		return nil, 0, by, err
	}
	scale := func(pt float64) int { return int(math.Round(pt * dpi / 72)) }
	part := image.Rect(scale(x0), scale(y0), max(scale(x1), scale(x0)+1), max(scale(y1), scale(y0)+1)).Add(img.Rect.Min).Intersect(img.Rect)
	if part.Empty() {
		return nil, 0, by, errors.New("the rectangle is not on the page")
	}
	cut := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(cut, cut.Rect, img, part.Min, draw.Src)
	return cut, dpi, by, nil
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

// draw draws a page with the renderer that was chosen; when that one gives up, with the other. It tells which did.
func (p *pdf) draw(n int, width, height, dpi float64, by choice) (*image.RGBA, choice, error) {
	img, err := p.drawBy(n, width, height, dpi, by)
	if err == nil || !p.mayFallBack() || by.pdfium && p.doc == nil {
		return img, by, err
	}
	instead := choice{!by.pdfium, by.renderer() + "_failed: " + err.Error()}
	img, again := p.drawBy(n, width, height, dpi, instead)
	if again != nil {
		return nil, by, errors.Join(err, again)
	}
	return img, instead, nil
}

func (p *pdf) drawBy(n int, width, height, dpi float64, by choice) (*image.RGBA, error) {
	if by.pdfium {
		second, err := p.pdfium()
		if err != nil {
			return nil, err
		}
		return second.draw(n, width, height, dpi)
	}
	img, err := p.doc.ImageDPI(n-1, dpi)
	if err != nil {
		return nil, fmt.Errorf("draw at %.0f dpi: %w", dpi, err)
	}
	return img, nil
}

// clampPt keeps what is said of a page's size within what a PDF can mean.
func clampPt(v float64) float64 {
	if !(v > 0) { // NaN too
		return 0
	}
	return min(v, 1<<20)
}
