package main

import (
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// marginShare of each side of the page is its outer margin: stamps, page numbers and running heads stand there.
const marginShare = 0.1

// charWidth is about the mean width of a letter, as a share of the font's size.
const charWidth = 0.5

// evidenceOf counts what speaks for and against the text layer.
func evidenceOf(l layout.Page) extract.Evidence {
	e := extract.Evidence{Pictures: len(l.Pictures), PictureCover: cover(l.Width, l.Height, l.Pictures)}
	fonts := map[string]bool{}
	for _, line := range l.Lines {
		fonts[line.Font] = true
		i := 0
		for _, r := range line.Text {
			i++
			if unicode.IsSpace(r) {
				continue
			}
			e.Chars++
			if (r == unicode.ReplacementChar || unicode.Is(unicode.Co, r)) && !(i == 1 && layout.IsMark(line.Text)) {
				e.Unmapped++
			}
			if line.Invisible {
				e.Invisible++
			}
			if inMargin(l, line.Box.X0+float64(i)*line.Size*charWidth, line.Box.Y0+line.Size/2) {
				e.MarginChars++
			}
		}
	}
	e.Fonts = len(fonts)
	return e
}

func inMargin(l layout.Page, x, y float64) bool {
	dx, dy := l.Width*marginShare, l.Height*marginShare
	return x < dx || x > l.Width-dx || y < dy || y > l.Height-dy
}
