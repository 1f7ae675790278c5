package ocr

import (
	"image"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// What scanners and copiers do is below five degrees, and is searched first. A page that lies askew under a camera may be at
// any angle; beyond 45° it is nearer to another of its sides. Less than minSkew does not matter to recognition: at 0.3° a line of
// a whole page rises by less than its own height.
const (
	usualSkew = 10.0
	maxSkew   = 45.0
	minSkew   = 0.3
)

// Sizes of the picture in which skew is measured, and of the samples taken from it.
const (
	skewSide   = 1000   // pixels of the longer side: lines of 12 points are 14 pixels apart then
	skewPoints = 60_000 // dark pixels at most
)

// By how much turning the page has to sharpen its lines: over the page as it is, and over other angles. Photographs of other
// things have no angle that stands out.
const (
	clearer  = 1.15
	standing = 2.0
	askew    = 3.0 // beyond usualSkew
)

// skew estimates the angle in degrees, clockwise positive, by which the lines of a picture are off the nearest of its
// sides: lines that run down count as well, since the page may lie on its side. It is 0 when nothing speaks for another, and at
// most limit.
//
// The method is Postl's: among the projections of the dark pixels, that along the lines changes most from one step to the next
// (W. Postl, Detection of linear oblique structures and skew scan in digitized documents, 1986).
func skew(img *image.Gray, limit float64) float64 {
	dark := darkPoints(img)
	if len(dark) < 100 {
		return 0
	}
	straight := sharpness(dark, 0)
	usual := search{points: dark, most: straight}
	all := usual.look(-usualSkew, usualSkew, 0.25)
	stands := usual.stands(all, standing)
	if limit > usualSkew && (!stands || math.Abs(usual.best) >= minSkew) {
		wide := search{points: scattered(dark)}
		if all := wide.look(-limit, limit, 0.5); math.Abs(wide.best) > usualSkew && wide.stands(all, askew) {
			wide.look(wide.best-0.4, wide.best+0.4, 0.05)
			return wide.best
		}
	}
	if !stands || usual.most < straight*clearer {
		return 0
	}
	usual.look(usual.best-0.2, usual.best+0.2, 0.05)
	if math.Abs(usual.best) < minSkew {
		return 0
	}
	return usual.best
}

// search is for the angle at which points lie in the sharpest lines.
type search struct {
	points     []point
	best, most float64
}

func (s *search) look(from, to, step float64) (all []float64) {
	for angle := from; angle <= to; angle += step {
		sharp := sharpness(s.points, angle)
		if all = append(all, sharp); sharp > s.most {
			s.best, s.most = angle, sharp
		}
	}
	return all
}

// stands reports whether the best angle stands out among all that were tried.
func (s *search) stands(all []float64, by float64) bool {
	slices.Sort(all)
	return s.most >= all[len(all)/2]*by
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

// scattered moves each point within its pixel: pixels in rows along a diagonal would pass for lines.
func scattered(points []point) []point {
	out := make([]point, len(points))
	state := uint64(1)
	within := func() float64 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return float64(state>>11)/(1<<53) - 0.5
	}
	for i, p := range points {
		out[i] = point{p.x + within(), p.y + within()}
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
