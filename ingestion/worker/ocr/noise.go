package ocr

import "unicode"

// Tesseract finds letters in leaves, hair and brickwork: short words, mostly signs, of low confidence. They are in blocks of their
// own, because no line of text runs through a photograph.
const (
	sureWord  = 60.0 // confidence of a word of two letters that is believed
	longWord  = 35.0 // of one of four letters and more: noise rarely has that many
	sureShare = 4    // a block is text when a quarter of its characters are of believed words
)

// legible drops blocks of noise, and returns how many words they had.
func legible(boxes []Word) (words []Word, dropped int) {
	for from := 0; from < len(boxes); {
		to := from + 1
		for to < len(boxes) && boxes[to].Block == boxes[from].Block {
			to++
		}
		if noisy(boxes[from:to]) {
			dropped += to - from
		} else {
			words = append(words, boxes[from:to]...)
		}
		from = to
	}
	return words, dropped
}

// noisy reports whether hardly anything in a block is a word.
func noisy(block []Word) bool {
	all, sure := 0, 0
	for _, b := range block {
		letters := 0
		for _, r := range b.Text {
			all++
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters++
			}
		}
		if letters >= 4 && b.Confidence >= longWord || letters >= 2 && b.Confidence >= sureWord || letters == 1 && b.Confidence >= 90 || runOf(b.Text) == runsDown && b.Confidence >= sureWord {
			sure += letters
		}
	}
	return sure*sureShare < all
}
