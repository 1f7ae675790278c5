// Package pagepng writes pictures of pages as PNG. A page is mostly paper and has few colours, so it is written as grey or with a
// palette where no channel of a pixel changes by more than 1 of 255, without filters, and compressed by package deflate (docs/benchmarks.md).
package pagepng

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Reduce returns the same picture with the fewest bytes for each pixel: as *image.Gray if it has no colour, as *image.Paletted if
// it has at most 256 colours, and otherwise img itself. A picture that is not opaque stays as it is.
func Reduce(img *image.RGBA) image.Image {
	if grey := asGrey(img); grey != nil {
		return grey
	}
	if few := asPalette(img); few != nil {
		return few
	}
	return img
}

// row returns a line of the picture, four bytes for each pixel.
func row(img *image.RGBA, y int) []byte {
	return img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
}

// opaque is the alpha of an opaque pixel.
const opaque = 0xff000000

// colourAt returns a pixel of a line: red in the lowest byte, alpha in the highest. MuPDF rounds the alpha of some opaque pixels to 254.
func colourAt(line []byte, x int) uint32 {
	return binary.LittleEndian.Uint32(line[4*x:]) | 0x01000000
}

// roundedAlpha are the bits of two pixels that MuPDF's rounding may leave out.
const roundedAlpha = 0x0100000001000000

// repeats reports whether the next four pairs of pixels are the same.
func repeats(line []byte, pair uint64) bool {
	line = line[:32]
	a, b := binary.LittleEndian.Uint64(line), binary.LittleEndian.Uint64(line[8:])
	c, d := binary.LittleEndian.Uint64(line[16:]), binary.LittleEndian.Uint64(line[24:])
	return ((a^pair)|(b^pair)|(c^pair)|(d^pair))&^roundedAlpha == 0
}

// asGrey returns a picture without colour, or nil if it has colour or is not opaque.
func asGrey(img *image.RGBA) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, w, h))
	var before []byte
	for y := range h {
		line, to := row(img, y), out.Pix[y*w:][:w]
		if y > 0 && bytes.Equal(line, before) { // blank lines are many, and comparing is fast
			copy(to, out.Pix[(y-1)*w:])
			continue
		}
		before = line
		var last uint64 // two pixels that were found grey
		var a, b uint8
		for x := 0; x+1 < w; x += 2 {
			for ; x+9 < w && last != 0 && repeats(line[4*x:], last); x += 8 {
				binary.LittleEndian.PutUint64(to[x:], (uint64(a)|uint64(b)<<8)*0x0001000100010001)
			}
			if pair := binary.LittleEndian.Uint64(line[4*x:]) | roundedAlpha; pair != last { // neighbours are mostly equal
				a, b = uint8(pair), uint8(pair>>32) //nolint:gosec // the red of each
				if pair != uint64(a)*0x010101|uint64(b)*0x010101<<32|opaque<<32|opaque {
					return nil
				}
				last = pair
			}
			to[x], to[x+1] = a, b
		}
		if w%2 == 1 {
			p := colourAt(line, w-1)
			if to[w-1] = uint8(p); p != uint32(uint8(p))*0x010101|opaque { //nolint:gosec // its red
				return nil
			}
		}
	}
	return out
}
