package ocr

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// What is printed and was not read shows in the picture: marks as high as letters, in a row, that no word covers.
const (
	letterHigh   = 12   // pixels of a word in the picture in which marks are searched for
	marksSide    = 1600 // of it, if no word was read
	fewestInRow  = 6    // marks
	fewestWidths = 3    // different ones: the boxes of a form and the ticks of a scale are alike
	mostMarks    = 20_000
)

// mark is a connected piece of ink.
type mark struct{ box image.Rectangle }

// unreadRows returns the rows of letters that no word covers.
func unreadRows(img *image.Gray, words []Word) []image.Rectangle {
	if len(words) == 0 {
		return Rows(img, nil) // noise touches too
	}
	return unread(img, words, (2*usualWord(words)+2)/3, touching) // fine enough to keep most letters apart
}

// missesLetters reports whether recognition passed over much that may be letters: several short rows, and one for each twenty words.
func missesLetters(img *image.Gray, words []Word) bool {
	rows := unread(img, words, 0, func(row []mark) bool { return len(row) > 1 && level(row) })
	return len(rows) >= fewRows && 20*len(rows) >= len(words)
}

// Rows returns the rows of letters in a picture outside of some places.
func Rows(img *image.Gray, places []image.Rectangle) []image.Rectangle {
	words := make([]Word, len(places))
	for i, at := range places {
		words[i].Rect = at
	}
	return unread(img, words, 0, letters)
}

// unreadCells returns short rows of letters that no word covers, if they form a column: recognition loses the prices of receipts, or takes
// them for lines that run down.
func unreadCells(img *image.Gray, words []Word) []image.Rectangle {
	high := usualWord(words)
	if high == 0 {
		return nil
	}
	flat := slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return w.Confidence < sureWord && w.Rect.Dy() > 2*max(high, w.Rect.Dx()) })
	cells := unread(img, flat, usualWord(flat), func(row []mark) bool { return len(row) > 1 && len(row) <= shortCell && level(row) })
	near := func(a, b int) bool { return abs(a-b) <= high }
	inColumn := func(c image.Rectangle) bool {
		n := 0
		for _, o := range cells {
			if near(o.Min.X, c.Min.X) || near(o.Max.X, c.Max.X) {
				n++
			}
		}
		return n >= fewRows
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c image.Rectangle) bool { return !inColumn(c) })
}

// unreadMarks returns whatever may be letters that no word covers.
func unreadMarks(img *image.Gray, words []Word) []image.Rectangle {
	return unread(img, words, usualWord(words), func([]mark) bool { return true })
}

// unread returns the rows of marks that no word covers and that are wanted. Words are usually high pixels high; 0 means that nobody knows.
func unread(img *image.Gray, words []Word, high int, wanted func(row []mark) bool) (rows []image.Rectangle) {
	side := marksSide
	longer := max(img.Rect.Dx(), img.Rect.Dy())
	if high > 0 {
		side = max(longer*letterHigh/high, 1)
	}
	small := raster.Shrink(img, side)
	by := max((longer+side-1)/side, 1)
	var free []mark
	for _, m := range marksIn(small) {
		if high > 0 && (2*m.box.Dy()*by < high || m.box.Dy()*by > 4*high) || m.box.Dy() < 5 || m.box.Dx() > 4*m.box.Dy() || m.box.Dy() > 8*m.box.Dx() {
			continue
		}
		free = append(free, m)
	}
	free = slices.DeleteFunc(free, func(m mark) bool { return inWord(m.box, words, by) })
	slices.SortFunc(free, func(a, b mark) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
	taken := make([]bool, len(free))
	for i := range free {
		if taken[i] {
			continue
		}
		row := []mark{free[i]}
		for at := i; at >= 0; {
			taken[at] = true
			next := -1
			for j := at + 1; j < len(free) && free[j].box.Min.X-free[at].box.Max.X <= free[at].box.Dy(); j++ {
				if !taken[j] && free[at].beside(free[j]) {
					next = j
					break
				}
			}
			if at = next; at >= 0 {
				row = append(row, free[at])
			}
		}
		if wanted(row) {
			box := row[0].box
			for _, m := range row {
				box = box.Union(m.box)
			}
			rows = append(rows, image.Rect(box.Min.X*by, box.Min.Y*by, box.Max.X*by, box.Max.Y*by))
		}
	}
	return rows
}

// allInWords reports whether nearly everything that is drawn in a picture is in words, whatever they say: a few words on paper, which could not
// be read. In photographs of other things, there is more around what passes for words.
func allInWords(img *image.Gray, words []Word) bool {
	longer := max(img.Rect.Dx(), img.Rect.Dy())
	by := max((longer+marksSide-1)/marksSide, 1)
	all, in := 0, 0
	for _, m := range marksIn(raster.Shrink(img, marksSide)) {
		if m.box.Dy() < 5 {
			continue
		}
		if all++; inWord(m.box, words, by) {
			in++
		}
	}
	return in >= fewestInRow && 5*in >= 4*all
}

// unreadWords are the words of a doubt about rows.
func unreadWords(rows int) string {
	if rows == 1 {
		return "a row of letters was not read"
	}
	return fmt.Sprintf("%d rows of letters were not read", rows)
}

// beside reports whether two marks can be letters of a line.
func (m mark) beside(o mark) bool {
	shared := min(m.box.Max.Y, o.box.Max.Y) - max(m.box.Min.Y, o.box.Min.Y)
	low, high := min(m.box.Dy(), o.box.Dy()), max(m.box.Dy(), o.box.Dy())
	return 3*shared > 2*low && high <= 2*low+1 && o.box.Max.X > m.box.Max.X
}

// touching reports whether a row of marks looks like letters, of which a wide mark is several: in scans of low resolution they touch one another.
func touching(row []mark) bool {
	n := 0
	for _, m := range row {
		n += max(1, 3*m.box.Dx()/(2*usualMark(row)))
	}
	return n >= fewestInRow && uneven(row)
}

// letters reports whether a row of marks looks like letters: they have one baseline and differ in width.
func letters(row []mark) bool { return len(row) >= fewestInRow && uneven(row) }

func uneven(row []mark) bool {
	widths := map[int]bool{}
	for _, m := range row {
		widths[m.box.Dx()*6/usualMark(row)] = true
	}
	return level(row) && len(widths) >= fewestWidths
}

// level reports whether most marks of a row have one baseline. That of several marks may rise or fall a little: what was not read may not
// have been straightened either.
func level(row []mark) bool {
	rise := 0.0
	if third := len(row) / 3; third > 1 {
		left, right := row[:third], row[len(row)-third:]
		rise = float64(foot(right)-foot(left)) / float64(right[0].box.Min.X-left[0].box.Min.X)
	}
	if math.Abs(rise) > steepest {
		return false
	}
	flat, on := make([]mark, len(row)), 0
	for i, m := range row {
		flat[i].box = m.box.Sub(image.Pt(0, int(math.Round(rise*float64(m.box.Min.X-row[0].box.Min.X)))))
	}
	for _, m := range flat {
		if 6*abs(m.box.Max.Y-foot(flat)) <= usualMark(row) {
			on++
		}
	}
	return 3*on >= 2*len(row)
}

// steepest is the slope, 8°, of a baseline: letters of a steeper one do not overlap enough to be a row.
const steepest = 0.14

// foot is where most marks of a row end.
func foot(row []mark) int {
	var feet []int
	for _, m := range row {
		feet = append(feet, m.box.Max.Y)
	}
	slices.Sort(feet)
	return feet[len(feet)/2]
}

// usualMark is how high the marks of a row are.
func usualMark(row []mark) int {
	var heights []int
	for _, m := range row {
		heights = append(heights, m.box.Dy())
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}

func inWord(box image.Rectangle, words []Word, by int) bool {
	middle := image.Pt((box.Min.X+box.Max.X)*by/2, (box.Min.Y+box.Max.Y)*by/2)
	return slices.ContainsFunc(words, func(w Word) bool { return middle.In(w.Rect.Inset(-w.Rect.Dy() / 4)) })
}

// marksIn returns the connected pieces of ink in a picture, of which it searches a limited number.
func marksIn(img *image.Gray) (marks []mark) {
	paper := int(raster.Paper(img))
	var ink [256]bool
	for v := range ink {
		ink[v] = paper >= 128 && paper-v > raster.Contrast || paper < 128 && v-paper > raster.Contrast
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	inked := make([]bool, w*h)
	for y := range h {
		for x, v := range img.Pix[y*img.Stride:][:w] {
			inked[y*w+x] = ink[v]
		}
	}
	for start := range inked {
		if !inked[start] {
			continue
		}
		piece := raster.TakePiece(inked, w, start)
		if marks = append(marks, mark{piece.Box}); len(marks) == mostMarks {
			return nil
		}
	}
	return marks
}
