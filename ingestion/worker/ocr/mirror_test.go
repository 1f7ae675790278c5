package ocr

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/photo"
)

// oneWay is an engine that reads pages whose lines begin on the left and at the top, and others badly.
type oneWay struct {
	scripted
	read func(img *image.Gray) bool
}

func (o *oneWay) Recognise(img *image.Gray, languages []string, by Division) ([]Word, error) {
	o.confidence = map[string]float64{languages[0]: 30}
	if o.read(img) {
		o.confidence = map[string]float64{languages[0]: 95}
	}
	return o.scripted.Recognise(img, languages, by)
}

func withTessdata(t *testing.T, languages ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, language := range languages {
		if err := os.WriteFile(filepath.Join(folder, language+".traineddata"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRead_readsMirroredPages(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(900, 600, 150, "Minutes of the committee", "The clerk will write to both", "by Friday, and the chairman", "reports at the next meeting")
	mirrored := photo.Plain(page).Mirrored().Picture
	inked := func(img *image.Gray, part image.Rectangle) (n int) {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				if img.GrayAt(x, y).Y < 128 {
					n++
				}
			}
		}
		return n
	}
	left, right, top, bottom := image.Rect(0, 0, 300, 600), image.Rect(600, 0, 900, 600), image.Rect(0, 0, 900, 300), image.Rect(0, 300, 900, 600)
	for name, c := range map[string]struct {
		img  *image.Gray
		said bool
	}{"as it is": {page, false}, "mirrored": {mirrored, true}} {
		engine := &oneWay{scripted{text: "Minutes of the committee"}, func(img *image.Gray) bool {
			return inked(img, left) > inked(img, right) && inked(img, top) > inked(img, bottom)
		}}
		r := NewReader(withTessdata(t, "eng"), func(string) Engine { return engine })
		got, err := r.Read(c.img, []string{"eng"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.Reason, "it is mirrored") != c.said || got.Confidence < 90 {
			t.Errorf("%s: reason %q, confidence %.0f", name, got.Reason, got.Confidence)
		}
		if w := got.Words[0]; c.said && w.X1 != 900 || !c.said && w.X0 != 0 {
			t.Errorf("%s: the first word is at %d to %d", name, w.X0, w.X1)
		}
	}
}
