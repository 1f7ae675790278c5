package main

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// What stands in coloured boxes is read with the rest of the page: letters as light as their ground, white ones on a light colour,
// black ones on a dark colour.
func TestWorker_readsColouredBoxes(t *testing.T) {
	t.Parallel()
	boxed := []string{"Total due 1,648.37 by 30 November", "Account 4408 2291 6653 8870"}
	for name, c := range map[string]struct{ ground, ink color.RGBA }{
		"red, green":    {color.RGBA{200, 60, 60, 255}, color.RGBA{30, 138, 40, 255}},
		"orange, white": {color.RGBA{250, 215, 60, 255}, color.RGBA{255, 255, 255, 255}},
		"navy, black":   {color.RGBA{20, 30, 110, 255}, color.RGBA{A: 255}},
		"navy, white":   {color.RGBA{20, 30, 110, 255}, color.RGBA{255, 255, 255, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := image.NewRGBA(image.Rect(0, 0, 1240, 900))
			draw.Draw(page, page.Rect, pdftest.Drawing(1240, 900, 150, prose[:5]...), image.Point{}, draw.Src)
			box := pdftest.Drawing(1000, 260, 150, boxed...)
			for y := range box.Rect.Dy() {
				for x := range box.Rect.Dx() {
					v := int(box.GrayAt(x, y).Y)
					mixed := func(ink, ground uint8) uint8 { return uint8((int(ground)*v + int(ink)*(255-v)) / 255) } //nolint:gosec // a mean of bytes
					page.SetRGBA(120+x, 450+y, color.RGBA{mixed(c.ink.R, c.ground.R), mixed(c.ink.G, c.ground.G), mixed(c.ink.B, c.ground.B), 255})
				}
			}
			got := read(t, encoded(t, page))
			if rate := errorRate(got.Text, append(prose[:5:5], boxed...)); rate > 0.03 || len(got.Doubts) > 0 {
				t.Errorf("%.3f of the characters are wrong, doubts %v: %s", rate, got.Doubts, got.Text)
			}
		})
	}
}
