package ocr

import (
	"fmt"
	"image"
	"slices"

	"golang.org/x/image/draw"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Letters of few pixels are read wrongly, digits first, and with confidence. Enlarged, they are read better; what the picture does
// not show stays lost.
const (
	smallLetter = 13        // pixels of most letters: those of 12-point type at 150 dpi have 13
	lostLetter  = 7         // below this, digits are wrong
	smallPixels = 1_500_000 // of a picture that is enlarged: a page at 110 dpi
	fewestSmall = 20        // letters
)

// letterHeight returns the usual height of letters in a picture, or 0 if it is large or has too few of them.
func letterHeight(img *image.Gray) int {
	if len(img.Pix) > smallPixels {
		return 0
	}
	var heights []int
	dots := 0
	for _, m := range marksIn(img) {
		if m.box.Dy() <= 2 {
			dots++
		} else if m.box.Dx() <= 4*m.box.Dy() && m.box.Dy() <= 8*m.box.Dx() {
			heights = append(heights, m.box.Dy())
		}
	}
	if len(heights) < fewestSmall || 2*dots > len(heights) { // too few, or noise
		return 0
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}

// readSmall reads a picture of small letters, enlarged.
func (r *Reader) readSmall(img *image.Gray, high int, languages []string) (*extract.PageOCR, error) {
	by := 2
	if high < lostLetter {
		by = 3
	}
	large := image.NewGray(image.Rect(0, 0, by*img.Rect.Dx(), by*img.Rect.Dy()))
	draw.CatmullRom.Scale(large, large.Rect, img, img.Rect, draw.Src, nil)
	out, err := r.read(large, languages)
	if err != nil {
		return nil, err
	}
	out.Width, out.Height = out.Width/by, out.Height/by
	for i, w := range out.Words {
		w.X0, w.Y0, w.X1, w.Y1 = w.X0/by, w.Y0/by, (w.X1+by-1)/by, (w.Y1+by-1)/by
		out.Words[i] = w
	}
	if high < lostLetter && len(out.Words) > 0 {
		out.Doubts = doubt.Add(out.Doubts, doubt.Recognition, fmt.Sprintf("its letters are %d pixels high; scan it with 300 dpi", high))
	}
	return out, nil
}
