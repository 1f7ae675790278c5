package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// picture is a photograph or drawing of one page. Package imaging decodes it, or another decoder when it does not.
type picture struct {
	data    []byte
	info    imaging.Info
	ocr     *reader
	decoded image.Image // what another decoder made of it, upright
	second  document    // MuPDF, once package imaging refused the picture's data
}

func openPicture(data []byte, ocr *reader) (document, error) {
	info, err := imaging.Probe(bytes.NewReader(data), int64(len(data)))
	if sizes := readByMuPDF(data, err == nil && !info.Decodable); sizes != nil {
		return openStack(data, sizes, ocr)
	}
	if size, ok := plainSize(data); ok && errors.Is(err, imaging.ErrNotImage) {
		info, err = imaging.Info{MediaType: plainPicture, Width: size.width, Height: size.height, Pixels: int64(size.width) * int64(size.height)}, nil
	}
	if err == nil {
		err = imaging.Limits{}.Check(info)
	}
	if err != nil {
		return nil, pictureFault(err)
	}
	if !info.Decodable && (info.MediaType == plainPicture || info.MediaType == "image/bmp" || info.MediaType == "image/tiff") {
		return openStack(data, []pictureSize{storedSize(info)}, ocr)
	}
	if info.MediaType == "image/svg+xml" {
		return openDrawing(data, info, ocr)
	}
	p := &picture{data: data, info: info, ocr: ocr}
	if !info.Decodable {
		// At once: these decoders have to be compiled first, for which there is more time now than for a page.
		if p.decoded, err = decodeForeign(data, info); err != nil {
			return nil, &extract.Error{Code: extract.CodeCorrupt, Message: info.MediaType + " cannot be decoded: " + err.Error()}
		}
	}
	return p, nil
}

func pictureFault(err error) error {
	code := extract.CodeCorrupt
	switch {
	case errors.Is(err, imaging.ErrUnsupported):
		code = extract.CodeUnsupported
	case errors.Is(err, imaging.ErrTooLarge):
		code = extract.CodeTooLarge
	}
	return &extract.Error{Code: code, Message: err.Error()}
}

func (p *picture) about() extract.Document {
	return extract.Document{Pages: 1, Renderer: "image", Version: p.info.MediaType}
}

// page gives the picture as package imaging decodes it, or MuPDF when that knows more of the format.
func (p *picture) page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	if p.second != nil {
		return p.second.page(ctx, r)
	}
	out, err := p.own(ctx, r)
	if err == nil || !p.mayBeReadBy(err) {
		return out, err
	}
	second, notOpened := openStack(p.data, []pictureSize{storedSize(p.info)}, p.ocr)
	if notOpened != nil {
		return extract.Page{}, err
	}
	out, failed := second.page(ctx, r)
	if failed != nil {
		return extract.Page{}, err
	}
	p.second = second
	return out, nil
}

// mayBeReadBy says whether MuPDF may read what package imaging refuses: kinds that it does not know. A torn picture is no such:
// half a picture that looks whole would be worse than none.
func (p *picture) mayBeReadBy(err error) bool {
	e, ok := errors.AsType[*extract.Error](err)
	return ok && e.Code == extract.CodeUnsupported && p.decoded == nil && plainSamples(p.data)
}

// storedSize is a picture's size before it is turned upright.
func storedSize(info imaging.Info) pictureSize {
	size := pictureSize{width: info.Width, height: info.Height, orientation: info.Orientation}
	if size.orientation >= 5 {
		size.width, size.height = size.height, size.width
	}
	return size
}

// own gives the picture upright and within the limits. Its size in points is that at 72 dpi, a point for a pixel.
func (p *picture) own(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	out := extract.Page{N: 1, WidthPt: float64(p.info.Width), HeightPt: float64(p.info.Height)}
	if r.Text {
		out.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
	}
	if r.Image {
		made, err := p.normal(ctx, imaging.Limits{MaxSide: r.MaxSide, MaxPixels: r.MaxPixels, MaxBytes: r.MaxBytes, Accept: formats(r)})
		if err != nil {
			return extract.Page{}, err
		}
		out.Image = &extract.PageImage{
			MediaType: made.MediaType, Width: made.Width, Height: made.Height, Size: len(made.Data), Bytes: made.Data,
			DPI: 72 * float64(made.Width) / float64(max(p.info.Width, 1)),
		}
	}
	if r.OCR {
		grey, err := p.grey(ctx, r.MaxPixels)
		if err != nil {
			return extract.Page{}, err
		}
		if out.OCR, err = p.ocr.read(grey, r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// normal gives the picture upright and within the limits, always encoded anew: none of its metadata is in it.
func (p *picture) normal(ctx context.Context, l imaging.Limits) (imaging.Encoded, error) {
	l.Reencode = true
	var made imaging.Encoded
	var err error
	if p.decoded != nil {
		made, err = imaging.Fit(ctx, p.decoded, p.info, l)
	} else {
		made, err = imaging.Normalise(ctx, bytes.NewReader(p.data), int64(len(p.data)), l)
	}
	if err != nil {
		return imaging.Encoded{}, pictureFault(err)
	}
	return made, nil
}

func (p *picture) grey(ctx context.Context, maxPixels int64) (*image.Gray, error) {
	side := min(ocrSide, max(p.info.Width, p.info.Height))
	if p.info.Pixels > maxPixels {
		side = int(fit(float64(p.info.Width), float64(p.info.Height), 72, side, maxPixels) / 72 * float64(side))
	}
	made, err := p.normal(ctx, imaging.Limits{MaxSide: side, Accept: []string{"image/png", "image/jpeg"}})
	if err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(made.Data))
	if err != nil {
		return nil, fmt.Errorf("decode the picture: %w", err)
	}
	grey := image.NewGray(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(grey, grey.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(grey, grey.Rect, img, img.Bounds().Min, draw.Over)
	return grey, nil
}
