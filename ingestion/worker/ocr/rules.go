package ocr

import (
	"image"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Rules of tables show which cells are in a row and a column. Tesseract reads letters badly that rules surround, so those of grids are painted out.
const (
	ruleLeast = 3 // heights of letters; strokes of letters are shorter
	gridLeast = 6 // those of large Chinese letters are shorter
)

// rule is a level or upright stroke that is no letter's.
type rule struct {
	image.Rectangle
	upright bool
	at      []image.Point // its ink
}

// rulesIn returns the rules of a straightened picture, and how high its letters are.
func rulesIn(img *image.Gray) (rules []rule, high int) {
	if high = markHeight(img); high == 0 {
		return nil, 0
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	level := inkOf(img)
	thin := func(b image.Rectangle) bool { return b.Dy() <= high/2+b.Dx()/100 } // no area, and no more slanted than lines are
	for _, p := range strokes(level, w, ruleLeast*high) {
		if thin(p.Box) {
			rules = append(rules, rule{p.Box, false, pointsOf(p.At, w, false)})
		}
	}
	for _, p := range strokes(transposed(level, w), h, ruleLeast*high) {
		if b := p.Box; thin(b) {
			rules = append(rules, rule{image.Rect(b.Min.Y, b.Min.X, b.Max.Y, b.Max.X), true, pointsOf(p.At, h, true)})
		}
	}
	return rules, high
}

// markHeight is the usual height of what may be letters in a picture; 0 if there are few.
func markHeight(img *image.Gray) int {
	longer := max(img.Rect.Dx(), img.Rect.Dy())
	by := max((longer+marksSide-1)/marksSide, 1)
	var heights []int
	for _, m := range marksIn(raster.Shrink(img, marksSide)) {
		if m.box.Dy() >= 4 && m.box.Dx() <= 4*m.box.Dy() && m.box.Dy() <= 8*m.box.Dx() {
			heights = append(heights, m.box.Dy()*by)
		}
	}
	if len(heights) < fewestSmall {
		return 0
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}

// inkOf returns which pixels of a picture are ink, row by row.
func inkOf(img *image.Gray) []bool {
	w, h, paper := img.Rect.Dx(), img.Rect.Dy(), int(raster.Paper(img))
	var is [256]bool
	for v := range is {
		if paper < 128 {
			is[v] = v-paper > raster.Contrast
		} else {
			is[v] = paper-v > raster.Contrast
		}
	}
	out := make([]bool, w*h)
	for y := range h {
		for x, v := range img.Pix[y*img.Stride:][:w] {
			out[y*w+x] = is[v]
		}
	}
	return out
}

// transposed returns the columns of a picture of some width as rows. It goes by blocks, which stay in the processor's cache.
func transposed(ink []bool, w int) []bool {
	const block = 64
	h := len(ink) / w
	out := make([]bool, len(ink))
	for top := 0; top < h; top += block {
		for left := 0; left < w; left += block {
			for y := top; y < min(top+block, h); y++ {
				for x := left; x < min(left+block, w); x++ {
					out[x*h+y] = ink[y*w+x]
				}
			}
		}
	}
	return out
}

// strokes returns the connected pieces of level runs of ink of at least a length; none of a photograph, most of which they would be.
func strokes(ink []bool, w, least int) (pieces []raster.Piece) {
	mask, inked := make([]bool, len(ink)), 0
	for row := 0; row < len(ink); row += w {
		from := row
		for at := row; at <= row+w; at++ {
			if at < row+w && ink[at] {
				continue
			}
			if at-from >= least {
				inked += at - from
				copy(mask[from:at], ink[from:at])
			}
			from = at + 1
		}
	}
	if 8*inked > len(mask) {
		return nil
	}
	for at := range mask {
		if mask[at] {
			if pieces = append(pieces, raster.TakePiece(mask, w, at)); len(pieces) == mostRules {
				return nil
			}
		}
	}
	return pieces
}

// mostRules limits the rules of a picture; more are a raster.
const mostRules = 2000

func pointsOf(at []int, width int, upright bool) []image.Point {
	out := make([]image.Point, len(at))
	for i, n := range at {
		if out[i] = image.Pt(n%width, n/width); upright {
			out[i] = image.Pt(n/width, n%width)
		}
	}
	return out
}

// inGrids returns the rules that meet two others at least, as the sides of cells do.
func inGrids(rules []rule, high int) []rule {
	met := func(among []rule) []rule {
		return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool {
			n := 0
			for _, o := range among {
				if o.upright != r.upright && r.Inset(-high/3).Overlaps(o.Rectangle) {
					n++
				}
			}
			return n < 2 || max(r.Dx(), r.Dy()) < gridLeast*high
		})
	}
	return met(met(rules))
}

// without returns a picture in which rules are painted out.
func without(img *image.Gray, rules []rule, high int) *image.Gray {
	if len(rules) == 0 {
		return img
	}
	out := &image.Gray{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
	paper, edge := raster.Paper(img), max(1, high/12) // the grey beside the ink
	for _, r := range rules {
		for _, p := range r.at {
			for d := -edge; d <= edge; d++ {
				x, y := p.X, p.Y+d
				if r.upright {
					x, y = p.X+d, p.Y
				}
				if x >= 0 && y >= 0 && x < img.Rect.Dx() && y < img.Rect.Dy() {
					out.Pix[y*out.Stride+x] = paper
				}
			}
		}
	}
	return out
}

// thin returns the place of a rule, as thin as a rule is that is not slanted.
func (r rule) thin() image.Rectangle {
	if r.upright {
		x := (r.Min.X + r.Max.X) / 2
		return image.Rect(x, r.Min.Y, x+1, r.Max.Y)
	}
	y := (r.Min.Y + r.Max.Y) / 2
	return image.Rect(r.Min.X, y, r.Max.X, y+1)
}
