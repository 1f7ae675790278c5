// Package raster works on the pictures of pages: it fits them into limits, turns them, and encodes them. It keeps no state
// and reads no files.
package raster

import (
	"image"
	"math"
)

// OCRSide is the longest side in pixels of a picture that is recognised. Tesseract crashes above 32,767.
const OCRSide = 10_000

// Fit lowers a resolution until a page of this size in points is within the limits. Call it before drawing: MuPDF ends the
// process when it runs out of memory.
func Fit(widthPt, heightPt, dpi float64, maxSide int, maxPixels int64) float64 {
	width, height := max(widthPt, 1)/72, max(heightPt, 1)/72
	// A pixel less on each side, because edges are rounded outward.
	dpi = min(dpi, float64(maxSide-1)/max(width, height))
	return min(dpi, math.Sqrt(float64(maxPixels)/(width*height))*0.999)
}

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
