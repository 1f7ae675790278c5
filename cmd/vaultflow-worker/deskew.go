package main

import (
	"image"
	"math"
	"slices"
)

// Skew is looked for up to maxSkew degrees each way; what scanners and copiers do is below five. Less than minSkew does not
// matter to recognition: at 0.3° a line of a whole page rises by less than its own height.
const (
	maxSkew = 10.0
	minSkew = 0.3
)

// Sizes of the picture in which skew is looked for, and of what is taken from it.
const (
	skewSide   = 1000   // pixels of the longer side: lines of 12 points are 14 pixels apart then
	skewPoints = 60_000 // dark pixels at most
)

// By how much turning the page has to sharpen its lines: over the page as it is, and over other angles. Photographs have
// no angle that stands out.
const (
	clearer  = 1.15
	standing = 2.0
)

// skew estimates the angle in degrees, clockwise positive, by which the lines of a picture are off the nearest of its
// sides: lines that run down count as well, since the page may lie on its side. It is 0 when nothing speaks for another.
//
// The method is Postl's: among the projections of the dark pixels, that along the lines changes most from one step to the next
// (W. Postl, Detection of linear oblique structures and skew scan in digitized documents, 1986).
func skew(img *image.Gray) float64 {
	dark := darkPoints(img)
	if len(dark) < 100 {
		return 0
	}
	straight := sharpness(dark, 0)
	best, most := 0.0, straight
	look := func(from, to, step float64) (all []float64) {
		for angle := from; angle <= to; angle += step {
			s := sharpness(dark, angle)
			if all = append(all, s); s > most {
				best, most = angle, s
			}
		}
		return all
	}
	all := look(-maxSkew, maxSkew, 0.25)
	slices.Sort(all)
	if most < straight*clearer || most < all[len(all)/2]*standing {
		return 0
	}
	look(best-0.2, best+0.2, 0.05)
	if math.Abs(best) < minSkew {
		return 0
	}
	return best
}

// point is a dark pixel, from the middle of the picture.
type point struct{ x, y float64 }

// darkPoints gives the pixels of a smaller copy of the picture that are clearly darker than its paper.
func darkPoints(img *image.Gray) []point {
	small := shrunk(img, skewSide)
	limit := int(paper(small)) - contrast
	w, h := small.Rect.Dx(), small.Rect.Dy()
	count := 0
	for _, v := range small.Pix {
		if int(v) < limit {
			count++
		}
	}
	every := count/skewPoints + 1
	out := make([]point, 0, count/every+1)
	seen := 0
	for i, v := range small.Pix {
		if int(v) >= limit {
			continue
		}
		if seen++; seen%every == 0 {
			out = append(out, point{float64(i%w) - float64(w)/2, float64(i/w) - float64(h)/2})
		}
	}
	return out
}

// linesRunDown says whether the lines of a picture that is straight run from top to bottom rather than across.
func linesRunDown(img *image.Gray) bool {
	across, down := changes(darkPoints(img), 0)
	return down > across*standing
}

// sharpness tells how much the rows, or the columns, of a picture differ from the next when it is turned back by an angle.
func sharpness(dark []point, degrees float64) float64 {
	across, down := changes(dark, degrees)
	return max(across, down)
}

// changes sums the squares of the steps from each row to the next, and from each column.
func changes(dark []point, degrees float64) (across, down float64) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	var rows, columns [2 * skewSide]float64
	for _, p := range dark {
		rows[int(p.y*cos-p.x*sin+skewSide)]++
		columns[int(p.x*cos+p.y*sin+skewSide)]++
	}
	for i := range len(rows) - 1 {
		across += (rows[i+1] - rows[i]) * (rows[i+1] - rows[i])
		down += (columns[i+1] - columns[i]) * (columns[i+1] - columns[i])
	}
	return across, down
}

// shrunk gives a picture whose longer side is at most so many pixels, each the mean of those that it stands for.
func shrunk(img *image.Gray, side int) *image.Gray {
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

// turnedBy gives the picture turned clockwise by any angle, on a sheet that holds all of it; paper fills the corners.
func turnedBy(img *image.Gray, degrees float64) *image.Gray {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, sheet(w, h, sin, cos), sheet(h, w, sin, cos)))
	fill := paper(img)
	for y := range out.Rect.Dy() {
		dy := float64(y) + 0.5 - float64(out.Rect.Dy())/2
		for x := range out.Rect.Dx() {
			dx := float64(x) + 0.5 - float64(out.Rect.Dx())/2
			out.Pix[y*out.Stride+x] = between(img, dx*cos+dy*sin+float64(w)/2-0.5, dy*cos-dx*sin+float64(h)/2-0.5, fill)
		}
	}
	return out
}

// sheet is the side of a picture after it was turned.
func sheet(along, across int, sin, cos float64) int {
	return int(math.Ceil(float64(along)*math.Abs(cos) + float64(across)*math.Abs(sin)))
}

// between is the shade at a place between pixels, weighted by their distance; outside of the picture it is fill.
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

// skewBoxes moves boxes from a sheet that was turned back by skew to the picture as it was: each becomes the upright box
// around the turned one.
func skewBoxes(boxes []box, degrees float64, from, to image.Point) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for i, b := range boxes {
		x := float64(b.rect.Min.X+b.rect.Max.X-from.X) / 2
		y := float64(b.rect.Min.Y+b.rect.Max.Y-from.Y) / 2
		w, h := float64(sheet(b.rect.Dx(), b.rect.Dy(), sin, cos)), float64(sheet(b.rect.Dy(), b.rect.Dx(), sin, cos))
		cx, cy := x*cos-y*sin+float64(to.X)/2, x*sin+y*cos+float64(to.Y)/2
		boxes[i].rect = image.Rect(int(cx-w/2), int(cy-h/2), int(math.Ceil(cx+w/2)), int(math.Ceil(cy+h/2)))
	}
}
