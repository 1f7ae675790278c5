package main

import (
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// marginShare of each side of the page is its outer margin: stamps, page numbers and running heads stand there.
const marginShare = 0.1

// charWidth is about the mean width of a letter, as a share of the font's size.
const charWidth = 0.5

// evidence counts what speaks for and against the text layer.
func (l layer) evidence() extract.Evidence {
	e := extract.Evidence{Pictures: len(l.pictures), PictureCover: cover(l.width, l.height, l.pictures)}
	fonts := map[string]bool{}
	for _, line := range l.lines {
		fonts[line.font] = true
		i := 0
		for _, r := range line.text {
			i++
			if unicode.IsSpace(r) {
				continue
			}
			e.Chars++
			if r == unicode.ReplacementChar || unicode.Is(unicode.Co, r) {
				e.Unmapped++
			}
			if line.invisible {
				e.Invisible++
			}
			if l.inMargin(line.left+float64(i)*line.size*charWidth, line.top+line.size/2) {
				e.MarginChars++
			}
		}
	}
	e.Fonts = len(fonts)
	return e
}

func (l layer) inMargin(x, y float64) bool {
	dx, dy := l.width*marginShare, l.height*marginShare
	return x < dx || x > l.width-dx || y < dy || y > l.height-dy
}
