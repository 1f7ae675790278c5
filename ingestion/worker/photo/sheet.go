package photo

import (
	"image"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// quad is a quadrilateral: its corners clockwise, from the upper left.
type quad [4]point

// The sheet is searched for in a small picture, where letters are grey and edges are sharp.
const (
	sheetSide  = 400  // pixels of the longer side
	letters    = 3    // half the height of what is taken for print, in these pixels
	edge       = 0.17 // of the logarithm of the shade: what light and shadow do not reach from a pixel to the next
	leastSheet = 0.15 // of the picture
	around     = 6    // darkness around the picture: a sheet that continues beyond it ends there
)

// sheet finds a sheet of paper that lies on something darker. Corners may be out of the picture, if each side is in it in part. It is
// sure of it: the paper is one surface with four straight sides, and darker beyond each.
func sheet(img *image.Gray) (quad, bool) {
	small := raster.Shrink(img, sheetSide)
	w, h := small.Rect.Dx(), small.Rect.Dy()
	if min(w, h) < 80 {
		return quad{}, false
	}
	shades := surface(small)
	w, h = w+2*around, h+2*around
	paper := brightest(flat(shades, w, h), shades, w, h)
	if paper == nil {
		return quad{}, false
	}
	q, ok := paper.circumscribed()
	if !ok || !paper.fits(q) || !paper.sides(q, shades) {
		return quad{}, false
	}
	q = q.turned().grown(1)
	by := float64(img.Rect.Dx()) / float64(w-2*around)
	for i := range q {
		q[i].x, q[i].y = (q[i].x-around)*by, (q[i].y-around)*float64(img.Rect.Dy())/float64(h-2*around)
	}
	return q, true
}

// surface returns the logarithm of the shades, in which light adds to the paper's own, after print is closed. There is darkness around.
func surface(small *image.Gray) []float64 {
	w, h := small.Rect.Dx()+2*around, small.Rect.Dy()+2*around
	out := make([]float64, w*h)
	for y := range h {
		for x := range w {
			shade := uint8(0)
			if inner := image.Pt(x-around, y-around); inner.In(small.Rect) {
				shade = small.Pix[inner.Y*small.Stride+inner.X]
			}
			out[y*w+x] = math.Log(float64(shade) + 8)
		}
	}
	lighter := func(a, b float64) float64 { return max(a, b) }
	darker := func(a, b float64) float64 { return min(a, b) }
	return spread(spread(out, w, h, letters, lighter), w, h, letters, darker)
}

// spread replaces each pixel by the chosen value of the square around it.
func spread(pix []float64, w, h, reach int, choose func(a, b float64) float64) []float64 {
	pass := func(from []float64, long, step, lines, stride int) []float64 {
		to := make([]float64, len(from))
		for l := range lines {
			for i := range long {
				v := from[l*stride+i*step]
				for j := max(i-reach, 0); j <= min(i+reach, long-1); j++ {
					v = choose(v, from[l*stride+j*step])
				}
				to[l*stride+i*step] = v
			}
		}
		return to
	}
	return pass(pass(pix, w, 1, h, w), h, w, w, 1)
}

// flat marks the pixels with no edge beside them.
func flat(shades []float64, w, h int) []bool {
	out := make([]bool, w*h)
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			at := y*w + x
			step := max(math.Abs(shades[at+1]-shades[at-1]), math.Abs(shades[at+w]-shades[at-w]))
			out[at] = step < edge
		}
	}
	return out
}

// region is a connected part of a picture.
type region struct {
	w, h    int
	inside  []bool
	size    int
	lightly float64 // mean shade
}

// brightest returns the lightest of the large regions of flat pixels.
func brightest(flat []bool, shades []float64, w, h int) *region {
	var best *region
	seen := make([]bool, len(flat))
	for start := range flat {
		if !flat[start] || seen[start] {
			continue
		}
		r := region{w: w, h: h, inside: make([]bool, len(flat))}
		stack := []int{start}
		seen[start] = true
		var members []int
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			members = append(members, at)
			r.lightly += shades[at]
			for _, next := range [4]int{at - 1, at + 1, at - w, at + w} { // the frame of the picture is never flat
				if flat[next] && !seen[next] {
					seen[next] = true
					stack = append(stack, next)
				}
			}
		}
		r.size = len(members)
		if float64(r.size) < leastSheet*float64((w-2*around)*(h-2*around)) {
			continue
		}
		for _, at := range members {
			r.inside[at] = true
		}
		if r.lightly /= float64(r.size); best == nil || r.lightly > best.lightly {
			best = &r
		}
	}
	return best
}

// hull returns the convex hull of a region, clockwise as seen (y points down), by Andrew's monotone chain.
func hull(r *region) []point {
	var ends []point // the first and last pixel of each row
	for y := range r.h {
		row := r.inside[y*r.w : (y+1)*r.w]
		first := slices.Index(row, true)
		if first < 0 {
			continue
		}
		last := len(row) - 1
		for !row[last] {
			last--
		}
		ends = append(ends, point{float64(first), float64(y)}, point{float64(last), float64(y)})
	}
	slices.SortFunc(ends, func(a, b point) int {
		if a.x != b.x {
			return cmpFloat(a.x, b.x)
		}
		return cmpFloat(a.y, b.y)
	})
	half := func(points []point) []point {
		var out []point
		for _, p := range points {
			for len(out) > 1 && out[len(out)-1].sub(out[len(out)-2]).cross(p.sub(out[len(out)-1])) <= 0 {
				out = out[:len(out)-1]
			}
			out = append(out, p)
		}
		return out[:len(out)-1]
	}
	lower := half(ends)
	slices.Reverse(ends)
	return append(lower, half(ends)...)
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// circumscribed returns the quadrilateral around a region. Where the picture ends is no side of it.
func (r *region) circumscribed() (quad, bool) {
	polygon := hull(r)
	frames := 0
	for i, a := range polygon {
		if r.onFrame(a, polygon[(i+1)%len(polygon)]) {
			frames++
		}
	}
	polygon = reduced(polygon, 4+frames, func(a, b point) bool { return !r.onFrame(a, b) })
	polygon = reduced(polygon, 4, r.onFrame)
	if len(polygon) != 4 {
		return quad{}, false
	}
	return quad(polygon), true
}

// onFrame reports whether two corners are at the same end of the picture. Its first row of pixels is never flat.
func (r *region) onFrame(a, b point) bool {
	const first, near = around + 1, 0.5
	for _, x := range []float64{first, float64(r.w - 1 - first)} {
		if math.Abs(a.x-x) < near && math.Abs(b.x-x) < near {
			return true
		}
	}
	for _, y := range []float64{first, float64(r.h - 1 - first)} {
		if math.Abs(a.y-y) < near && math.Abs(b.y-y) < near {
			return true
		}
	}
	return false
}

// reduced drops sides of a convex polygon one after the other until some are left: of those that may go, each time the one whose
// neighbours meet with the least area added.
func reduced(polygon []point, sides int, may func(a, b point) bool) []point {
	for len(polygon) > sides {
		best, least, at := point{}, math.Inf(1), -1
		n := len(polygon)
		for i := range n {
			a, b, c, d := polygon[(i+n-1)%n], polygon[i], polygon[(i+1)%n], polygon[(i+2)%n]
			meet, ok := meeting(a, b, d, c)
			if !ok || !may(b, c) {
				continue
			}
			if area := math.Abs(meet.sub(b).cross(c.sub(b))) / 2; area < least {
				best, least, at = meet, area, i
			}
		}
		if at < 0 {
			return nil
		}
		polygon[at] = best
		polygon = slices.Delete(polygon, (at+1)%n, (at+1)%n+1)
	}
	return polygon
}

// meeting returns where the lines from a through b and from c through d meet, beyond b and d.
func meeting(a, b, c, d point) (point, bool) {
	u, v := b.sub(a), d.sub(c)
	det := u.cross(v)
	if math.Abs(det) < 1e-9 {
		return point{}, false
	}
	t := c.sub(a).cross(v) / det
	s := c.sub(a).cross(u) / det
	return point{a.x + t*u.x, a.y + t*u.y}, t >= 1 && s >= 1
}

// fits reports whether a quadrilateral can be a sheet, and the region fills it.
func (r *region) fits(q quad) bool {
	area := 0.0
	for i := range q {
		a, b, c := q[(i+3)%4], q[i], q[(i+1)%4]
		area += a.cross(b) / 2
		u, v := a.sub(b), c.sub(b)
		cos := (u.x*v.x + u.y*v.y) / max(math.Hypot(u.x, u.y)*math.Hypot(v.x, v.y), 1)
		if math.Abs(cos) > 0.6 { // 53° to 127°
			return false
		}
	}
	area = math.Abs(area)
	for i := range 2 {
		a, b := q[i].far(q[i+1]), q[i+2].far(q[(i+3)%4])
		if max(a, b) > 1.8*min(a, b) {
			return false
		}
	}
	return float64(r.size) > 0.6*area && area > leastSheet*float64((r.w-2*around)*(r.h-2*around))
}

// sides reports whether the region ends at each side of a quadrilateral, as far as it is in the picture, and darker ground begins
// beyond.
func (r *region) sides(q quad, shades []float64) bool {
	const samples, least, near, beyond, close = 60, 8, 3.5, 5, 3
	for i := range q {
		a, b := q[i], q[(i+1)%4]
		long := a.far(b)
		out := point{(b.y - a.y) / long, -(b.x - a.x) / long}
		if m := (point{(q[0].x + q[2].x) / 2, (q[0].y + q[2].y) / 2}); m.sub(a).cross(b.sub(a))*out.cross(b.sub(a)) > 0 {
			out = point{-out.x, -out.y}
		}
		good, seen := 0, 0
		for k := range samples {
			t := (float64(k) + 0.5) / samples
			p := point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)}
			i, okIn := r.index(point{p.x - near*out.x, p.y - near*out.y})
			o, okOut := r.index(point{p.x + beyond*out.x, p.y + beyond*out.y})
			if !okOut {
				o, okOut = r.index(point{p.x + close*out.x, p.y + close*out.y})
			}
			if !okIn || !okOut {
				continue
			}
			if seen++; r.inside[i] && shades[i]-shades[o] > edge {
				good++
			}
		}
		if seen < least || good*10 < seen*8 {
			return false
		}
	}
	return true
}

// index returns the pixel at a place, and whether it is in the picture.
func (r *region) index(p point) (int, bool) {
	x, y := int(math.Round(p.x)), int(math.Round(p.y))
	return y*r.w + x, x >= around && y >= around && x < r.w-around && y < r.h-around
}

// turned returns the quadrilateral clockwise from the corner that is the upper left one if the sheet is turned by less than 45°.
func (q quad) turned() quad {
	if q[1].sub(q[0]).cross(q[2].sub(q[1])) < 0 { // y points down: clockwise is positive
		q[1], q[3] = q[3], q[1]
	}
	best, most := 0, math.Inf(-1)
	for i := range q {
		// The upper side is the one that runs most to the right.
		across := q[(i+1)%4].sub(q[i])
		back := q[(i+2)%4].sub(q[(i+3)%4])
		if right := across.x/math.Hypot(across.x, across.y) + back.x/math.Hypot(back.x, back.y); right > most {
			best, most = i, right
		}
	}
	return quad{q[best], q[(best+1)%4], q[(best+2)%4], q[(best+3)%4]}
}

// within reports whether all corners are in a picture.
func (q quad) within(r image.Rectangle) bool {
	return !slices.ContainsFunc(q[:], func(p point) bool { return p.x < 0 || p.y < 0 || p.x > float64(r.Dx()) || p.y > float64(r.Dy()) })
}

// upright reports whether all sides run along those of the picture. A camera is hardly ever held so straight.
func (q quad) upright() bool {
	const slope = 0.012 // 0.7°
	for i, corner := range q {
		d := q[(i+1)%4].sub(corner)
		if min(math.Abs(d.x), math.Abs(d.y)) > slope*max(math.Abs(d.x), math.Abs(d.y)) {
			return false
		}
	}
	return true
}

// grown moves the corners outward by some pixels: the region ends where the edge begins.
func (q quad) grown(by float64) quad {
	m := point{(q[0].x + q[1].x + q[2].x + q[3].x) / 4, (q[0].y + q[1].y + q[2].y + q[3].y) / 4}
	for i := range q {
		d := q[i].sub(m)
		long := max(math.Hypot(d.x, d.y), 1)
		q[i] = point{q[i].x + d.x/long*by + 0.5, q[i].y + d.y/long*by + 0.5}
	}
	return q
}
