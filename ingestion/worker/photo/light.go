package photo

import (
	"image"
	"math"
	"slices"
)

// light is how bright the paper is in each part of a picture, on a grid.
type light struct {
	cell          int // pixels of a side
	columns, rows int
	paper         []float64 // shade of the paper in each cell
	lightest      float64   // shade of all but the twentieth that is lighter
	dimmest       float64   // the darkest tenth, relative to the lightest
}

// lightCells is how many cells the longer side has: a line of text is lower than a cell.
const lightCells = 40

// lightOf measures the light: the paper is what most of a cell's lighter pixels have.
func lightOf(img *image.Gray) light {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	l := light{cell: max(max(w, h)/lightCells, 8)}
	l.columns, l.rows = (w+l.cell-1)/l.cell, (h+l.cell-1)/l.cell
	raw := make([]float64, l.columns*l.rows)
	for row := range l.rows {
		for column := range l.columns {
			raw[row*l.columns+column] = paperOf(img, image.Rect(column*l.cell, row*l.cell, (column+1)*l.cell, (row+1)*l.cell).Intersect(img.Rect))
		}
	}
	// Cells without paper, those in a heading or a picture, take the shade of the lightest neighbour; then steps are smoothed.
	raised := l.filtered(raw, func(around []float64) float64 { return slices.Max(around) })
	raised = l.filtered(raised, func(around []float64) float64 { return slices.Min(around) })
	l.paper = l.filtered(raised, func(around []float64) float64 {
		sum := 0.0
		for _, v := range around {
			sum += v
		}
		return sum / float64(len(around))
	})
	sorted := slices.Sorted(slices.Values(l.paper))
	if n := len(sorted); n > 0 {
		l.lightest = sorted[n-1-n/20]
		l.dimmest = sorted[n/10] / max(l.lightest, 1)
	}
	return l
}

// paperOf returns the shade that four fifths of the pixels of a cell do not pass.
func paperOf(img *image.Gray, r image.Rectangle) float64 {
	var count [256]int
	seen := 0
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		for _, v := range img.Pix[y*img.Stride+r.Min.X : y*img.Stride+r.Max.X] {
			count[v]++
			seen++
		}
	}
	for v, n := range count {
		if seen -= n; seen*5 <= (r.Dx()*((r.Dy()+1)/2))*1 {
			return float64(v)
		}
	}
	return 255
}

// filtered applies a function to each cell with its neighbours.
func (l light) filtered(cells []float64, f func(around []float64) float64) []float64 {
	out := make([]float64, len(cells))
	around := make([]float64, 0, 9)
	for row := range l.rows {
		for column := range l.columns {
			around = around[:0]
			for y := max(row-1, 0); y <= min(row+1, l.rows-1); y++ {
				around = append(around, cells[y*l.columns+max(column-1, 0):y*l.columns+min(column+1, l.columns-1)+1]...)
			}
			out[row*l.columns+column] = f(around)
		}
	}
	return out
}

// evenLight is how dark the paper of a good scan may be at its darkest, relative to the lightest. A ground that is darker than
// darkGround everywhere is no paper: a screen with light letters, which only look like light that falls on it.
const (
	evenLight  = 0.85
	darkGround = 80
)

// uneven reports whether light and shadow lie on a page. They pass gradually; steps are pictures and coloured boxes.
func (l light) uneven() bool {
	if l.dimmest >= evenLight || l.dimmest < 0.1 || l.lightest < darkGround {
		return false
	}
	steps, pairs := 0, 0
	for row := range l.rows {
		for column := 1; column < l.columns; column++ {
			a, b := l.paper[row*l.columns+column-1], l.paper[row*l.columns+column]
			if pairs++; math.Abs(a-b) > 0.1*max(a, b) {
				steps++
			}
		}
	}
	return steps*20 < pairs
}

// evened divides the picture by the light.
func (l light) evened(img *image.Gray) *image.Gray {
	const white = 280 // clips the grain of the paper
	out := image.NewGray(img.Rect)
	cell := float64(l.cell)
	for y := range img.Rect.Dy() {
		gy := min(max((float64(y)+0.5)/cell-0.5, 0), float64(l.rows-1))
		row := min(int(gy), max(l.rows-2, 0))
		below := min(row+1, l.rows-1)
		fy := gy - float64(row)
		for x := range img.Rect.Dx() {
			gx := min(max((float64(x)+0.5)/cell-0.5, 0), float64(l.columns-1))
			column := min(int(gx), max(l.columns-2, 0))
			right := min(column+1, l.columns-1)
			fx := gx - float64(column)
			upper := l.paper[row*l.columns+column]*(1-fx) + l.paper[row*l.columns+right]*fx
			lower := l.paper[below*l.columns+column]*(1-fx) + l.paper[below*l.columns+right]*fx
			paper := upper*(1-fy) + lower*fy
			out.Pix[y*out.Stride+x] = uint8(min(float64(img.Pix[y*img.Stride+x])*white/max(paper, 1), 255))
		}
	}
	return out
}
