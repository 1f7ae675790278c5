package imaging

import (
	"image"
	"image/color"
	"image/draw"

	xdraw "golang.org/x/image/draw"
)

// knowsOpacity is an image that knows whether every pixel of it is. The types of package image do.
type knowsOpacity interface{ Opaque() bool }

// scale makes the longer side at most `side` pixels, with CatmullRom, which keeps small text legible.
func scale(img image.Image, side int) image.Image {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	longest := max(w, h)
	if longest <= side {
		return img
	}
	width, height := max(1, (w*side+longest/2)/longest), max(1, (h*side+longest/2)/longest)
	canvas := func(w, h int) draw.Image { return image.NewNRGBA(image.Rect(0, 0, w, h)) }
	if o, ok := img.(knowsOpacity); ok && o.Opaque() { // has a fast path, and is the same without transparency
		canvas = func(w, h int) draw.Image { return image.NewRGBA(image.Rect(0, 0, w, h)) }
	}
	// In one go the scaler would keep 32 bytes for each of width*h pixels: 190 MB for a photograph of 12 Mpx. The kernel is that
	// of both directions one after the other, so each is done for itself, in bands.
	narrow, out := canvas(width, h), canvas(width, height)
	rows := xdraw.CatmullRom.NewScaler(width, band, w, band) // keeps its memory from band to band
	for y := 0; y < h; y += band {
		if n := h - y; n < band {
			rows = xdraw.CatmullRom.NewScaler(width, n, w, n)
		}
		rows.Scale(narrow, image.Rect(0, y, width, min(y+band, h)), img, image.Rect(b.Min.X, b.Min.Y+y, b.Max.X, b.Min.Y+min(y+band, h)), xdraw.Src, nil)
	}
	columns := xdraw.CatmullRom.NewScaler(band, height, band, h)
	for x := 0; x < width; x += band {
		if n := width - x; n < band {
			columns = xdraw.CatmullRom.NewScaler(n, height, n, h)
		}
		columns.Scale(out, image.Rect(x, 0, min(x+band, width), height), narrow, image.Rect(x, 0, min(x+band, width), h), xdraw.Src, nil)
	}
	return out
}

// band is how many rows or columns are scaled at a time.
const band = 64

// upright turns and mirrors a picture so that it is shown as the camera meant it.
func upright(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	src := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(src, src.Bounds(), img, b.Min, draw.Src)
	out := image.NewNRGBA(size)
	for y := range h {
		for x := range w {
			dx, dy := Turned(orientation, x, y, w, h)
			copy(out.Pix[out.PixOffset(dx, dy):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return out
}

// Turned is where the stored pixel (x, y) of a w by h picture is shown, by the orientation of Exif and TIFF, 1 to 8.
func Turned(orientation, x, y, w, h int) (dx, dy int) {
	switch orientation {
	case 1:
		return x, y
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	default: // 8
		return y, w - 1 - x
	}
}

// onCanvas puts the first frame of an animation where it belongs: it may be smaller than the picture. A GIF's frame knows
// its place; at is that of others.
func onCanvas(frame image.Image, at image.Point, info Info) image.Image {
	canvas, place := image.Rect(0, 0, info.Width, info.Height), frame.Bounds().Add(at)
	if place == canvas {
		return frame
	}
	out := image.NewNRGBA(canvas)
	draw.Draw(out, place, frame, frame.Bounds().Min, draw.Src)
	return out
}

// eightBit halves the depth of pictures with 16 bits a channel, which no model sees.
func eightBit(img image.Image) image.Image {
	switch img.(type) {
	case *image.Gray16:
		out := image.NewGray(img.Bounds())
		draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
		return out
	case *image.RGBA64, *image.NRGBA64:
		out := image.NewNRGBA(img.Bounds())
		draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
		return out
	}
	return img
}

// opaque puts a picture with transparency on white, since JPEG has none.
func opaque(img image.Image) image.Image {
	if o, ok := img.(knowsOpacity); ok && o.Opaque() {
		return img
	}
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}

// photograph guesses whether JPEG suits a picture. A JPEG is one; elsewhere, many distinct colours in a sample of pixels
// mean a photograph, few mean a drawing or text, whose edges JPEG would blur. Transparent pictures are drawings.
func photograph(mediaType string, img image.Image) bool {
	if mediaType == "image/jpeg" {
		return true
	}
	if o, ok := img.(knowsOpacity); ok && !o.Opaque() {
		return false
	}
	const samples = 64 // on a side
	b := img.Bounds()
	seen := map[color.RGBA]bool{}
	for i := range samples {
		for j := range samples {
			r, g, bl, a := img.At(b.Min.X+b.Dx()*i/samples, b.Min.Y+b.Dy()*j/samples).RGBA()
			seen[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8), uint8(a >> 8)}] = true
		}
	}
	return len(seen) > samples*samples/4
}
