package raster

import "math"

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
