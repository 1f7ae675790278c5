package ocr

import (
	"image"
	"math"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

func TestSkew_isMeasured(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(827, 1169, 100, prose...)
	for _, angle := range []float64{0, 0.5, -1, 3, -9.5, 14, -30, 44} {
		for quarter := range 2 {
			scan := raster.Turn(page, angle)
			if quarter == 1 {
				scan = raster.Quarter(scan)
			}
			if got := skew(scan, maxSkew); math.Abs(got-angle) > 0.2 {
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
		"a little off": raster.Turn(pdftest.Drawing(827, 1169, 100, prose...), 0.1),
	} {
		if got := skew(img, maxSkew); got != 0 {
			t.Errorf("%s: skewed by %.2f", name, got)
		}
	}
}

func BenchmarkSkew(b *testing.B) {
	page := raster.Turn(pdftest.Drawing(2480, 3508, 300, prose...), 2)
	for b.Loop() {
		skew(page, maxSkew)
	}
}

// prose is text as it is scanned: sentences, names, amounts, dates.
var prose = []string{
	"The committee met on 14 March 2026 to review the annual",
	"accounts of the society. Dr. Helen Marsh took the chair and",
	"welcomed seventeen members; four had sent their apologies.",
	"Income rose from 48,250 to 51,900 pounds, mostly because of",
	"higher subscriptions, while the cost of printing fell by 12%.",
	"",
	"It was agreed that the library should open on two evenings a",
	"week, and that a new catalogue be ordered before the summer.",
	"Mr. Quigley asked whether the roof had been inspected. The",
	"treasurer answered that a report (ref. 7731/B) would follow.",
	"",
	"Nobody objected to the proposal to exchange journals with the",
	"Zurich museum: its collection of maps is known to be superb,",
	"and the postage would hardly exceed the present budget.",
}
