package ocr

import (
	"image"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// A number whose point is in the picture and not in the text is doubtful; one without a point, or with it, is not.
func TestLosesPoint(t *testing.T) {
	t.Parallel()
	for printed, read := range map[string]map[string]bool{
		"44.4%": {"444%": true, "44.4%": false},
		"1,648": {"1648": true, "1,648": false},
		"1648":  {"1648": false},
		"44%":   {"44%": false},
	} {
		page := pdftest.Drawing(400, 200, 150, printed)
		box := image.Rectangle{}
		for _, m := range marksIn(page) {
			box = box.Union(m.box)
		}
		for text, want := range read {
			if got := losesPoint(page, Word{Text: text, Rect: box}); got != want {
				t.Errorf("%s, read as %s: %v", printed, text, got)
			}
		}
	}
}
