package ocr

import (
	"image"
	"unicode"
)

// facing returns the degrees clockwise by which to turn a picture so that its lines run from left to right. It judges by
// how the words of a line follow one another. Tesseract reads lines that run down as well, and does not say that it did.
func facing(boxes []Word) int {
	var right, down, left, up int
	for i := 1; i < len(boxes); i++ {
		step, ok := follow(boxes[i-1], boxes[i])
		switch across := abs(step.X) >= abs(step.Y); {
		case !ok:
		case across && step.X > 0:
			right++
		case across && step.X < 0:
			left++
		case step.Y > 0:
			down++
		case step.Y < 0:
			up++
		}
	}
	most := max(right, down, left, up)
	switch {
	case most*4 < (right+down+left+up)*3: // no clear majority
		return 0
	case most == right:
		return 0
	case most == down:
		return 270
	case most == left:
		return 180
	}
	return 90
}

// follow is the way from a word to the next of its line, as it would be in a script that runs from left to right. It says
// nothing where scripts mix, and where they may run from top to bottom.
func follow(a, b Word) (step image.Point, ok bool) {
	if a.Block != b.Block || a.Paragraph != b.Paragraph || a.Line != b.Line {
		return image.Point{}, false
	}
	step = b.Rect.Min.Add(b.Rect.Max).Sub(a.Rect.Min.Add(a.Rect.Max))
	switch run := runOf(a.Text); {
	case run != runOf(b.Text) || run == runsDown:
		return image.Point{}, false
	case run == runsLeft:
		step = image.Pt(-step.X, -step.Y)
	}
	return step, true
}

// Directions in which scripts run.
const (
	runsRight = iota
	runsLeft
	runsDown // or right
)

func runOf(word string) int {
	for _, r := range word {
		switch {
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana):
			return runsLeft
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Mongolian):
			return runsDown
		}
	}
	return runsRight
}

// turnRect moves a box to where it is after the picture of this size was turned clockwise.
func turnRect(r image.Rectangle, degrees int, size image.Point) image.Rectangle {
	switch degrees {
	case 90:
		return image.Rect(size.Y-r.Max.Y, r.Min.X, size.Y-r.Min.Y, r.Max.X)
	case 180:
		return image.Rect(size.X-r.Max.X, size.Y-r.Max.Y, size.X-r.Min.X, size.Y-r.Min.Y)
	case 270:
		return image.Rect(r.Min.Y, size.X-r.Max.X, r.Max.Y, size.X-r.Min.X)
	}
	return r
}

func abs(v int) int { return max(v, -v) }
