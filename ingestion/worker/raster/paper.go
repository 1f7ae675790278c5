package raster

import "image"

// Contrast is how much a pixel has to differ from the paper, of 255, to count as ink: grain, creases and what shines through
// from the other side stay below.
const Contrast = 48

// Paper returns the median shade of a picture, which is that of its paper.
func Paper(img *image.Gray) uint8 {
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
