package main

import (
	"image"
	"math"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func TestSkew_isMeasured(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(827, 1169, 100, prose...)
	for _, angle := range []float64{0, 0.5, -1, 3, -9.5} {
		for quarter := range 2 {
			scan := turnedBy(page, angle)
			if quarter == 1 {
				scan = turned(scan)
			}
			if got := skew(scan); math.Abs(got-angle) > 0.2 {
				t.Errorf("turned by %g and %d quarters: %.2f", angle, quarter, got)
			}
		}
	}
}

func TestSkew_leavesTheRestAlone(t *testing.T) {
	t.Parallel()
	for name, img := range map[string]*image.Gray{
		"empty":        image.NewGray(image.Rect(0, 0, 400, 400)),
		"one pixel":    image.NewGray(image.Rect(0, 0, 1, 1)),
		"a strip":      image.NewGray(image.Rect(0, 0, 9000, 3)),
		"no text":      pdftest.Noise(900, 700, 3),
		"other noise":  pdftest.Noise(1200, 700, 4),
		"a little off": turnedBy(pdftest.Drawing(827, 1169, 100, prose...), 0.1),
	} {
		if got := skew(img); got != 0 {
			t.Errorf("%s: skewed by %.2f", name, got)
		}
	}
}

// A box is where it was before the page was straightened.
func TestSkewBoxes_goBack(t *testing.T) {
	t.Parallel()
	page := image.NewGray(image.Rect(0, 0, 800, 600))
	for i := range page.Pix {
		page.Pix[i] = 255
	}
	mark := image.Rect(600, 100, 640, 120)
	for y := mark.Min.Y; y < mark.Max.Y; y++ {
		for x := mark.Min.X; x < mark.Max.X; x++ {
			page.Pix[y*page.Stride+x] = 0
		}
	}
	scan := turnedBy(page, 5)
	straight := turnedBy(scan, -5)
	boxes := []box{{rect: darkIn(straight)}}
	skewBoxes(boxes, 5, straight.Rect.Size(), scan.Rect.Size())
	if want := darkIn(scan); !boxes[0].rect.Inset(-3).In(want.Inset(-8)) || !want.In(boxes[0].rect.Inset(-3)) {
		t.Errorf("box %v, the mark is at %v", boxes[0].rect, want)
	}
}

// darkIn is the box around the dark pixels.
func darkIn(img *image.Gray) image.Rectangle {
	var r image.Rectangle
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if img.Pix[y*img.Stride+x] < 128 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

func BenchmarkSkew(b *testing.B) {
	page := turnedBy(pdftest.Drawing(2480, 3508, 300, prose...), 2)
	for b.Loop() {
		skew(page)
	}
}
