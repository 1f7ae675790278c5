package ocr

import (
	"slices"
	"unicode"
)

// Tesseract finds letters in leaves, hair and brickwork: short words, mostly signs, of low confidence. They are in blocks of their
// own, because no line of text runs through a photograph.
const (
	sureWord  = 60.0 // confidence of a word of two letters that is believed
	longWord  = 35.0 // of one of four letters and more: noise rarely has that many
	sureShare = 4    // a block is text when a quarter of its characters are of believed words
)

// legible drops blocks of noise, and returns how many words they had. A block beside lines that are kept, such as a column of
// quantities, is no noise: it is kept too, and beside is true.
func legible(boxes []Word) (words []Word, dropped int, beside bool) {
	var text []Word
	blocks := blocksOf(boxes)
	for _, block := range blocks {
		if !noisy(block) {
			text = append(text, block...)
		}
	}
	for _, block := range blocks {
		switch {
		case !noisy(block):
		case inLines(block, text):
			beside = true
		default:
			dropped += len(block)
			continue
		}
		words = append(words, block...)
	}
	return words, dropped, beside
}

func blocksOf(boxes []Word) (blocks [][]Word) {
	for i, b := range boxes {
		if i == 0 || b.Block != boxes[i-1].Block {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], b)
	}
	return blocks
}

// inLines reports whether most words of a block, of several lines, stand before or after words of their height.
func inLines(block, text []Word) bool {
	if len(linesIn(block)) < fewRows {
		return false
	}
	near := 0
	for _, b := range block {
		if slices.ContainsFunc(text, func(w Word) bool {
			shared := min(w.Rect.Max.Y, b.Rect.Max.Y) - max(w.Rect.Min.Y, b.Rect.Min.Y)
			gap := max(w.Rect.Min.X-b.Rect.Max.X, b.Rect.Min.X-w.Rect.Max.X)
			low, high := min(w.Rect.Dy(), b.Rect.Dy()), max(w.Rect.Dy(), b.Rect.Dy())
			return 2*shared > low && high < 3*low && gap < 3*w.Rect.Dy()
		}) {
			near++
		}
	}
	return 3*near >= 2*len(block)
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
