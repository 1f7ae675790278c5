package phototest

import (
	"image"
	"math"
	"math/rand/v2"
)

// Camera is how a page was photographed.
type Camera struct {
	Width       int           `json:"width"` // of the picture in pixels
	Height      int           `json:"height"`
	Degrees     float64       `json:"degrees"`     // that the page was turned, clockwise
	Quarters    int           `json:"quarters"`    // quarter turns, besides
	Perspective float64       `json:"perspective"` // the most that a corner moved, as a share of the page's width
	Corners     [4][2]float64 `json:"corners"`     // of the page in the picture: upper left, upper right, lower right, lower left
	Fills       bool          `json:"fills"`       // the page fills the picture: no table is seen
	Table       string        `json:"table"`       // dark, wood, cloth
	Paper       float64       `json:"paper"`       // shade under full light, 0 to 255
	Dimmest     float64       `json:"dimmest"`     // light at the darkest corner, 1 = full
	Shadow      float64       `json:"shadow"`      // that a hand or a telephone casts: 0 = none
	Blur        float64       `json:"blur"`        // sigma in pixels
	Noise       float64       `json:"noise"`       // sigma of Gaussian noise
	Specks      float64       `json:"specks"`      // share of pixels that are black or white
	Quality     int           `json:"quality"`     // of the JPEG
}

// hold chooses how the camera is held. Most people hold it nearly straight; some do not.
func hold(random *rand.Rand) Camera {
	// 8 to 12 megapixels, with the sides reduced to save time.
	const reduced = 0.62
	height := reduced * math.Sqrt((8+4*random.Float64())*1e6*4/3)
	c := Camera{Width: int(height * 3 / 4), Height: int(height)}
	switch random.IntN(10) {
	case 0, 1, 2, 3, 4:
		c.Degrees = 10*random.Float64() - 5
	case 5, 6, 7:
		c.Degrees = 30*random.Float64() - 15
	default:
		c.Degrees = 90*random.Float64() - 45
	}
	if random.IntN(8) == 0 {
		c.Quarters = 1 + random.IntN(3)
	}
	c.Perspective = 0.12 * random.Float64()
	c.Fills = random.IntN(8) == 0
	c.Table = []string{"dark", "wood", "cloth"}[random.IntN(3)]
	c.Paper = 205 + 45*random.Float64()
	c.Dimmest = 0.4 + 0.6*random.Float64()
	if random.IntN(3) == 0 {
		c.Shadow = 0.2 + 0.3*random.Float64()
	}
	c.Blur = 1.3 * random.Float64()
	c.Noise = 2 + 10*random.Float64()
	if random.IntN(4) == 0 {
		c.Specks = 0.005 + 0.06*random.Float64()
	}
	c.Quality = 60 + random.IntN(31)
	return c
}

// take makes the picture of a page.
func (c *Camera) take(random *rand.Rand, page *image.Gray) *image.RGBA {
	if c.Quarters%2 == 1 {
		c.Width, c.Height = c.Height, c.Width
	}
	width, height := float64(page.Rect.Dx()), float64(page.Rect.Dy())
	c.place(random, width, height)
	back := between(c.Corners, [4][2]float64{{0, 0}, {width, 0}, {width, height}, {0, height}})
	table, light := surface(random, c.Table), c.light(random)
	grey := make([]float64, c.Width*c.Height)
	for y := range c.Height {
		for x := range c.Width {
			shade := table(float64(x), float64(y))
			if on, v := c.seen(page, back, float64(x), float64(y)); on {
				shade = v
			}
			grey[y*c.Width+x] = shade * light(float64(x)/float64(c.Width), float64(y)/float64(c.Height))
		}
	}
	grey = blurred(grey, c.Width, c.Height, c.Blur)
	return c.develop(random, grey)
}

// place decides where the corners of the page are in the picture.
func (c *Camera) place(random *rand.Rand, width, height float64) {
	sin, cos := math.Sincos((c.Degrees + float64(c.Quarters)*90) * math.Pi / 180)
	corners := [4][2]float64{{0, 0}, {width, 0}, {width, height}, {0, height}}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, p := range corners {
		x := p[0] - width/2 + (2*random.Float64()-1)*c.Perspective*width
		y := p[1] - height/2 + (2*random.Float64()-1)*c.Perspective*width
		corners[i] = [2]float64{x*cos - y*sin, x*sin + y*cos}
		for k := range 2 {
			low[k], high[k] = min(low[k], corners[i][k]), max(high[k], corners[i][k])
		}
	}
	size := [2]float64{float64(c.Width), float64(c.Height)}
	room := 0.9 + 0.07*random.Float64()
	if c.Fills { // only the margins of the page are out of the picture
		room = 1.12
		if math.Abs(c.Degrees) > 6 {
			c.Fills, room = false, 0.97
		}
	}
	scale := room * min(size[0]/(high[0]-low[0]), size[1]/(high[1]-low[1]))
	for i := range corners {
		for k := range 2 {
			c.Corners[i][k] = (corners[i][k]-(low[k]+high[k])/2)*scale + size[k]/2
		}
	}
}

// seen returns the shade of the page at a place of the picture, if the page is there.
func (c *Camera) seen(page *image.Gray, back [8]float64, x, y float64) (bool, float64) {
	w := back[6]*x + back[7]*y + 1
	u, v := (back[0]*x+back[1]*y+back[2])/w, (back[3]*x+back[4]*y+back[5])/w
	if u < 0 || v < 0 || u >= float64(page.Rect.Dx()) || v >= float64(page.Rect.Dy()) {
		return c.Fills, c.Paper // a page that fills the picture goes on beyond its edge
	}
	// The mean of four by four samples around the place: a lens does not skip pixels.
	sum := 0.0
	for i := range 4 {
		for j := range 4 {
			px := min(max(int(u+float64(i)*0.5-0.75), 0), page.Rect.Dx()-1)
			py := min(max(int(v+float64(j)*0.5-0.75), 0), page.Rect.Dy()-1)
			sum += float64(page.Pix[py*page.Stride+px])
		}
	}
	const ink = 40.0
	return true, ink + (c.Paper-ink)*sum/16/255
}

// light returns how bright each place of the picture is, from 0 to 1: it falls off to one side, and a shadow may lie on it.
func (c *Camera) light(random *rand.Rand) func(x, y float64) float64 {
	sin, cos := math.Sincos(2 * math.Pi * random.Float64())
	sx, sy, sr := random.Float64(), random.Float64(), 0.25+0.3*random.Float64()
	return func(x, y float64) float64 {
		across := 0.5 + ((x-0.5)*cos+(y-0.5)*sin)/math.Sqrt2
		l := c.Dimmest + (1-c.Dimmest)*across
		if c.Shadow > 0 {
			d := math.Hypot(x-sx, y-sy) - sr
			l *= 1 - c.Shadow/(1+math.Exp(d*40)) // a soft edge
		}
		return l
	}
}

// surface returns the shade of the table at each place.
func surface(random *rand.Rand, kind string) func(x, y float64) float64 {
	base, phase := 30+50*random.Float64(), 100*random.Float64()
	switch kind {
	case "wood":
		return func(x, y float64) float64 {
			return base + 30 + 18*math.Sin(x/37+3*math.Sin((y+phase)/310)) + 9*math.Sin(x/7+2*math.Sin(y/170))
		}
	case "cloth":
		return func(x, y float64) float64 {
			return base + 20 + 22*math.Sin(x/5+phase)*math.Sin(y/5) + 12*math.Sin((x+y)/90)
		}
	}
	return func(x, y float64) float64 { return base }
}

// blurred applies a Gaussian filter, first to rows and then to columns.
func blurred(grey []float64, width, height int, sigma float64) []float64 {
	if sigma < 0.2 {
		return grey
	}
	reach := int(math.Ceil(3 * sigma))
	kernel, sum := make([]float64, 2*reach+1), 0.0
	for i := range kernel {
		d := float64(i - reach)
		kernel[i] = math.Exp(-d * d / (2 * sigma * sigma))
		sum += kernel[i]
	}
	pass := func(from []float64, long, step, lines, stride int) []float64 {
		to := make([]float64, len(from))
		for l := range lines {
			for i := range long {
				v := 0.0
				for k, weight := range kernel {
					j := min(max(i+k-reach, 0), long-1)
					v += weight * from[l*stride+j*step]
				}
				to[l*stride+i*step] = v / sum
			}
		}
		return to
	}
	return pass(pass(grey, width, 1, height, width), height, width, width, 1)
}

// develop adds what the sensor does: noise, dead pixels, a warm tint.
func (c *Camera) develop(random *rand.Rand, grey []float64) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, c.Width, c.Height))
	for i, v := range grey {
		v += c.Noise * random.NormFloat64()
		if c.Specks > 0 && random.Float64() < c.Specks {
			v = 255 * float64(random.IntN(2))
		}
		for k, tint := range [3]float64{1, 0.98, 0.93} {
			img.Pix[i*4+k] = uint8(min(max(v*tint, 0), 255))
		}
		img.Pix[i*4+3] = 255
	}
	return img
}

// between returns the projective map that takes four points to four others: u = (a·x + b·y + c) / (g·x + h·y + 1), and v alike.
// The corrector has its own solver: what makes the pictures must share nothing with what is tested by them.
func between(from, to [4][2]float64) [8]float64 {
	var m [8][9]float64
	for i := range from {
		x, y, u, v := from[i][0], from[i][1], to[i][0], to[i][1]
		m[2*i] = [9]float64{x, y, 1, 0, 0, 0, -u * x, -u * y, u}
		m[2*i+1] = [9]float64{0, 0, 0, x, y, 1, -v * x, -v * y, v}
	}
	for i := range m { // elimination with the largest pivot
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
			f := m[j][i] / m[i][i]
			for k := i; k < len(m[j]); k++ {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	var out [8]float64
	for i := range out {
		out[i] = m[i][8] / m[i][i]
	}
	return out
}
