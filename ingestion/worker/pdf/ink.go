package pdf

import (
	"image"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// inkDPI is the resolution at which a page without text is drawn to see whether anything is on it. A full stop of 10 points
// still is a pixel there.
const inkDPI = 72

// inkOf measures the share of a picture that differs from the paper, as a whole and inside its outer margin.
func inkOf(img *image.Gray) extract.Ink {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	dx, dy := int(float64(w)*marginShare), int(float64(h)*marginShare)
	within := image.Rect(dx, dy, w-dx, h-dy)
	shade := int(raster.Paper(img))
	count, inside := 0, 0
	for y := range h {
		for x, v := range img.Pix[y*img.Stride : y*img.Stride+w] {
			if max(int(v)-shade, shade-int(v)) < raster.Contrast {
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
