package formula

import (
	"math"
	"slices"
)

// part is what one row of a formula consists of.
type part struct {
	glyphs []Glyph
	bars   []Bar
}

// rows divides a formula of several rows. Each full letter outside of fractions has the baseline of a row, and each rule of a fraction has its
// middle. What else there is belongs to the row that is nearest.
func rows(glyphs []Glyph, bars []Bar) []part {
	size := 0.0
	for _, g := range glyphs {
		size = max(size, g.Size)
	}
	var bases []float64
	for _, g := range glyphs {
		if g.Size > 0.9*size && !Hangs(g.Font) && g.Text != "√" && !slices.ContainsFunc(bars, func(b Bar) bool { return inFraction(g, b) }) {
			bases = append(bases, g.Y)
		}
	}
	for _, b := range bars {
		over := slices.ContainsFunc(glyphs, func(g Glyph) bool { return g.Y < b.Y && g.Size > 0.9*size && inFraction(g, b) }) // it is no root's, and in no limit
		if over && !slices.ContainsFunc(bars, func(o Bar) bool { return o != b && o.X0 <= b.X0 && o.X1 >= b.X1 && math.Abs(o.Y-b.Y) < 3*size }) {
			bases = append(bases, b.Y+axis*size)
		}
	}
	if bases = distinct(bases, 0.9*size); len(bases) < 2 {
		return []part{{glyphs, bars}}
	}
	out := make([]part, len(bases))
	for _, g := range glyphs {
		at := nearest(bases, g.Y-axis*size/2)
		for _, b := range bars {
			if inFraction(g, b) {
				at = nearest(bases, b.Y+axis*size)
			}
		}
		out[at].glyphs = append(out[at].glyphs, g)
	}
	for _, b := range bars {
		at := nearest(bases, b.Y+axis*size)
		out[at].bars = append(out[at].bars, b)
	}
	return slices.DeleteFunc(out, func(p part) bool { return len(p.glyphs) == 0 })
}

// spans reports whether a bracket is as high as several rows.
func spans(parts []part) bool {
	for i, p := range parts {
		for _, g := range p.glyphs {
			if !Hangs(g.Font) || brackets[[]rune(g.Text)[0]] == "" && g.Text != "|" {
				continue
			}
			for j, other := range parts {
				if j != i && slices.ContainsFunc(other.glyphs, func(o Glyph) bool { return !Hangs(o.Font) && math.Abs(o.Y-g.Y) < 1.5*g.Size && o.Size > 0.9*g.Size }) {
					return true
				}
			}
		}
	}
	return false
}

// inFraction reports whether a glyph is right above or below a bar.
func inFraction(g Glyph, b Bar) bool {
	x := g.X + g.Width/2
	y := g.Y - 0.3*g.Size
	if g.Text == "√" { // TeX's hangs from its rule
		y += 0.5 * g.Size
	}
	return x > b.X0-0.5 && x < b.X1+0.5 && math.Abs(y-b.Y) < 1.4*g.Size
}

// distinct returns the values that differ by more than gap, rising.
func distinct(values []float64, gap float64) []float64 {
	slices.Sort(values)
	var out []float64
	for _, v := range values {
		if n := len(out); n == 0 || v-out[n-1] > gap {
			out = append(out, v)
		}
	}
	return out
}

func nearest(values []float64, v float64) int {
	best := 0
	for i := range values {
		if math.Abs(values[i]-v) < math.Abs(values[best]-v) {
			best = i
		}
	}
	return best
}
