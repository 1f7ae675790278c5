package raster

import (
	"image"

	"github.com/vaultflow/vaultflow/imaging"
)

// Oriented turns and mirrors a picture as its orientation says. Orientations are those of EXIF and TIFF: 1, upright, to 8.
func Oriented(img *image.RGBA, orientation int) *image.RGBA {
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
