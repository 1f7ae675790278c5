package pdf

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// sureLine is the confidence with which a line in a picture is read that is added to a text layer: photographs have leaves and bricks.
const sureLine = 60

// merge adds to the text of the page that was read last what recognition found in its pictures. The layer's letters stay; recognised
// words at their places are left out. A picture that lies another way up is left to the caller.
func (t *texts) merge(n int, out *extract.Page) {
	page, o := t.last, out.OCR
	if o == nil || o.Width == 0 || o.Rotation != 0 { // turned, its lines have no place among those of the layer
		return
	}
	found := pictureLines(page, o, out.WidthPt/float64(o.Width))
	if len(found) == 0 {
		return
	}
	page.Lines = slices.Clone(page.Lines)
	over := 0
	for i, l := range page.Lines {
		if inPicture(page, l.Box.X0, (l.Box.Y0+l.Box.Y1)/2) {
			page.Lines[i].Font = "" // what was typed over a form is no listing
			over++
		}
	}
	formed := 2*over > len(page.Lines)
	if page.Lines = append(page.Lines, found...); formed { // the order of the file says nothing
		byRows(page.Lines)
	}
	page.Tags = nil // they do not have these lines
	evidence, besides, doubts := out.Text.Evidence, out.Text.Besides, out.Text.Doubts
	out.Text, _ = PageText(page, t.profileOf(t.last), n, noTable)
	out.Text.Evidence, out.Text.Besides = evidence, besides
	for _, d := range doubts {
		out.Text.Doubts = doubt.Add(out.Text.Doubts, d.Code, d.Words)
	}
}

// pictureLines returns the recognised lines in the pictures of a page where the layer has none. points is the size of a pixel.
func pictureLines(page layout.Page, o *extract.PageOCR, points float64) (lines []layout.Line) {
	type found struct {
		layout.Line
		sum, letters float64
	}
	var all []found
	for _, w := range o.Words {
		box := layout.Box{X0: float64(w.X0) * points, Y0: float64(w.Y0) * points, X1: float64(w.X1) * points, Y1: float64(w.Y1) * points}
		x, y := (box.X0+box.X1)/2, (box.Y0+box.Y1)/2
		if !inPicture(page, x, y) || slices.ContainsFunc(page.Lines, func(l layout.Line) bool { return within(l.Box, x, y) }) {
			continue
		}
		letters := float64(len([]rune(w.Text)))
		if last := len(all) - 1; last >= 0 && continues(all[last].Box, box) {
			l := &all[last]
			l.Text += " " + w.Text
			l.Box = layout.Box{X0: l.Box.X0, Y0: min(l.Box.Y0, box.Y0), X1: box.X1, Y1: max(l.Box.Y1, box.Y1)}
			l.sum, l.letters = l.sum+w.Confidence*letters, l.letters+letters
			continue
		}
		all = append(all, found{layout.Line{Text: w.Text, Box: box}, w.Confidence * letters, letters})
	}
	var sizes, high []float64
	for _, l := range page.Lines {
		sizes = append(sizes, l.Size)
	}
	for _, l := range all {
		high = append(high, l.Box.Y1-l.Box.Y0)
	}
	for _, l := range all {
		if l.sum < sureLine*l.letters {
			continue
		}
		l.Size = min(1.2*middle(high), cmp.Or(middle(sizes), 11)) // boxes surround ink; in larger type than the layer they would be headings
		lines = append(lines, l.Line)
	}
	return lines
}

// continues reports whether a word is in the line that ended before it.
func continues(line, word layout.Box) bool {
	high := line.Y1 - line.Y0
	y, gap := (word.Y0+word.Y1)/2, word.X0-line.X1
	return y > line.Y0 && y < line.Y1 && gap > -high && gap < 1.5*high
}

// inPicture reports whether a place of a page is in one of its pictures.
func inPicture(page layout.Page, x, y float64) bool {
	return slices.ContainsFunc(page.Pictures, func(b layout.Box) bool { return within(b, x, y) })
}

func within(b layout.Box, x, y float64) bool { return x >= b.X0 && x <= b.X1 && y >= b.Y0 && y <= b.Y1 }

func middle(sizes []float64) float64 {
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// linePlaces returns where the lines of a page are in its picture.
func linePlaces(page layout.Page, scale float64) (places []image.Rectangle) {
	for _, l := range page.Lines {
		places = append(places, image.Rect(int(l.Box.X0*scale), int(l.Box.Y0*scale), int(l.Box.X1*scale)+1, int(l.Box.Y1*scale)+1))
	}
	return places
}

// cutLetters is how often the edge of a typed line meets ink if there are letters below it. A rule meets it once.
const cutLetters = 6

// hide paints out the lines of the layer: recognition joins typed words with printed ones that are a little higher, and reads neither. It
// reports whether it has cut letters of the picture.
func hide(img *image.Gray, places []image.Rectangle) (cut bool) {
	paper := raster.Paper(img)
	for _, at := range places {
		for _, y := range []int{at.Min.Y - 1, at.Max.Y} {
			runs, inked := 0, false
			for x := at.Min.X; x < at.Max.X; x++ {
				was := inked
				if inked = (image.Point{X: x, Y: y}).In(img.Rect) && int(paper)-int(img.GrayAt(x, y).Y) > raster.Contrast; inked && !was {
					runs++
				}
			}
			cut = cut || runs >= cutLetters
		}
	}
	for _, at := range places {
		draw.Draw(img, at.Intersect(img.Rect), image.NewUniform(color.Gray{Y: paper}), image.Point{}, draw.Src)
	}
	return cut
}

// byRows sorts lines from the top down, and those beside each other from left to right. These get one height: typed lines seldom stand
// exactly where the printed ones do.
func byRows(lines []layout.Line) {
	slices.SortFunc(lines, func(a, b layout.Line) int { return cmp.Compare(a.Box.Y0+a.Box.Y1, b.Box.Y0+b.Box.Y1) })
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].Box.Y0+lines[to].Box.Y1 < lines[from].Box.Y0+lines[from].Box.Y1+1.2*lines[from].Size {
			lines[to].Box.Y0, lines[to].Box.Y1 = lines[from].Box.Y0, lines[from].Box.Y1
			to++
		}
		slices.SortFunc(lines[from:to], func(a, b layout.Line) int { return cmp.Compare(a.Box.X0, b.Box.X0) })
		from = to
	}
}
