//go:build worker

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/heic"

	"github.com/vaultflow/vaultflow/imaging"
)

// minHEIC is the least width in pixels of a HEIC picture. libheif lays planes out at least 64 pixels wide, those of the
// colours have half the width, and the binding v0.4.5 does not know: it crashes, or gives a wrong picture.
const minHEIC = 128

// decodeForeign decodes a picture that package imaging only measures; upright, since the decoders turn. They are C in
// WebAssembly, which is compiled at the first picture and takes a second or three.
func decodeForeign(data []byte, info imaging.Info) (img image.Image, err error) {
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

// hollow tells whether a decoder has written nothing. The binding to libavif v0.5.3 gives fresh memory for broken data,
// zeros with leftovers of the heap, and no error. A picture without transparency is opaque throughout; of one with it a
// hundredth has to be seen.
func hollow(img image.Image, transparent bool) bool {
	if !transparent {
		o, ok := img.(interface{ Opaque() bool })
		return ok && !o.Opaque()
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
