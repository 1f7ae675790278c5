package ocr

import (
	"cmp"
	"image"
	"image/draw"
	"slices"
	"strings"
)

// losesPoint reports whether the picture of a number has a point or comma between its digits that its text lacks: recognition loses those of
// small type, and is sure of the number.
func losesPoint(img *image.Gray, w Word) bool {
	digits := strings.TrimRight(w.Text, "%€$£")
	if len(digits) < 2 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	r := w.Rect.Intersect(img.Rect)
	cut := image.NewGray(image.Rectangle{Max: r.Size()})
	draw.Draw(cut, cut.Rect, img, r.Min, draw.Src)
	if cut.Rect.Empty() {
		return false
	}
	marks := marksIn(cut)
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.box.Min.X, b.box.Min.X) })
	high, low := 0, 0
	for _, m := range marks {
		high, low = max(high, m.box.Dy()), max(low, m.box.Max.Y)
	}
	tall := func(m mark) bool { return 4*m.box.Dy() >= 3*high }
	for i := 1; i+1 < len(marks); i++ {
		m := marks[i].box
		if tall(marks[i-1]) && tall(marks[i+1]) && 2*max(m.Dx(), m.Dy()) <= high && 10*min(m.Dx(), m.Dy()) >= high && 5*(low-m.Max.Y) <= high {
			return true
		}
	}
	return false
}
