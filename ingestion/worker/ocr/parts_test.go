package ocr

import (
	"image"
	"slices"
	"strings"
	"testing"
)

// halves is an engine for a page with a paragraph of German above one of another kind. It reads each well in its own language.
type halves struct {
	scripted
	below, language string
	badly           float64 // confidence of what is below, in another language
}

func (h *halves) Recognise(img *image.Gray, languages []string, by Division) (words []Word, err error) {
	h.asked = append(h.asked, languages...)
	line := func(text string, y, block int, confidence float64) {
		for i, word := range strings.Fields(text) {
			words = append(words, Word{Text: word, Confidence: confidence, Rect: image.Rect(10*i, y, 10*i+9, y+9), Block: block, Paragraph: 1, Line: 1})
		}
	}
	mine := h.badly
	if languages[0] == h.language {
		mine = 96
	}
	if img.Rect.Dy() < 100 { // the part
		line(h.below, 0, 1, mine)
		return words, nil
	}
	line(german, 0, 1, map[string]float64{"deu": 95, "eng": 85, "fra": 80}[languages[0]])
	line(h.below, 200, 2, mine)
	return words, nil
}

func TestRead_readsPartsInTheirLanguage(t *testing.T) {
	t.Parallel()
	const french = "Le moulin se dressait dans la vallée depuis longtemps."
	for name, c := range map[string]struct {
		engine    *halves
		languages string
		doubt     string
	}{
		"another language": {&halves{below: french, language: "fra", badly: 80}, "deu fra", ""},
		"another script":   {&halves{below: "abcd efgh ijkl mnop", language: "ell", badly: 20, scripted: scripted{lies: Orientation{Sure: 5, Script: "Greek"}}}, "deu ell", ""},
		"not installed":    {&halves{below: "abcd efgh ijkl mnop", language: "rus", badly: 20, scripted: scripted{lies: Orientation{Sure: 5, Script: "Cyrillic"}}}, "deu", "install tesseract-ocr-rus"},
		"no letters":       {&halves{below: "/!-% &-;. %,-; ;.%&", language: "ell", badly: 20, scripted: scripted{lies: Orientation{Sure: 0.5, Script: "Greek"}}}, "deu", ""},
	} {
		r := NewReader(withTessdata(t, "eng", "deu", "fra", "ell", "osd"), func(string) Engine { return c.engine })
		got, err := r.Read(ruled(), []string{"auto"})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Languages, strings.Fields(c.languages)) {
			t.Errorf("%s: read in %v, want %s (asked for %v)", name, got.Languages, c.languages, c.engine.asked)
		}
		if len(got.Doubts) > 0 != (c.doubt != "") || len(got.Doubts) > 0 && !strings.Contains(got.Doubts[0].Words, c.doubt) {
			t.Errorf("%s: doubts %q, want %q", name, got.Doubts, c.doubt)
		}
	}
}
