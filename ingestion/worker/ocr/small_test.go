package ocr

import (
	"image"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// sized is an engine that keeps the size of the picture that it is asked for.
type sized struct {
	scripted
	size image.Point
}

func (s *sized) Recognise(img *image.Gray, _ []string, _ Division) ([]Word, error) {
	s.size = img.Rect.Size()
	return []Word{{Text: "accounts", Confidence: 95, Rect: image.Rect(10, 10, 200, 30), Block: 1, Paragraph: 1, Line: 1}}, nil
}

// Small type is enlarged, and its words are where they are in the picture. Type of the usual size is not.
func TestRead_enlargesSmallType(t *testing.T) {
	t.Parallel()
	for dpi, want := range map[float64]int{75: 1200, 110: 1200, 120: 1200, 200: 600} {
		page := pdftest.Drawing(600, 300, dpi, "The committee met on", "14 March to review", "the accounts")
		engine := &sized{}
		r := NewReader(withTessdata(t, "eng"), func(string) Engine { return engine })
		got, err := r.Read(page, []string{"eng"})
		if err != nil {
			t.Fatal(err)
		}
		if engine.size.X != want || got.Words[0].X1 != 200*600/want {
			t.Errorf("%.0f dpi, letters of %d pixels: read with a width of %d, want %d; the word ends at %d", dpi, letterHeight(page), engine.size.X, want, got.Words[0].X1)
		}
	}
}
