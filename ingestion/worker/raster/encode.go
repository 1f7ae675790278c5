package raster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/pagepng"
)

// jpegQuality keeps small type legible.
const jpegQuality = 85

// Grey returns the picture without colour, weighing the channels as the eye does.
func Grey(img *image.RGBA) *image.Gray {
	w := img.Rect.Dx()
	grey := image.NewGray(image.Rect(0, 0, w, img.Rect.Dy()))
	var last uint32
	var v uint8
	for y := range img.Rect.Dy() {
		line, to := img.Pix[y*img.Stride:][:4*w], grey.Pix[y*w:][:w]
		for x := range to {
			if p := binary.LittleEndian.Uint32(line[4*x:]); p != last || x == 0 { // neighbours are mostly equal
				last, v = p, uint8((299*(p&0xff)+587*(p>>8&0xff)+114*(p>>16&0xff))/1000) //nolint:gosec // a weighted mean of bytes
			}
			to[x] = v
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
	var err error
	if format == "jpeg" || format != "png" && photographic(img) {
		out.MediaType = "image/jpeg"
		var b bytes.Buffer
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
		out.Bytes = b.Bytes()
	} else {
		out.MediaType = "image/png"
		out.Bytes, err = pagepng.Encode(img)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	out.Size = len(out.Bytes)
	return out, nil
}

// Encode encodes the picture as requested, and makes it smaller if it has too many bytes.
func Encode(ctx context.Context, picture image.Image, r extract.PageRequest, dpi float64) (*extract.PageImage, error) {
	if img, ok := picture.(*image.RGBA); ok {
		picture = pagepng.Reduce(img)
	}
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
	same, seen := 0, 0
	count := func(pix []byte, step int, value func(byte) byte) {
		for i := step; i < len(pix); i += 7 * step {
			seen++
			if value(pix[i]) == value(pix[i-step]) {
				same++
			}
		}
	}
	switch img := img.(type) {
	case *image.Gray:
		count(img.Pix, 1, func(v byte) byte { return v })
	case *image.Paletted:
		count(img.Pix, 1, func(v byte) byte { r, _, _, _ := img.Palette[v].RGBA(); return byte(r) })
	case *image.RGBA:
		count(img.Pix, 4, func(v byte) byte { return v })
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
