package ocr

import (
	"image"
	"slices"
)

// mostMissed is how many rows that were passed over are read one by one. A picture with more of them is no page of text.
const mostMissed = 12

// readMissed reads rows of letters that Tesseract passed over, each by itself: it does that with the first line of a skewed letter. What
// stays unread, or has no certain place among the other lines, is left to a doubt.
func (r *Reader) readMissed(a *attempt, v version) error {
	if facing(a.words) != 0 || a.mean < poor {
		return nil
	}
	rows := unreadRows(a.page.Picture, a.words)
	if len(rows) > mostMissed {
		return nil
	}
	for i, at := range rows {
		read, err := r.rows(a.page.Picture, band{at.Min.Y, at.Max.Y}, v.languages)
		if err != nil {
			return err
		}
		around := at.Inset(-at.Dy() / 2)
		row := readingOf(slices.DeleteFunc(read, func(w Word) bool { return !w.Rect.In(around) }))
		if row.mean < doubtful || facing(row.words) != 0 {
			continue
		}
		if words, ok := inserted(a.words, row.words, at, (i+1)<<20); ok {
			a.reading = readingOf(words)
		}
	}
	return nil
}

// inserted puts a row at a place into words as a line with a number, before the line that is next below it, or behind the one above if that is
// nearer. A row that is level with a line, or has none above or below it, has no certain place.
func inserted(words, row []Word, at image.Rectangle, number int) (with []Word, ok bool) {
	nearest, place, begin := 0, -1, 0
	block, paragraph := number, 0
	for _, line := range linesIn(words) {
		box := line[0].Rect
		for _, w := range line {
			box = box.Union(w.Rect)
		}
		end := begin + len(line)
		above, below := at.Min.Y-box.Max.Y, box.Min.Y-at.Max.Y
		gap := max(above, below)
		if 2*gap < -min(at.Dy(), box.Dy()) {
			return words, false
		}
		if min(at.Max.X, box.Max.X) > max(at.Min.X, box.Min.X) && (place < 0 || gap < nearest) {
			nearest, place, block, paragraph = gap, begin, number, 0
			if above > below {
				place = end
			}
			if gap < at.Dy() {
				block, paragraph = line[0].Block, line[0].Paragraph
			}
		}
		begin = end
	}
	if place < 0 {
		return words, false
	}
	for i := range row {
		row[i].Block, row[i].Paragraph, row[i].Line = block, paragraph, number
	}
	return slices.Insert(slices.Clone(words), place, row...), true
}
