package raster

import (
	"image"
	"math"

	"github.com/vaultflow/vaultflow/imaging"
)

// Quarter returns the picture turned by 90 degrees clockwise.
func Quarter(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, h, w))
	for y := range h {
		for x := range w {
			out.Pix[x*out.Stride+h-1-y] = img.Pix[y*img.Stride+x]
		}
	}
	return out
}

// Turn returns the picture turned clockwise by any angle, on a sheet that holds all of it; paper fills the corners.
func Turn(img *image.Gray, degrees float64) *image.Gray {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, SheetSide(w, h, sin, cos), SheetSide(h, w, sin, cos)))
	fill := Paper(img)
	for y := range out.Rect.Dy() {
		dy := float64(y) + 0.5 - float64(out.Rect.Dy())/2
		for x := range out.Rect.Dx() {
			dx := float64(x) + 0.5 - float64(out.Rect.Dx())/2
			out.Pix[y*out.Stride+x] = between(img, dx*cos+dy*sin+float64(w)/2-0.5, dy*cos-dx*sin+float64(h)/2-0.5, fill)
		}
	}
	return out
}

// SheetSide returns a side of a turned picture, from its sides along and across before the turn.
func SheetSide(along, across int, sin, cos float64) int {
	return int(math.Ceil(float64(along)*math.Abs(cos) + float64(across)*math.Abs(sin)))
}

// between returns the shade at a place between pixels, weighted by distance. Outside the picture it returns fill.
func between(img *image.Gray, x, y float64, fill uint8) uint8 {
	left, top := int(math.Floor(x)), int(math.Floor(y))
	if left < 0 || top < 0 || left+1 >= img.Rect.Dx() || top+1 >= img.Rect.Dy() {
		return fill
	}
	fx, fy := x-float64(left), y-float64(top)
	at := top*img.Stride + left
	upper := float64(img.Pix[at])*(1-fx) + float64(img.Pix[at+1])*fx
	lower := float64(img.Pix[at+img.Stride])*(1-fx) + float64(img.Pix[at+img.Stride+1])*fx
	return uint8(upper*(1-fy) + lower*fy + 0.5)
}

// Shrink returns a picture whose longer side has at most this many pixels. Each is the mean of those it replaces.
func Shrink(img *image.Gray, side int) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	by := max((max(w, h)+side-1)/side, 1)
	if by == 1 {
		return img
	}
	out := image.NewGray(image.Rect(0, 0, max(w/by, 1), max(h/by, 1)))
	sums := make([]int, out.Rect.Dx())
	for y := range out.Rect.Dy() {
		clear(sums)
		rows := img.Pix[y*by*img.Stride : min((y+1)*by, h)*img.Stride]
		n := 0
		for ; len(rows) > 0; rows = rows[img.Stride:] {
			n++
			for x := range sums {
				for _, v := range rows[x*by : min(x*by+by, w)] {
					sums[x] += int(v)
				}
			}
		}
		for x, sum := range sums {
			out.Pix[y*out.Stride+x] = uint8(sum / (n * min(by, w))) //nolint:gosec // a mean of bytes
		}
	}
	return out
}

// Oriented turns and mirrors a picture by its orientation. Orientations are those of EXIF and TIFF: 1, upright, to 8.
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
