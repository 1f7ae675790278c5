// Package picture answers requests about pictures: photographs and drawings of one page, and files of several. Package imaging
// decodes most of them, and the libraries that are handed in the rest, so that the package builds without cgo.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Drawings is an open file of pictures that MuPDF draws. Pages are counted from 1, and sizes are in points.
type Drawings interface {
	Version() string // of the library
	Pages() int
	Size(n int) (width, height float64, err error)
	Draw(n int, width, height, dpi float64) (*image.RGBA, error)
	Native(n int) (*image.RGBA, error) // at the resolution of the picture
}

// Libraries are what pictures are read with.
type Libraries struct {
	MuPDF  func(data []byte) (Drawings, error)
	Decode func(data []byte, info imaging.Info) (image.Image, error) // HEIC and AVIF, upright
	OCR    *ocr.Reader
}

// photo is a picture of one page. Package imaging decodes it, or another decoder if that cannot.
type photo struct {
	data      []byte
	info      imaging.Info
	libraries Libraries
	decoded   image.Image     // decoded by another library, upright
	second    worker.Document // MuPDF, once package imaging refused the data
}

// Open opens a picture.
func Open(data []byte, libraries Libraries) (worker.Document, error) {
	info, err := imaging.Probe(bytes.NewReader(data), int64(len(data)))
	if sizes := readByMuPDF(data, err == nil && !info.Decodable); sizes != nil {
		return openStack(data, sizes, libraries)
	}
	if size, mediaType := mupdfSize(data); mediaType != "" && errors.Is(err, imaging.ErrNotImage) {
		info, err = imaging.Info{MediaType: mediaType, Width: size.width, Height: size.height, Pixels: int64(size.width) * int64(size.height)}, nil
	}
	if err == nil {
		err = imaging.Limits{}.Check(info)
	}
	if err != nil {
		return nil, raster.Fault(err)
	}
	if !info.Decodable && (info.MediaType == plainPicture || info.MediaType == jpeg2000 || info.MediaType == photoshop || info.MediaType == "image/bmp" || info.MediaType == "image/tiff") {
		return openStack(data, []storedSize{sizeOf(info)}, libraries)
	}
	if info.MediaType == "image/svg+xml" {
		return openDrawing(data, info, libraries)
	}
	p := &photo{data: data, info: info, libraries: libraries}
	if !info.Decodable {
		// At once: these decoders must first be compiled, and opening may take longer than a page.
		if p.decoded, err = libraries.Decode(data, info); err != nil {
			return nil, &extract.Error{Code: failure.Corrupt, Message: info.MediaType + " cannot be decoded: " + err.Error()}
		}
	}
	return p, nil
}

// About returns that there is one page.
func (p *photo) About() extract.Document {
	return extract.Document{Pages: 1, Renderer: "image", Version: p.info.MediaType}
}

// Page returns the picture as package imaging decodes it, or as MuPDF does if that knows the format better.
func (p *photo) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	if p.second != nil {
		return p.second.Page(ctx, r)
	}
	out, err := p.own(ctx, r)
	if err == nil || !p.mupdfMayRead(err) {
		return out, err
	}
	second, notOpened := openStack(p.data, []storedSize{sizeOf(p.info)}, p.libraries)
	if notOpened != nil {
		return extract.Page{}, err
	}
	out, failed := second.Page(ctx, r)
	if failed != nil {
		return extract.Page{}, err
	}
	p.second = second
	return out, nil
}

// mupdfMayRead reports whether MuPDF may read what package imaging refuses: formats that it does not know, but no torn
// pictures. Half a picture that looks whole is worse than none.
func (p *photo) mupdfMayRead(err error) bool {
	e, ok := errors.AsType[*extract.Error](err)
	return ok && e.Code == failure.Unsupported && p.decoded == nil && plainSamples(p.data)
}

// sizeOf returns a picture's size before it is turned upright.
func sizeOf(info imaging.Info) storedSize {
	size := storedSize{width: info.Width, height: info.Height, orientation: info.Orientation}
	if size.orientation >= 5 {
		size.width, size.height = size.height, size.width
	}
	return size
}

// own returns the picture upright and within the limits. A point is a pixel.
func (p *photo) own(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	out := extract.Page{N: 1, WidthPt: float64(p.info.Width), HeightPt: float64(p.info.Height)}
	if r.Text {
		out.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
	}
	if r.Image {
		made, err := p.normal(ctx, imaging.Limits{MaxSide: r.MaxSide, MaxPixels: r.MaxPixels, MaxBytes: r.MaxBytes, Accept: raster.Formats(r)})
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
		if out.OCR, err = p.libraries.OCR.Read(grey, r.Languages); err != nil {
			return extract.Page{}, err
		}
	}
	return out, nil
}

// normal returns the picture upright and within the limits. It is always encoded again, without its metadata.
func (p *photo) normal(ctx context.Context, l imaging.Limits) (imaging.Encoded, error) {
	l.Reencode = true
	var made imaging.Encoded
	var err error
	if p.decoded != nil {
		made, err = imaging.Fit(ctx, p.decoded, p.info, l)
	} else {
		made, err = imaging.Normalise(ctx, bytes.NewReader(p.data), int64(len(p.data)), l)
	}
	if err != nil {
		return imaging.Encoded{}, raster.Fault(err)
	}
	return made, nil
}

func (p *photo) grey(ctx context.Context, maxPixels int64) (*image.Gray, error) {
	side := min(raster.OCRSide, max(p.info.Width, p.info.Height))
	if p.info.Pixels > maxPixels {
		side = int(raster.Fit(float64(p.info.Width), float64(p.info.Height), 72, side, maxPixels) / 72 * float64(side))
	}
	made, err := p.normal(ctx, imaging.Limits{MaxSide: side, Accept: []string{"image/png", "image/jpeg"}})
	if err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(made.Data))
	if err != nil {
		return nil, fmt.Errorf("decode the picture: %w", err)
	}
	return raster.Print(img), nil
}

// plainPicture is the type of the Netpbm formats, which only MuPDF reads here.
const plainPicture = "image/x-portable-anymap"

// plainSize reads the head of a Netpbm picture (PBM, PGM, PPM: netpbm.sourceforge.net/doc/ppm.html): a magic number, width and
// height in decimals, between them white space and comments.
func plainSize(data []byte) (storedSize, bool) {
	head := data[:min(len(data), 4096)]
	if len(head) < 3 || head[0] != 'P' || head[1] < '1' || head[1] > '6' {
		return storedSize{}, false
	}
	var words strings.Builder
	for line := range bytes.Lines(head[2:]) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words.WriteString(string(line) + " ")
	}
	var size storedSize
	n, err := fmt.Sscan(words.String(), &size.width, &size.height)
	return size, n == 2 && err == nil && size.width > 0 && size.height > 0
}
