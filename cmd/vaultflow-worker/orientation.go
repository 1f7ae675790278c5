package main

import (
	"image"

	"github.com/vaultflow/vaultflow/imaging"
)

// oriented gives a picture as it is meant to be seen. The orientation is that of EXIF and TIFF: from 1, upright, to 8.
func oriented(img *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			dx, dy := imaging.Turned(orientation, x, y, w, h)
			copy(out.Pix[dy*out.Stride+dx*4:][:4], img.Pix[y*img.Stride+x*4:][:4])
		}
	}
	return out
}
