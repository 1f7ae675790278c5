package ocr

import (
	"image"
	"testing"
)

func TestLegible_keepsWhatIsSure(t *testing.T) {
	t.Parallel()
	word := func(text string, confidence float64, block int) Word {
		return Word{Text: text, Confidence: confidence, Block: block}
	}
	boxes := []Word{
		word("Invoice", 91, 1), word("4711", 80, 1), word("|", 12, 1),
		word("~", 5, 2), word("ie", 22, 2), word("—", 31, 2),
		word("7", 95, 3),
		word("faint", 38, 4), word("letters", 41, 4),
	}
	words, dropped, beside := legible(boxes)
	if got := textOf(words); got != "Invoice 4711 |\n\n7\n\nfaint letters" || dropped != 3 || beside {
		t.Errorf("%q, %d dropped", got, dropped)
	}
	if words, dropped, _ := legible(nil); len(words)+dropped != 0 {
		t.Errorf("nothing became %v and %d", words, dropped)
	}
}

// A column of short words beside lines of text is no noise; what stands elsewhere is.
func TestLegible_keepsColumns(t *testing.T) {
	t.Parallel()
	for left, want := range map[int]string{10: "1\nx\n8\n\ndesk lamps\nfountain pens\nstaplers", 900: "desk lamps\nfountain pens\nstaplers"} {
		var boxes []Word
		for i, text := range []string{"1", "x", "8"} {
			boxes = append(boxes, Word{Text: text, Confidence: 50, Block: 1, Line: i, Rect: image.Rect(left, 40*i, left+15, 40*i+20)})
		}
		for i, line := range [][]string{{"desk", "lamps"}, {"fountain", "pens"}, {"staplers"}} {
			for k, text := range line {
				boxes = append(boxes, Word{Text: text, Confidence: 90, Block: 2, Line: i, Rect: image.Rect(50+100*k, 40*i, 140+100*k, 40*i+22)})
			}
		}
		words, _, beside := legible(boxes)
		if got := textOf(words); got != want || beside != (left == 10) {
			t.Errorf("at %d: %q, %v", left, got, beside)
		}
	}
}
