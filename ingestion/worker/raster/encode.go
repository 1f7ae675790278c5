package raster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// jpegQuality keeps small type legible.
const jpegQuality = 85

// dropColour returns a grey picture as image.Gray, which takes a third of the bytes and of the time to encode. Others stay.
func dropColour(img *image.RGBA) image.Image {
	for i := 0; i+3 < len(img.Pix); i += 4 {
		if img.Pix[i] != img.Pix[i+1] || img.Pix[i] != img.Pix[i+2] {
			return img
		}
	}
	return Grey(img)
}

// Grey returns the picture without colour, weighing the channels as the eye does.
func Grey(img *image.RGBA) *image.Gray {
	grey := image.NewGray(image.Rect(0, 0, img.Rect.Dx(), img.Rect.Dy()))
	for y := range img.Rect.Dy() {
		line := img.Pix[y*img.Stride:]
		for x := range img.Rect.Dx() {
			p := line[x*4 : x*4+3]
			grey.Pix[y*grey.Stride+x] = uint8((299*uint32(p[0]) + 587*uint32(p[1]) + 114*uint32(p[2])) / 1000) //nolint:gosec // a weighted mean of bytes
		}
	}
	return grey
}

// Identity returns the SHA-256 of a page's raster, without colour. Of the same page at the same resolution it stays the same,
// whatever encodes the page's picture.
func Identity(img *image.RGBA) string {
	grey := Grey(img)
	h := sha256.New()
	fmt.Fprintln(h, grey.Rect.Dx(), grey.Rect.Dy())
	h.Write(grey.Pix)
	return hex.EncodeToString(h.Sum(nil))
}

// encodeAs encodes a page's picture. With the format "auto", photographs become JPEG and everything else PNG.
func encodeAs(img image.Image, format string, dpi float64) (*extract.PageImage, error) {
	out := &extract.PageImage{Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), DPI: dpi}
	var b bytes.Buffer
	var err error
	if format == "jpeg" || format != "png" && photographic(img) {
		out.MediaType = "image/jpeg"
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
	} else {
		out.MediaType = "image/png"
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	out.Bytes = b.Bytes()
	out.Size = len(out.Bytes)
	return out, nil
}

// Encode encodes the picture as requested, and makes it smaller if it has too many bytes.
func Encode(ctx context.Context, img *image.RGBA, r extract.PageRequest, dpi float64) (*extract.PageImage, error) {
	picture := dropColour(img)
	out, err := encodeAs(picture, r.Format, dpi)
	if err != nil || r.MaxBytes == 0 || int64(out.Size) <= r.MaxBytes {
		return out, err
	}
	made, err := imaging.Fit(ctx, picture, imaging.Info{MediaType: out.MediaType}, imaging.Limits{MaxBytes: r.MaxBytes, Accept: Formats(r)})
	if err != nil {
		return nil, Fault(err)
	}
	return &extract.PageImage{
		MediaType: made.MediaType, Width: made.Width, Height: made.Height, Size: len(made.Data), Bytes: made.Data,
		DPI: dpi * float64(made.Width) / float64(out.Width),
	}, nil
}

// Formats returns the media types that the answer to a request may have.
func Formats(r extract.PageRequest) []string {
	switch r.Format {
	case "png":
		return []string{"image/png"}
	case "jpeg":
		return []string{"image/jpeg"}
	}
	return []string{"image/png", "image/jpeg"}
}

// photographic reports whether few neighbouring pixels are equal, so that PNG would be large.
func photographic(img image.Image) bool {
	pix, step := []byte(nil), 1
	switch img := img.(type) {
	case *image.Gray:
		pix = img.Pix
	case *image.RGBA:
		pix, step = img.Pix, 4
	}
	same, seen := 0, 0
	for i := step; i < len(pix); i += 7 * step {
		seen++
		if pix[i] == pix[i-step] {
			same++
		}
	}
	return seen > 0 && same*2 < seen
}

// Fault returns an error of package imaging as the failure that a worker reports.
func Fault(err error) error {
	code := failure.Corrupt
	switch {
	case errors.Is(err, imaging.ErrUnsupported):
		code = failure.Unsupported
	case errors.Is(err, imaging.ErrTooLarge):
		code = failure.TooLarge
	}
	return &extract.Error{Code: code, Message: err.Error()}
}
