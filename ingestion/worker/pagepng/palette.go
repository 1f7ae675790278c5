package pagepng

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"slices"
)

// maxPalette is how many colours a palette holds (W3C PNG, third edition, section 11.2.2).
const maxPalette = 256

// maxColours is how many colours a picture may have for near ones to be tried. Pages in coloured print have 300 to 1,000: the shades between each
// ink and its ground.
const maxColours = 2048

// slots is the size of the table that finds a colour: a power of two, and large enough to have few collisions.
const slots = 4 * maxColours

// colours are those of a picture, in the order of their first pixels.
type colours struct {
	table  [slots]uint32 // 0: free, because an opaque colour is not 0
	places [slots]uint16 // of the table's colours in the list
	list   []uint32
	runs   []int // how many runs of pixels each has, without those of lines like the one above
}

// slot returns where a colour is in the table, or belongs.
func (c *colours) slot(p uint32) uint32 {
	at := p * 0x9e3779b1 >> 19 // Fibonacci hashing; the upper 13 bits
	for c.table[at] != p && c.table[at] != 0 {
		at = (at + 1) % slots
	}
	return at
}

// coloursOf lists the colours of a picture, or returns nil if they are too many or not opaque.
func coloursOf(img *image.RGBA, most int) *colours {
	c := &colours{}
	var before []byte
	for y := range img.Rect.Dy() {
		line := row(img, y)
		if bytes.Equal(line, before) { // blank lines are many, and comparing is fast
			continue
		}
		before = line
		var last uint32
		for x := range img.Rect.Dx() {
			p := colourAt(line, x)
			if p == last {
				continue
			}
			last = p
			at := c.slot(p)
			if c.table[at] == 0 {
				if p < opaque || len(c.list) == most {
					return nil
				}
				c.table[at], c.places[at] = p, uint16(len(c.list)) //nolint:gosec // below maxColours
				c.list, c.runs = append(c.list, p), append(c.runs, 0)
			}
			c.runs[c.places[at]]++
		}
	}
	return c
}

// paint returns the picture with a palette. shown has the place in it of each colour in the list.
func (c *colours) paint(img *image.RGBA, palette []uint32, shown []uint8) *image.Paletted {
	w := img.Rect.Dx()
	out := image.NewPaletted(image.Rect(0, 0, w, img.Rect.Dy()), make(color.Palette, len(palette)))
	for i, p := range palette {
		out.Palette[i] = color.RGBA{R: uint8(p), G: uint8(p >> 8), B: uint8(p >> 16), A: 255} //nolint:gosec // one byte of each
	}
	var before []byte
	for y := range img.Rect.Dy() {
		line, to := row(img, y), out.Pix[y*w:][:w]
		if bytes.Equal(line, before) {
			copy(to, out.Pix[(y-1)*w:])
			continue
		}
		before = line
		var last uint32
		var place uint8
		for x := range to {
			if p := colourAt(line, x); p != last {
				last, place = p, shown[c.places[c.slot(p)]]
			}
			to[x] = place
		}
	}
	return out
}

// asPalette returns a picture of at most 256 opaque colours, or nil.
func asPalette(img *image.RGBA) *image.Paletted {
	c := coloursOf(img, maxPalette)
	if c == nil {
		return nil
	}
	shown := make([]uint8, len(c.list))
	for i := range shown {
		shown[i] = uint8(i) //nolint:gosec // below maxPalette
	}
	return c.paint(img, c.list, shown)
}

// nearPalette returns a picture in which no channel of a pixel differs by more than 1 of 255, with 256 colours, or nil. The colours of most
// runs, which are the paper and the inks, stay as they are.
func nearPalette(img *image.RGBA) *image.Paletted {
	c := coloursOf(img, maxColours)
	if c == nil {
		return nil
	}
	order := make([]int, len(c.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.runs[b], c.runs[a]) })
	kept := min(exact, len(order))
	var groups []group
	shown := make([]uint8, len(c.list))
	for _, i := range order[:kept] {
		shown[i] = uint8(len(groups)) //nolint:gosec // below exact
		groups = append(groups, around(c.list[i]))
	}
	// From dark to light, shades that are near to each other follow one another.
	slices.SortFunc(order[kept:], func(a, b int) int {
		return cmp.Or(cmp.Compare(sum(c.list[a]), sum(c.list[b])), cmp.Compare(c.list[a], c.list[b]))
	})
	for _, i := range order[kept:] {
		at := slices.IndexFunc(groups, func(g group) bool { return g.with(c.list[i]).near() })
		if at < 0 {
			if at = len(groups); at == maxPalette {
				return nil
			}
			groups = append(groups, group{channels(c.list[i]), channels(c.list[i])})
		}
		groups[at], shown[i] = groups[at].with(c.list[i]), uint8(at) //nolint:gosec // below maxPalette
	}
	palette := make([]uint32, len(groups))
	for i, g := range groups {
		palette[i] = g.middle()
	}
	return c.paint(img, palette, shown)
}

// exact is how many colours stay as they are.
const exact = 8

// group is of colours that one represents: the least and the greatest of each channel.
type group struct{ least, greatest [3]int }

func channels(p uint32) [3]int { return [3]int{int(p & 0xff), int(p >> 8 & 0xff), int(p >> 16 & 0xff)} }

func sum(p uint32) int {
	v := channels(p)
	return v[0] + v[1] + v[2]
}

// around returns a group that keeps its middle.
func around(p uint32) (g group) {
	for i, v := range channels(p) {
		g.least[i], g.greatest[i] = v-1, v+1
	}
	return g
}

func (g group) with(p uint32) group {
	for i, v := range channels(p) {
		g.least[i], g.greatest[i] = min(g.least[i], v), max(g.greatest[i], v)
	}
	return g
}

// near reports whether no colour differs by more than 1 from the one in the middle.
func (g group) near() bool {
	for i := range g.least {
		if g.greatest[i]-g.least[i] > 2 {
			return false
		}
	}
	return true
}

func (g group) middle() uint32 {
	p := uint32(opaque)
	for i := range g.least {
		p |= uint32(g.least[i]+g.greatest[i]) / 2 << (8 * i) //nolint:gosec // a mean of bytes
	}
	return p
}
