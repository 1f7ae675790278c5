package pdf

import (
	"image"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// undrawn reports whether a page has lines with characters for which like holds, and its picture is empty at their places.
func undrawn(page layout.Page, img *image.RGBA, dpi float64, like func(rune) bool) bool {
	found := false
	for _, line := range page.Lines {
		if !strings.ContainsFunc(line.Text, like) {
			continue
		}
		found = true
		scale := dpi / 72
		area := image.Rect(int(line.Box.X0*scale), int(line.Box.Y0*scale), int(line.Box.X1*scale)+1, int(line.Box.Y1*scale)+1)
		if drawnIn(img, area.Add(img.Rect.Min).Intersect(img.Rect)) {
			return false
		}
	}
	return found
}

// drawnIn reports whether the pixels of an area differ.
func drawnIn(img *image.RGBA, area image.Rectangle) bool {
	if area.Empty() {
		return false
	}
	first := img.RGBAAt(area.Min.X, area.Min.Y)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if img.RGBAAt(x, y) != first {
				return true
			}
		}
	}
	return false
}
