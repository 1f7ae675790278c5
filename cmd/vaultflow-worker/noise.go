package main

import "unicode"

// Tesseract finds letters in leaves, hair and brickwork: short words, mostly signs, of low confidence. They stand in blocks of
// their own, since no line of text runs through a photograph.
const (
	sureWord  = 60.0 // confidence of a word of two letters that is believed
	longWord  = 35.0 // of one of four letters and more: noise rarely has that many
	sureShare = 4    // a block is text when a quarter of its characters are of believed words
)

// legible drops the blocks of words that are noise, and tells how many words those had.
func legible(boxes []box) (words []box, dropped int) {
	for from := 0; from < len(boxes); {
		to := from + 1
		for to < len(boxes) && boxes[to].block == boxes[from].block {
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

// noisy says whether hardly anything in a block is a word.
func noisy(block []box) bool {
	all, sure := 0, 0
	for _, b := range block {
		letters := 0
		for _, r := range b.word {
			all++
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters++
			}
		}
		if letters >= 4 && b.confidence >= longWord || letters >= 2 && b.confidence >= sureWord || letters == 1 && b.confidence >= 90 || runOf(b.word) == runsDown && b.confidence >= sureWord {
			sure += letters
		}
	}
	return sure*sureShare < all
}
