package mupdf

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/script"
)

// smallType is how much smaller than a line's type its raised and lowered digits are.
const smallType = 0.9

var lowerable = regexp.MustCompile(`^\d{1,4}$`)

// span is a piece of a line in one font.
type span struct {
	text  string
	size  float64
	above bool // its baseline is above that of the line's beginning
}

// scripted returns the text of a line in type of this size. Raised digits would join the number before them, so they are written as such. Whether
// small digits are lowered, only the places of letters tell; until then they are.
func scripted(spans []span, size float64) string {
	up, all := 0, 0
	for _, s := range spans {
		n := utf8.RuneCountInString(s.text)
		if all += n; s.above {
			up += n
		}
	}
	var b strings.Builder
	for i, s := range spans {
		before, _ := utf8.DecodeLastRuneInString(b.String())
		joins := unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune(")]", before)
		small := s.size < smallType*size
		// Where most of a line is above its beginning, that is an initial: but a few small digits are a mark or a power.
		few := i > 0 && joins && s.size < smallType*spans[0].size && utf8.RuneCountInString(s.text) <= 3
		switch power := s.text == "n" || s.text == "i"; {
		case s.above && (up*2 < all || few) && script.Raisable(s.text):
			b.WriteString(script.ToRaised.Replace(s.text))
		case s.above && power && joins && up*2 < all:
			b.WriteString(script.Raised(b.String(), s.text))
		case i == 0 && len(spans) > 1 && small && lowerable.MatchString(s.text) && beginsWithLetter(spans[1].text): // the mark of a note
			b.WriteString(script.ToRaised.Replace(s.text))
		case !s.above && small && joins && lowerable.MatchString(s.text):
			b.WriteString(script.ToLowered.Replace(s.text))
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}

func beginsWithLetter(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(first)
}

// settleLowered makes ordinary digits of those that are only small: their glyphs are on the line's baseline.
func settleLowered(line *layout.Line, run []glyph, ends []int) {
	if !script.HasLowered(line.Text) || line.Turns != 0 || len(ends) == 0 {
		return
	}
	base, at, done := line.Box.Y0+0.8*(line.Box.Y1-line.Box.Y0), 0, 0
	var b strings.Builder
	for _, r := range line.Text {
		if r == ' ' {
			b.WriteRune(r)
			continue
		}
		for at+1 < len(run) && ends[at] <= done {
			at++
		}
		if done++; run[at].y < base+0.03*line.Size {
			b.WriteString(script.LowToPlain.Replace(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	line.Text = b.String()
}
