package raster

import (
	"image"
	"image/color"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func TestFit_keepsToAllCaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width, height, dpi float64
		side               int
		pixels             int64
	}{{595, 842, 150, 2000, 40e6}, {18000, 36000, 150, 2000, 40e6}, {14400, 14400, 300, 10000, 1e6}, {0, 0, 150, 2000, 1e6}, {1, 100000, 150, 2000, 1e6}} {
		dpi := Fit(c.width, c.height, c.dpi, c.side, c.pixels)
		w, h := c.width*dpi/72, c.height*dpi/72
		if dpi <= 0 || dpi > c.dpi || max(w, h) > float64(c.side) || w*h > float64(c.pixels) {
			t.Errorf("%+v: %g dpi gives %g × %g", c, dpi, w, h)
		}
	}
}

func TestTurned_fourTimesIsTheSame(t *testing.T) {
	t.Parallel()
	img := pdftest.Drawing(60, 40, 72, "ab")
	if once := Quarter(img); once.Rect.Dx() != 40 || once.Pix[0*once.Stride+39] != img.Pix[0] {
		t.Error("not turned clockwise")
	}
	if got := Quarter(Quarter(Quarter(Quarter(img)))); string(got.Pix) != string(img.Pix) {
		t.Error("four turns changed the picture")
	}
}

// The four corners of a picture tell the eight orientations apart: each lists them as displayed, line by line.
func TestOriented_putsCornersInPlace(t *testing.T) {
	t.Parallel()
	stored := image.NewRGBA(image.Rect(0, 0, 2, 2))
	for i := range 4 {
		stored.SetRGBA(i%2, i/2, color.RGBA{R: uint8(i + 1), A: 255}) //nolint:gosec // 1 to 4
	}
	for orientation, want := range map[int][4]uint8{
		0: {1, 2, 3, 4}, 1: {1, 2, 3, 4}, 2: {2, 1, 4, 3}, 3: {4, 3, 2, 1}, 4: {3, 4, 1, 2}, 5: {1, 3, 2, 4}, 6: {3, 1, 4, 2}, 7: {4, 2, 3, 1}, 8: {2, 4, 1, 3},
	} {
		img := Oriented(stored, orientation)
		got := [4]uint8{img.Pix[0], img.Pix[4], img.Pix[img.Stride], img.Pix[img.Stride+4]}
		if got != want {
			t.Errorf("orientation %d: %v, want %v", orientation, got, want)
		}
	}
}

// The identity of a page is kept for years: what computes it never changes.
func TestIdentity(t *testing.T) {
	t.Parallel()
	img := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 9)
	}
	const want = "1094e0d5b6fad6f3aca69fbd9aa3521ad16c51863ff2745c4ae3d84d5c91d976"
	if got := Identity(img); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	img.Pix[0]++
	img.Pix[1] += 3
	if Identity(img) == want {
		t.Error("another picture has the same identity")
	}
}
