package ocr

import (
	"cmp"
	"image"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tesseract takes the columns of a table for columns of text: it reads all names, and then all amounts. It also loses cells with
// a single digit, and cuts through words where spaces happen to lie below each other.

const (
	fewRows   = 3  // that have to be in pieces before a page is read again
	longCell  = 25 // characters; lines of columns of text have more
	shortCell = 15 // those of newspapers have more than this

	asGood     = 0.9
	muchBetter = 1.1 // than without these cells
)

// piece is the part of a line that one block has.
type piece struct {
	text string
	box  image.Rectangle
	of   Word // its block, paragraph and line
}

// piecesOf returns the lines of words as they were recognised.
func piecesOf(words []Word) []piece {
	var out []piece
	for i, w := range words {
		if i > 0 && w.follows(words[i-1]) {
			last := &out[len(out)-1]
			last.text, last.box = last.text+" "+w.Text, last.box.Union(w.Rect)
			continue
		}
		out = append(out, piece{w.Text, w.Rect, w})
	}
	return out
}

// band is a part of the picture in which the rows of a table lie, from top to bottom.
type band struct{ top, bottom int }

func (b band) has(w Word) bool {
	middle := (w.Rect.Min.Y + w.Rect.Max.Y) / 2
	return middle >= b.top && middle < b.bottom
}

// tornBands returns the bands in which the rows of a table were read in pieces, or without some of their cells.
func tornBands(words []Word, unread []image.Rectangle) []band {
	pieces := piecesOf(words)
	for _, cell := range unread {
		pieces = append(pieces, piece{text: "0", box: cell})
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.box.Min.Y+a.box.Max.Y, b.box.Min.Y+b.box.Max.Y) })
	var out []band
	var open band
	rows := 0
	end := func() {
		if rows >= fewRows {
			out = append(out, open)
		}
		rows = 0
	}
	all := abreast(pieces)
	labels := labelled(all)
	for i, row := range all {
		box := row[0].box
		for _, p := range row[1:] {
			box = box.Union(p.box)
		}
		high := usualHeight(row)
		switch torn := labels[i] || inPieces(row, high); {
		case rows > 0 && (sentences(row) || box.Min.Y-open.bottom > 4*high):
			end()
			fallthrough
		case rows == 0:
			if torn {
				open, rows = band{box.Min.Y, box.Max.Y}, 1
			}
		case torn:
			open.bottom = max(open.bottom, box.Max.Y)
			rows++
		}
	}
	end()
	return out
}

// labelled reports which rows are a label and its value, as on screens and in forms: several in a row whose labels are short, begin at one
// edge and have no digits, and of whose values a third has. Two addresses side by side have some on both sides.
func labelled(rows [][]piece) []bool {
	const fewest, label = 4, 20
	out := make([]bool, len(rows))
	begin := 0
	for i := range len(rows) + 1 {
		if i < len(rows) && len(rows[i]) == 2 {
			slices.SortFunc(rows[i], func(a, b piece) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
			left, right, first := rows[i][0], rows[i][1], rows[begin][0]
			if utf8.RuneCountInString(left.text) <= label && utf8.RuneCountInString(right.text) <= longCell && !hasDigit(left.text) &&
				abs(left.box.Min.X-first.box.Min.X) <= left.box.Dy() {
				continue
			}
		}
		values := 0
		for _, row := range rows[begin:min(i, len(rows))] {
			if hasDigit(row[len(row)-1].text) || strings.HasSuffix(row[0].text, ":") {
				values++
			}
		}
		if i-begin >= fewest && 3*values >= i-begin {
			for j := begin; j < i; j++ {
				out[j] = true
			}
		}
		begin = i + 1
	}
	return out
}

func hasDigit(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }

// abreast divides pieces, from top to bottom, into rows.
func abreast(pieces []piece) [][]piece {
	var rows [][]piece
	for _, p := range pieces {
		if n := len(rows); n > 0 {
			first := rows[n-1][0].box
			if shared := min(first.Max.Y, p.box.Max.Y) - max(first.Min.Y, p.box.Min.Y); 2*shared > min(first.Dy(), p.box.Dy()) {
				rows[n-1] = append(rows[n-1], p)
				continue
			}
		}
		rows = append(rows, []piece{p})
	}
	return rows
}

func usualHeight(row []piece) int {
	heights := make([]int, len(row))
	for i, p := range row {
		heights[i] = p.box.Dy()
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}

// inPieces reports whether a row of a table was read in pieces: cells of which one is a number, at least three short cells, or a
// text that was cut through.
func inPieces(row []piece, high int) bool {
	if len(row) < 2 || sentences(row) {
		return false
	}
	slices.SortFunc(row, func(a, b piece) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
	short := 0
	for i, p := range row {
		if number(p.text) || i > 0 && p.box.Min.X-row[i-1].box.Max.X < high {
			return true
		}
		if utf8.RuneCountInString(p.text) <= shortCell {
			short++
		}
	}
	return short >= 3
}

// sentences reports whether a row is of columns of text, which are read one after the other.
func sentences(row []piece) bool {
	long := 0
	for _, p := range row {
		if utf8.RuneCountInString(p.text) > longCell && !number(p.text) {
			long++
		}
	}
	return long > 1
}

// number reports whether most of a text is digits and what stands between them.
func number(text string) bool {
	digits, other := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			other++
		}
	}
	return digits > 0 && digits >= other
}

// joinRows reads the rows of tables again, line by line, if they were read in pieces. The rest of the page keeps its order. It
// reports whether rows are still in pieces, or lack cells.
func (r *Reader) joinRows(a *attempt, v version) (still bool, err error) {
	if facing(a.words) != 0 {
		return false, nil
	}
	torn := func(a attempt) []band {
		words, _, _ := legible(a.words)
		return tornBands(a.words, unreadCells(a.page.Picture, words))
	}
	bands := torn(*a)
	if len(bands) == 0 {
		return false, nil
	}
	var again []Word
	for i, b := range bands {
		read, err := r.rows(a.page.Picture, b, v.languages)
		if err != nil {
			return true, err
		}
		again = append(again, asBlock(read, (i+1)<<16)...)
	}
	next := *a
	next.reading = readingOf(spliced(a.words, again, bands))
	left := len(torn(next)) > 0
	if next.score < asGood*a.score || left && next.score < muchBetter*a.score {
		return true, nil
	}
	*a = next
	return left, nil
}

// rows reads a band with a little space around it.
func (r *Reader) rows(img *image.Gray, b band, languages []string) ([]Word, error) {
	const space = 20
	r0 := image.Rect(0, b.top-space, img.Rect.Dx(), b.bottom+space).Intersect(img.Rect)
	part, _ := img.SubImage(r0).(*image.Gray) // it always is one
	read, err := r.recogniseAs(part, languages, ByRows)
	for i := range read.words {
		read.words[i].Rect = read.words[i].Rect.Add(r0.Min)
	}
	return read.words, err
}

// asBlock makes words one paragraph of a block that no others are in.
func asBlock(words []Word, block int) []Word {
	out := make([]Word, len(words))
	line := 0
	for i, w := range words {
		if i > 0 && !w.follows(words[i-1]) {
			line++
		}
		w.Block, w.Paragraph, w.Line = block, 0, line
		out[i] = w
	}
	return out
}

// spliced takes what is in the bands from the words that were read by rows, and the rest from the others.
func spliced(words, byRows []Word, bands []band) []Word {
	parts := make([][]Word, 2*len(bands)+1) // above the first band, in it, below it …
	put := func(w Word, inBand bool) {
		at := 0
		for i, b := range bands {
			switch {
			case b.has(w):
				at = 2*i + 1
			case w.Rect.Min.Y+w.Rect.Max.Y >= 2*b.bottom:
				at = 2*i + 2
			}
		}
		if at%2 == 1 == inBand {
			parts[at] = append(parts[at], w)
		}
	}
	for _, w := range words {
		put(w, false)
	}
	for _, w := range byRows {
		put(w, true)
	}
	return slices.Concat(parts...)
}

// mostMissed is how many rows that were passed over are read one by one. A picture with more of them is no page of text.
const mostMissed = 12

// readMissed reads rows of letters that Tesseract passed over, separately, and reports whether it found words: Tesseract passes over the
// first line of a skewed letter. What stays unread, or has no certain place among the other lines, is left to a doubt.
func (r *Reader) readMissed(a *attempt, rows []image.Rectangle, v version) (found bool, err error) {
	if facing(a.words) != 0 || a.mean < poor || len(rows) > mostMissed {
		return false, nil
	}
	for i, at := range rows {
		read, err := r.rows(a.page.Picture, band{at.Min.Y, at.Max.Y}, v.languages)
		if err != nil {
			return found, err
		}
		around := at.Inset(-at.Dy() / 2)
		row := readingOf(slices.DeleteFunc(read, func(w Word) bool { return !w.Rect.In(around) }))
		if row.mean < doubtful || facing(row.words) != 0 {
			continue
		}
		if words, ok := inserted(a.words, row.words, at, (i+1)<<20); ok {
			a.reading, found = readingOf(words), true
		}
	}
	return found, nil
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
