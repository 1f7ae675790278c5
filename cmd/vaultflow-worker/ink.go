package main

import (
	"image"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// contrast is how much a pixel has to differ from the paper, of 255, to count as ink: grain, creases and what shines through
// from the other side stay below.
const contrast = 48

// paper is the shade that most of the picture has: its median.
func paper(img *image.Gray) uint8 {
	var count [256]int
	for _, v := range img.Pix {
		count[v]++
	}
	seen := 0
	for v, n := range count {
		if seen += n; seen*2 >= len(img.Pix) {
			return uint8(v) //nolint:gosec // one of 256
		}
	}
	return 255 // there are no pixels
}

// inkDPI is the resolution at which a page without text is drawn to see whether anything is on it. A full stop of 10 points
// still is a pixel there.
const inkDPI = 72

// inkOf measures how much of a picture is not of the paper's shade, as a whole and inside its outer margin.
func inkOf(img *image.Gray) extract.Ink {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	dx, dy := int(float64(w)*marginShare), int(float64(h)*marginShare)
	within := image.Rect(dx, dy, w-dx, h-dy)
	shade := int(paper(img))
	count, inside := 0, 0
	for y := range h {
		for x, v := range img.Pix[y*img.Stride : y*img.Stride+w] {
			if abs(int(v)-shade) < contrast {
				continue
			}
			count++
			if image.Pt(x, y).In(within) {
				inside++
			}
		}
	}
	return extract.Ink{All: float64(count) / float64(max(w*h, 1)), Inner: float64(inside) / float64(max(within.Dx()*within.Dy(), 1))}
}
