package ocr

import (
	"image"
	"slices"
)

// titlesFirst puts paragraphs at the top of a page before its columns: Tesseract reads a title in the middle after the column to its left. A
// title stands alone in its rows, in the middle of the page or above a column that was read before it. A paragraph that begins where one
// below it does is of its column.
func titlesFirst(words []Word) []Word {
	type part struct {
		words []Word
		box   image.Rectangle
	}
	var parts []part
	var page image.Rectangle
	for i, w := range words {
		if i == 0 || w.Block != words[i-1].Block || w.Paragraph != words[i-1].Paragraph {
			parts = append(parts, part{})
		}
		p := &parts[len(parts)-1]
		p.words, p.box, page = append(p.words, w), p.box.Union(w.Rect), page.Union(w.Rect)
	}
	high := usualWord(words)
	out := make([]Word, 0, len(words))
	for len(parts) > 0 {
		top := 0
		for i, p := range parts {
			if p.box.Min.Y < parts[top].box.Min.Y {
				top = i
			}
		}
		at := parts[top].box
		title := top == 0 || abs(at.Min.X+at.Max.X-page.Min.X-page.Max.X) <= 2*high
		for _, p := range parts[:top] {
			title = title || min(at.Max.X, p.box.Max.X) > max(at.Min.X, p.box.Min.X)
		}
		if !title || slices.ContainsFunc(parts, func(p part) bool {
			return p.box != at && (p.box.Min.Y < at.Max.Y || top > 0 && abs(p.box.Min.X-at.Min.X) <= high)
		}) {
			break
		}
		out = append(out, parts[top].words...)
		parts = slices.Delete(parts, top, top+1)
	}
	for _, p := range parts {
		out = append(out, p.words...)
	}
	return out
}
