package ocr

import (
	"math"
	"slices"
)

// joinLines puts lines together that blocks cut through: Tesseract does that where lines run askew, as on a page that was
// photographed from the side and could not be flattened. It reports whether there were any.
func joinLines(words []Word) ([]Word, bool) {
	lines := linesIn(words)
	next, taken := make([]int, len(lines)), make([]bool, len(lines))
	high, found := usualWord(words), false
	for i, line := range lines {
		next[i] = slices.IndexFunc(lines, func(other []Word) bool { return line[len(line)-1].runsOn(other[0], high) })
		if next[i] >= 0 {
			taken[next[i]], found = true, true
		}
	}
	if !found {
		return words, false
	}
	out := make([]Word, 0, len(words))
	for i, line := range lines {
		if taken[i] {
			continue
		}
		first := line[0]
		for at := i; at >= 0 && len(lines[at]) > 0; {
			for _, w := range lines[at] {
				w.Block, w.Paragraph, w.Line = first.Block, first.Paragraph, first.Line
				out = append(out, w)
			}
			lines[at], at = nil, next[at] // once
		}
	}
	if len(out) != len(words) { // lines that run on in a circle
		return words, true
	}
	return out, true
}

// runsOn reports whether a word follows in the same row, after no more than a space, although it is in another line.
func (w Word) runsOn(other Word, high int) bool {
	if other.follows(w) || runOf(w.Text) != runsRight || runOf(other.Text) != runsRight {
		return false
	}
	gap := other.Rect.Min.X - w.Rect.Max.X
	shared := min(w.Rect.Max.Y, other.Rect.Max.Y) - max(w.Rect.Min.Y, other.Rect.Min.Y)
	return 2*gap > -high && 5*gap < 4*high && 2*shared > min(w.Rect.Dy(), other.Rect.Dy()) && max(w.Rect.Dy(), other.Rect.Dy()) < 2*high
}

// slope is how steep lines are, 3°, that are read in pieces or not at all.
const slope = 0.052

// runAskew reports whether a fifth of the lines of a straightened page are steep: it was photographed from the side.
func runAskew(words []Word) bool {
	high, long, steep := usualWord(words), 0, 0
	for _, line := range linesIn(words) {
		first, last := line[0].Rect, line[len(line)-1].Rect
		across, down := last.Min.X-first.Min.X, last.Max.Y+last.Min.Y-first.Max.Y-first.Min.Y
		if across < 6*high { // letters that reach below the line count for little
			continue
		}
		if long++; math.Abs(float64(down)/2) > slope*float64(across) {
			steep++
		}
	}
	return steep > 1 && steep*5 >= long
}

func linesIn(words []Word) (lines [][]Word) {
	for i, w := range words {
		if i == 0 || !w.follows(words[i-1]) {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], w)
	}
	return lines
}

func usualWord(words []Word) int {
	if len(words) == 0 {
		return 0
	}
	heights := make([]int, len(words))
	for i, w := range words {
		heights[i] = w.Rect.Dy()
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}
