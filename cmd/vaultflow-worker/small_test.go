package main

import (
	"image"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"golang.org/x/image/draw"
)

// Letters of few pixels are read enlarged, and their places are those in the picture. Where digits cannot be told apart, the page
// is doubtful.
func TestWorker_readsSmallLetters(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(1240, 900, 150, prose...)
	for high, doubtful := range map[int]bool{400: false, 250: true} {
		small := image.NewGray(image.Rect(0, 0, 1240*high/900, high))
		draw.CatmullRom.Scale(small, small.Rect, page, page.Rect, draw.Src, nil)
		got := read(t, encoded(t, small))
		if rate := errorRate(got.Text, prose); rate > 0.06 || doubt.Has(got.Doubts, doubt.Recognition) != doubtful {
			t.Errorf("%d high: %.3f of the characters are wrong, doubts %v", high, rate, got.Doubts)
		}
		if last := got.Words[len(got.Words)-1]; got.Width != small.Rect.Dx() || last.X1 > got.Width || last.Y1 > high || last.Y1 < high/2 {
			t.Errorf("%d high: the last word, %q, ends at %d,%d of %d×%d", high, last.Text, last.X1, last.Y1, got.Width, got.Height)
		}
	}
}
