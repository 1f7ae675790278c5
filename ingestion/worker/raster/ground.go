package raster

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"
)

// Print returns a picture without colour as it is recognised: dark letters on light paper. On a coloured ground,
// each pixel is as dark as its colour is far from that of the ground. Letters are then seen that are as light as their ground, or
// that are lighter than the print and darker than the paper. A dark screen with light letters is inverted, so that its coloured boxes and the
// letters between them do not differ in what is dark.
func Print(img image.Image) *image.Gray {
	img = onPaper(img)
	shades := shadesOf(img)
	s := sampled(img)
	grounds, dark := s.grounds()
	if dark {
		for i, v := range shades.Pix {
			shades.Pix[i] = 255 - v
		}
	}
	for _, g := range grounds {
		s.draw(g, img, shades)
	}
	return shades
}

func shadesOf(img image.Image) *image.Gray {
	b := img.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch img := img.(type) {
	case *image.RGBA:
		if img.Opaque() {
			return Grey(img)
		}
	case *image.YCbCr:
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:][:b.Dx()], img.Y[img.YOffset(b.Min.X, b.Min.Y+y):])
		}
		return out
	}
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	return out
}

// tone is a colour: red, green and blue.
type tone [3]uint8

func toneOf(img image.Image, x, y int) tone {
	switch img := img.(type) {
	case *image.RGBA:
		return tone(img.Pix[img.PixOffset(x, y):][:3])
	case *image.YCbCr:
		r, g, b := color.YCbCrToRGB(img.Y[img.YOffset(x, y)], img.Cb[img.COffset(x, y)], img.Cr[img.COffset(x, y)])
		return tone{r, g, b}
	}
	c, _ := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	return tone{c.R, c.G, c.B}
}

// far is the distance of two colours: the most that a channel differs.
func (t tone) far(o tone) int {
	return max(abs(int(t[0])-int(o[0])), abs(int(t[1])-int(o[1])), abs(int(t[2])-int(o[2])))
}

func (t tone) light() int { return (299*int(t[0]) + 587*int(t[1]) + 114*int(t[2])) / 1000 }

func abs(v int) int { return max(v, -v) }

// samples are the colours of a picture at a few places, in which grounds are searched for.
type samples struct {
	by, w, h int
	tones    []tone
}

// samplesSide is how many samples the longer side has at most: there are some between letters.
const samplesSide = 1200

func sampled(img image.Image) samples {
	b := img.Bounds()
	by := (max(b.Dx(), b.Dy()) + samplesSide - 1) / samplesSide
	s := samples{by: by, w: b.Dx() / by, h: b.Dy() / by}
	s.tones = make([]tone, s.w*s.h)
	for i := range s.tones {
		x, y := b.Min.X+i%s.w*by, b.Min.Y+i/s.w*by
		p, q := toneOf(img, x, y), toneOf(img, x+by/2, y+by/2)
		for k := range p {
			s.tones[i][k] = uint8((int(p[k]) + int(q[k])) / 2) //nolint:gosec // a mean of bytes
		}
	}
	return s
}

// ground is an area of one colour with letters in it.
type ground struct {
	in   image.Rectangle // in samples
	size int             // samples of its own colour
	of   tone
	part []bool // of the rectangle: what is drawn
	most int    // how far the letters are from the ground
	all  bool   // the ground is drawn too
	soft int    // places where it passes gradually into another area, as light does
	edge bool   // it reaches the edge of the picture
}

// A ground is flat but for the traces of JPEG. Paper, which most of a page is, and a sheet on a table are left as they are: package
// photo finds these, and evens out the light on them.
const (
	flatTone     = 8      // the most that neighbours differ
	leastGround  = 0.0005 // of the picture
	leastSamples = 150
	leastInk     = 24 // distance of letters from their ground
	clearInk     = 64 // difference in lightness of letters that are read anyway
	brightInk    = 72 // distance of coloured letters from paper; what stains it is less
	fewestMarks  = 3
)

// A dark screen is one flat area for the most part, and nothing light on it is as large as a sheet of paper on a table.
const (
	darkScreen = 80 // how light it is at most
	screenPart = 3  // the least part of the picture: one in so many
	sheetPart  = 5
	oneTone    = 4 // by how much the samples of what is drawn differ, one in four excepted; those of a photographed table have grain
)

// grounds returns the areas that are drawn, the largest first, and reports whether the picture is a dark screen.
func (s samples) grounds() (out []ground, dark bool) {
	if s.w < 3 || s.h < 3 {
		return nil, false
	}
	seen := make([]int32, len(s.tones)) // by which region, from 1
	var all []ground
	least := s.least()
	var stack []int32
	for start := range s.tones {
		if seen[start] != 0 {
			continue
		}
		name, sum := int32(len(all)+1), [3]int{} //nolint:gosec // fewer than samples
		g := ground{in: image.Rect(start%s.w, start/s.w, start%s.w+1, start/s.w+1)}
		stack = append(stack[:0], int32(start)) //nolint:gosec // fewer than 2³¹
		seen[start] = name
		for len(stack) > 0 {
			at := int(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			x, y := at%s.w, at/s.w
			g.in = g.in.Union(image.Rect(x, y, x+1, y+1))
			g.size++
			for k := range sum {
				sum[k] += int(s.tones[at][k])
			}
			for _, next := range [4]int{at - 1, at + 1, at - s.w, at + s.w} {
				if next < 0 || next >= len(seen) || next == at-1 && x == 0 || next == at+1 && x == s.w-1 {
					continue
				}
				switch {
				case seen[next] == name || s.tones[next].far(s.tones[at]) > flatTone:
				case seen[next] == 0 && s.tones[next].far(s.tones[start]) <= 3*flatTone:
					seen[next] = name
					stack = append(stack, int32(next)) //nolint:gosec // fewer than 2³¹
				default:
					g.soft++
				}
			}
		}
		for k := range sum {
			g.of[k] = uint8(sum[k] / g.size) //nolint:gosec // a mean of bytes
		}
		all = append(all, g)
	}
	lightest, sheet := 0, false
	for i, g := range all {
		if g.of.light() <= darkScreen && g.size*screenPart > len(s.tones) && g.size < len(s.tones) {
			dark = true
			sheet = sheet || s.grainy(g, seen, int32(i+1)) && s.sheet() //nolint:gosec // fewer than samples
		}
		sheet = sheet || g.of.light() > darkScreen && g.size*sheetPart > len(s.tones)
		if g.size*20 > len(s.tones) {
			lightest = max(lightest, g.of.light())
		}
	}
	if dark = dark && !sheet; dark {
		lightest = 2 * 255 // no box is nearly as light as the paper that the inverted screen is
	}
	for i, g := range all {
		g.edge = !g.in.In(image.Rect(1, 1, s.w-1, s.h-1))
		name := int32(i + 1) //nolint:gosec // fewer than samples
		if g.size >= least && g.size*2 > g.in.Dx()*g.in.Dy() && (!g.edge || g.size*2 > len(s.tones)) && 4*g.soft < g.in.Dx()+g.in.Dy() && !s.grainy(g, seen, name) {
			if g, ok := s.lettered(g, seen, name, lightest); ok {
				out = append(out, g)
			}
		}
	}
	slices.SortFunc(out, func(a, b ground) int { return cmp.Compare(b.size, a.size) })
	return out, dark
}

// grainy reports whether the samples of a region differ as those of a photograph do.
func (s samples) grainy(g ground, seen []int32, name int32) bool {
	grains := 0
	for y := g.in.Min.Y; y < g.in.Max.Y; y++ {
		for x := g.in.Min.X; x < g.in.Max.X; x++ {
			if at := y*s.w + x; seen[at] == name && s.tones[at].far(g.of) > oneTone {
				grains++
			}
		}
	}
	return 4*grains > g.size
}

// sheet reports whether a light area is as large as a sheet of paper, however much its samples differ.
func (s samples) sheet() bool {
	light := make([]bool, len(s.tones))
	for at, t := range s.tones {
		light[at] = t.light() > darkScreen
	}
	for at := range light {
		if light[at] && len(TakePiece(light, s.w, at).At)*sheetPart > len(s.tones) {
			return true
		}
	}
	return false
}

// lettered finds the marks on a ground, and reports whether they have to be drawn to be read.
func (s samples) lettered(g ground, seen []int32, name int32, lightest int) (ground, bool) {
	w, h := g.in.Dx(), g.in.Dy()
	g.part = make([]bool, w*h)
	index := func(x, y int) int { return (g.in.Min.Y+y)*s.w + g.in.Min.X + x }
	for i := range g.part {
		g.part[i] = seen[index(i%w, i/w)] == name
	}
	others := make([]bool, w*h)
	for i, own := range g.part {
		others[i] = !own
	}
	var all, pale []mark
	for start := range others {
		if !others[start] {
			continue
		}
		m := mark{Piece: TakePiece(others, w, start)}
		if m.Box.Min.X == 0 || m.Box.Min.Y == 0 || m.Box.Max.X == w || m.Box.Max.Y == h || 5*m.Box.Dy() > 4*h || 5*m.Box.Dx() > 4*w {
			continue // what is beside it, or divides it
		}
		if len(m.At) >= s.least() && s.isBox(m.Piece, g.in, seen) {
			continue // with letters of its own
		}
		for _, at := range m.At {
			t := s.tones[index(at%w, at/w)]
			m.far, m.lighter = append(m.far, t.far(g.of)), append(m.lighter, abs(t.light()-g.of.light()))
		}
		if all = append(all, m); usual(m.far, 90) >= brightInk && usual(m.lighter, 90) < clearInk && len(m.At) < s.least() {
			pale = append(pale, m)
		}
	}
	var lighter []int
	for _, m := range all {
		lighter = append(lighter, m.lighter...)
	}
	if usual(lighter, 90) >= clearInk && (g.edge || g.of.light()*100 >= lightest*85) {
		clear(g.part)
		all = pale
	} else {
		g.all = true
	}
	var far []int
	marks, grains := 0, 0
	for _, m := range all {
		far = append(far, m.far...)
		if len(m.At) > 1 {
			marks++
		} else {
			grains++
		}
		for _, at := range m.At {
			g.part[at] = true
		}
	}
	g.most = usual(far, 90)
	return g, marks >= fewestMarks && g.most >= leastInk && grains*100 < g.size
}

// isBox reports whether a piece of a ground's rectangle is a box with marks in it, such as a message or a field of a form, and no letter.
func (s samples) isBox(p Piece, in image.Rectangle, seen []int32) bool {
	w, h := p.Box.Dx(), p.Box.Dy()
	region := func(at int) int32 { return seen[(in.Min.Y+at/in.Dx())*s.w+in.Min.X+at%in.Dx()] }
	sizes, most := map[int32]int{}, int32(0)
	for _, at := range p.At {
		if sizes[region(at)]++; sizes[region(at)] > sizes[most] {
			most = region(at)
		}
	}
	if 2*sizes[most] < len(p.At) {
		return false
	}
	others, marks := make([]bool, w*h), 0
	for _, at := range p.At {
		x, y := at%in.Dx()-p.Box.Min.X, at/in.Dx()-p.Box.Min.Y
		others[y*w+x] = region(at) != most
	}
	for start := range others {
		if others[start] {
			m := TakePiece(others, w, start)
			if len(m.At) > 1 && m.Box.In(image.Rect(1, 1, w-1, h-1)) && 2*m.Box.Dx() < w {
				marks++
			}
		}
	}
	return marks >= fewestMarks
}

// mark is something on a ground.
type mark struct {
	Piece              // of the ground's rectangle
	far, lighter []int // than the ground, for each sample
}

// usual returns the value that some percent of others are below.
func usual(values []int, percent int) int {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)*percent/100]
}

// least is how large a ground is.
func (s samples) least() int { return max(leastSamples, int(leastGround*float64(len(s.tones)))) }

// draw draws what is on a ground in black, and the ground and its edge in white.
func (s samples) draw(g ground, img image.Image, shades *image.Gray) {
	w, h := g.in.Dx(), g.in.Dy()
	b := img.Bounds()
	within := func(x, y int) bool { return x >= 0 && y >= 0 && x < w && y < h && g.part[y*w+x] }
	noise := leastInk / 3
	gain := 255 * 16 / max(g.most-noise, 1)
	for y := -1; y <= h; y++ {
		for x := -1; x <= w; x++ {
			in := within(x, y)
			if !in && (!g.all || !within(x-1, y) && !within(x+1, y) && !within(x, y-1) && !within(x, y+1)) {
				continue
			}
			cell := image.Rect((g.in.Min.X+x)*s.by, (g.in.Min.Y+y)*s.by, (g.in.Min.X+x+1)*s.by, (g.in.Min.Y+y+1)*s.by)
			cell = cell.Intersect(shades.Rect)
			for py := cell.Min.Y; py < cell.Max.Y; py++ {
				for px := cell.Min.X; px < cell.Max.X; px++ {
					v := 255
					if in {
						v = 255 - min(max(toneOf(img, b.Min.X+px, b.Min.Y+py).far(g.of)-noise, 0)*gain/16, 255)
					}
					shades.Pix[py*shades.Stride+px] = uint8(v) //nolint:gosec // 0 to 255
				}
			}
		}
	}
}
