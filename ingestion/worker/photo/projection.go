package photo

import (
	"image"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Projection maps places of one plane to another: u = (a·x + b·y + c) / (g·x + h·y + 1), and v alike with d, e, f.
type Projection [8]float64

var identity = Projection{0: 1, 4: 1}

// At returns where a place is.
func (p Projection) At(x, y float64) (u, v float64) {
	w := p[6]*x + p[7]*y + 1
	return (p[0]*x + p[1]*y + p[2]) / w, (p[3]*x + p[4]*y + p[5]) / w
}

// Box returns the upright box around where a box is.
func (p Projection) Box(r image.Rectangle) image.Rectangle {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, x := range []int{r.Min.X, r.Max.X} {
		for _, y := range []int{r.Min.Y, r.Max.Y} {
			u, v := p.At(float64(x), float64(y))
			low, high = [2]float64{min(low[0], u), min(low[1], v)}, [2]float64{max(high[0], u), max(high[1], v)}
		}
	}
	return image.Rect(int(math.Floor(low[0])), int(math.Floor(low[1])), int(math.Ceil(high[0])), int(math.Ceil(high[1])))
}

// After returns the map that first takes places where other does.
func (p Projection) After(other Projection) Projection {
	m := func(p Projection, i int) float64 {
		if i == 8 {
			return 1
		}
		return p[i]
	}
	var product [9]float64
	for row := range 3 {
		for column := range 3 {
			for k := range 3 {
				product[3*row+column] += m(p, 3*row+k) * m(other, 3*k+column)
			}
		}
	}
	var out Projection
	for i := range out {
		out[i] = product[i] / product[8]
	}
	return out
}

// Turned returns a page whose picture was turned clockwise by any angle. What was out of the picture is paper.
func (p Page) Turned(degrees float64) Page {
	turned := raster.Turn(p.Picture, degrees)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	from, to := p.Picture.Rect.Size(), turned.Rect.Size()
	x, y := float64(to.X)/2, float64(to.Y)/2
	p.Back = p.Back.After(Projection{cos, sin, float64(from.X)/2 - x*cos - y*sin, -sin, cos, float64(from.Y)/2 + x*sin - y*cos})
	p.Picture = turned
	return p
}

// Quartered returns a page whose picture was turned clockwise by a number of quarter turns.
func (p Page) Quartered(quarters int) Page {
	for range quarters {
		p.Back = p.Back.After(Projection{0, 1, 0, -1, 0, float64(p.Picture.Rect.Dy())})
		p.Picture = raster.Quarter(p.Picture)
	}
	return p
}

// Mirrored returns a page whose picture was mirrored, left to right.
func (p Page) Mirrored() Page {
	out := image.NewGray(image.Rect(0, 0, p.Picture.Rect.Dx(), p.Picture.Rect.Dy()))
	w := out.Rect.Dx()
	for y := range out.Rect.Dy() {
		for x := range w {
			out.Pix[y*out.Stride+x] = p.Picture.Pix[y*p.Picture.Stride+w-1-x]
		}
	}
	p.Back = p.Back.After(Projection{0: -1, 2: float64(w), 4: 1})
	p.Picture, p.Said = out, append(slices.Clone(p.Said), "it is mirrored")
	return p
}

// point is a place in a picture.
type point struct{ x, y float64 }

func (a point) sub(b point) point     { return point{a.x - b.x, a.y - b.y} }
func (a point) cross(b point) float64 { return a.x*b.y - a.y*b.x }
func (a point) far(b point) float64   { return math.Hypot(a.x-b.x, a.y-b.y) }

// projection returns the map that takes the corners of a rectangle to those of a quadrilateral, both clockwise from the upper
// left. It solves the eight linear equations by elimination with the largest pivot.
func projection(width, height float64, to quad) Projection {
	var m [8][9]float64
	for i, from := range [4]point{{0, 0}, {width, 0}, {width, height}, {0, height}} {
		u, v := to[i].x, to[i].y
		m[2*i] = [9]float64{from.x, from.y, 1, 0, 0, 0, -u * from.x, -u * from.y, u}
		m[2*i+1] = [9]float64{0, 0, 0, from.x, from.y, 1, -v * from.x, -v * from.y, v}
	}
	for i := range m {
		best := i
		for j := i + 1; j < len(m); j++ {
			if math.Abs(m[j][i]) > math.Abs(m[best][i]) {
				best = j
			}
		}
		m[i], m[best] = m[best], m[i]
		for j := range m {
			if j == i {
				continue
			}
			factor := m[j][i] / m[i][i]
			for k := i; k < len(m[j]); k++ {
				m[j][k] -= factor * m[i][k]
			}
		}
	}
	var p Projection
	for i := range p {
		p[i] = m[i][8] / m[i][i]
	}
	return p
}

// flatten returns what the quadrilateral shows as a rectangle at about the same resolution.
func (q quad) flatten(img *image.Gray) (*image.Gray, Projection) {
	width := max(q[0].far(q[1]), q[3].far(q[2]))
	height := max(q[0].far(q[3]), q[1].far(q[2]))
	p := projection(width, height, q)
	out := image.NewGray(image.Rect(0, 0, int(width), int(height)))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			u, v := p.At(float64(x)+0.5, float64(y)+0.5)
			out.Pix[y*out.Stride+x] = shadeAt(img, u-0.5, v-0.5)
		}
	}
	return out, p
}

// shadeAt returns the shade between pixels, weighted by distance. Outside the picture, its edge continues.
func shadeAt(img *image.Gray, x, y float64) uint8 {
	x, y = min(max(x, 0), float64(img.Rect.Dx()-2)), min(max(y, 0), float64(img.Rect.Dy()-2))
	left, top := int(x), int(y)
	fx, fy := x-float64(left), y-float64(top)
	at := top*img.Stride + left
	upper := float64(img.Pix[at])*(1-fx) + float64(img.Pix[at+1])*fx
	lower := float64(img.Pix[at+img.Stride])*(1-fx) + float64(img.Pix[at+img.Stride+1])*fx
	return uint8(upper*(1-fy) + lower*fy + 0.5)
}
