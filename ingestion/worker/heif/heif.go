//go:build worker

// Package heif decodes HEIC and AVIF pictures, with C libraries that run as WebAssembly.
package heif

import (
	"bytes"
	"errors"
	"fmt"
	"image"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/heic"

	"github.com/vaultflow/vaultflow/imaging"
)

// minHEIC is the least width in pixels of a HEIC picture. libheif makes planes at least 64 pixels wide, colour planes have half
// the width, and the binding v0.4.5 does not know: it crashes or returns a wrong picture.
const minHEIC = 128

// Decode decodes a picture that package imaging only measures, and turns it upright. The decoders are compiled at the first
// picture, which takes one to three seconds.
func Decode(data []byte, info imaging.Info) (img image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("the decoder failed: %v", p)
		}
	}()
	if info.MediaType == "image/heic" {
		if info.Width < minHEIC {
			return nil, fmt.Errorf("it is less than %d pixels wide, which the decoder gets wrong", minHEIC)
		}
		return heic.Decode(bytes.NewReader(data))
	}
	img, err = avif.Decode(bytes.NewReader(data), avif.Options{AutoRotate: true})
	if err == nil && hollow(img, bytes.Contains(data, []byte("auxiliary:alpha"))) {
		return nil, errors.New("its data make no picture")
	}
	return img, err
}

// hollow reports whether a decoder has written nothing. For broken data, the binding to libavif v0.5.3 returns fresh memory, zeros
// with leftovers of the heap, and no error. A picture without transparency must be opaque everywhere; of one with it, a
// hundredth must be visible.
func hollow(img image.Image, transparent bool) bool {
	if !transparent {
		switch img := img.(type) { // what the binding makes, by the bits of a colour
		case *image.RGBA:
			return !img.Opaque()
		case *image.RGBA64:
			return !img.Opaque()
		}
		return false
	}
	b := img.Bounds()
	seen, all := 0, 0
	for y := b.Min.Y; y < b.Max.Y; y += 1 + b.Dy()/500 {
		for x := b.Min.X; x < b.Max.X; x += 1 + b.Dx()/500 {
			all++
			if _, _, _, alpha := img.At(x, y).RGBA(); alpha != 0 {
				seen++
			}
		}
	}
	return seen*100 < all
}
