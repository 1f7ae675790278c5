package ocr

import "testing"

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
	words, dropped := legible(boxes)
	if got := textOf(words); got != "Invoice 4711 |\n\n7\n\nfaint letters" || dropped != 3 {
		t.Errorf("%q, %d dropped", got, dropped)
	}
	if words, dropped := legible(nil); len(words)+dropped != 0 {
		t.Errorf("nothing became %v and %d", words, dropped)
	}
}
