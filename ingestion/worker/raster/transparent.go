package raster

import (
	"image"
	"image/color"
	"image/draw"
)

// platePart is the least part of a transparent picture that a plate of colour behind letters has, and solid the least part of its
// box that it fills.
const (
	platePart = 0.02
	solid     = 0.6
)

// knowsOpacity is an image that knows whether every pixel of it is opaque. The types of package image do.
type knowsOpacity interface{ Opaque() bool }

// onPaper puts a picture with transparency on white. Light letters would vanish there: they are made for a dark ground, and are drawn
// in black, as dark as they are opaque.
func onPaper(img image.Image) image.Image {
	if o, ok := img.(knowsOpacity); !ok || o.Opaque() {
		return img
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	drawn := make([]bool, w*h)
	for at := range drawn {
		_, _, _, alpha := img.At(b.Min.X+at%w, b.Min.Y+at/w).RGBA()
		drawn[at] = alpha >= 1<<12
	}
	for start := range drawn {
		if !drawn[start] {
			continue
		}
		p := TakePiece(drawn, w, start)
		if len(p.At) == w*h || !vanishes(out, p) {
			continue
		}
		for _, at := range p.At {
			_, _, _, alpha := img.At(b.Min.X+at%w, b.Min.Y+at/w).RGBA()
			v := uint8(255 - alpha>>8) //nolint:gosec // 0 to 255
			out.SetRGBA(at%w, at/w, color.RGBA{v, v, v, 255})
		}
	}
	return out
}

// vanishes reports whether hardly any of a piece is seen on white, and it is no plate, which may have letters on it.
func vanishes(on *image.RGBA, p Piece) bool {
	w, h := on.Rect.Dx(), on.Rect.Dy()
	if n := float64(len(p.At)); n > platePart*float64(w*h) && n > solid*float64(p.Box.Dx()*p.Box.Dy()) {
		return false
	}
	seen := 0
	for _, at := range p.At {
		if 255-toneOf(on, at%w, at/w).light() > clearInk {
			seen++
		}
	}
	return seen*50 < len(p.At)
}
