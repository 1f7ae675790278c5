package pdf

import (
	"image"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// marginShare of each side of the page is its outer margin: stamps, page numbers and running heads are there.
const marginShare = 0.1

// evidenceOf counts the evidence for and against using the text layer.
func evidenceOf(l layout.Page) extract.Evidence {
	e := extract.Evidence{Drawn: l.Drawn, Hidden: l.Hidden, Pictures: len(l.Pictures), PictureCover: cover(l.Width, l.Height, l.Pictures)}
	fonts := map[string]bool{}
	for _, line := range l.Lines {
		fonts[line.Font] = true
		i := 0
		for _, r := range line.Text {
			i++
			if unicode.IsSpace(r) {
				continue
			}
			e.Chars++
			if (r == unicode.ReplacementChar || unicode.Is(unicode.Co, r)) && !(i == 1 && layout.IsMark(line.Text)) {
				e.Unmapped++
			}
			if line.Invisible {
				e.Invisible++
			}
			if inMargin(l, line.Box.X0+float64(i)*line.Size*layout.CharWidth, line.Box.Y0+line.Size/2) {
				e.MarginChars++
			}
		}
	}
	e.Fonts = len(fonts)
	return e
}

func inMargin(l layout.Page, x, y float64) bool {
	dx, dy := l.Width*marginShare, l.Height*marginShare
	return x < dx || x > l.Width-dx || y < dy || y > l.Height-dy
}

// cover returns the share of the page that pictures cover. Overlaps count once.
func cover(width, height float64, boxes []layout.Box) float64 {
	const cells = 64
	covered := 0
	for row := range cells {
		for column := range cells {
			x, y := (float64(column)+0.5)*width/cells, (float64(row)+0.5)*height/cells
			for _, b := range boxes {
				if x >= b.X0 && x <= b.X1 && y >= b.Y0 && y <= b.Y1 {
					covered++
					break
				}
			}
		}
	}
	return float64(covered) / (cells * cells)
}

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
