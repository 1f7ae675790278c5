package ocr

import (
	"image"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Skew is measured up to maxSkew degrees each way; what scanners and copiers do is below five. Less than minSkew does not
// matter to recognition: at 0.3° a line of a whole page rises by less than its own height.
const (
	maxSkew = 10.0
	minSkew = 0.3
)

// Sizes of the picture in which skew is measured, and of the samples taken from it.
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

// darkPoints returns the pixels of a smaller copy of the picture that are clearly darker than its paper.
func darkPoints(img *image.Gray) []point {
	small := raster.Shrink(img, skewSide)
	limit := int(raster.Paper(small)) - raster.Contrast
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

// linesRunDown reports whether the lines of a picture that is straight run from top to bottom rather than across.
func linesRunDown(img *image.Gray) bool {
	across, down := changes(darkPoints(img), 0)
	return down > across*standing
}

// sharpness measures how much neighbouring rows, or columns, differ when the picture is turned back by an angle.
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

// skewBoxes moves boxes from a sheet that was turned back by skew to the picture as it was: each becomes the upright box
// around the turned one.
func skewBoxes(boxes []Word, degrees float64, from, to image.Point) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for i, b := range boxes {
		x := float64(b.Rect.Min.X+b.Rect.Max.X-from.X) / 2
		y := float64(b.Rect.Min.Y+b.Rect.Max.Y-from.Y) / 2
		w, h := float64(raster.SheetSide(b.Rect.Dx(), b.Rect.Dy(), sin, cos)), float64(raster.SheetSide(b.Rect.Dy(), b.Rect.Dx(), sin, cos))
		cx, cy := x*cos-y*sin+float64(to.X)/2, x*sin+y*cos+float64(to.Y)/2
		boxes[i].Rect = image.Rect(int(cx-w/2), int(cy-h/2), int(math.Ceil(cx+w/2)), int(math.Ceil(cy+h/2)))
	}
}
