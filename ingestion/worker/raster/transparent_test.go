package raster_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Letters on a transparent ground become dark on light, whichever ground they are made for. Those on a plate stay as they are.
func TestPrint_transparent(t *testing.T) {
	t.Parallel()
	letters := pdftest.Drawing(600, 200, 150, "Total due 1,648.37", "by 14 March 2026")
	white, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{A: 255}
	for name, c := range map[string]struct{ ground, ink color.NRGBA }{
		"white":            {color.NRGBA{}, white},
		"white on nothing": {color.NRGBA{255, 255, 255, 0}, white},
		"pale yellow":      {color.NRGBA{}, color.NRGBA{255, 250, 190, 255}},
		"white, thin":      {color.NRGBA{}, color.NRGBA{255, 255, 255, 200}},
		"black":            {color.NRGBA{}, black},
		"black on a plate": {white, black},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, 800, 400))
		for y := range letters.Rect.Dy() {
			for x := range letters.Rect.Dx() {
				colour := c.ground
				if letters.GrayAt(x, y).Y < 128 {
					colour = c.ink
				}
				img.SetNRGBA(100+x, 100+y, colour)
			}
		}
		got, wrong := raster.Print(img), 0
		for y := range letters.Rect.Dy() {
			for x := range letters.Rect.Dx() {
				if dark := got.GrayAt(100+x, 100+y).Y < 128; dark != (letters.GrayAt(x, y).Y < 128) {
					wrong++
				}
			}
		}
		if wrong*50 > letters.Rect.Dx()*letters.Rect.Dy() || got.GrayAt(10, 10).Y < 250 {
			t.Errorf("%s: %d pixels are wrong, the ground is %d", name, wrong, got.GrayAt(10, 10).Y)
		}
	}
}
