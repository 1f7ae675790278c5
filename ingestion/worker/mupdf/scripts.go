package mupdf

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Digits and signs that Unicode has raised, and digits that it has lowered, in the order of ordinary.
const (
	ordinary = "0123456789+-=()"
	raised   = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾"
	lowered  = "₀₁₂₃₄₅₆₇₈₉"
)

// smallType is how much smaller than a line's type its raised and lowered digits are.
const smallType = 0.9

var (
	raisable   = regexp.MustCompile(`^\s*[-−–+(]?\d[\d\s,.()+−–*-]{0,7}$`)
	lowerable  = regexp.MustCompile(`^\d{1,4}$`)
	toRaised   = replacer(ordinary, raised, "−", "⁻", "–", "⁻")
	toLowered  = replacer(ordinary[:10], lowered)
	toOrdinary = replacer(raised+lowered, ordinary+ordinary[:10])
	lowToPlain = replacer(lowered, ordinary[:10])
)

// replacer replaces each rune of a text by the one of another text.
func replacer(from, to string, more ...string) *strings.Replacer {
	pairs, runes := more, []rune(to)
	for i, r := range []rune(from) {
		pairs = append(pairs, string(r), string(runes[i]))
	}
	return strings.NewReplacer(pairs...)
}

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
		switch power := s.text == "n" || s.text == "i"; {
		case s.above && up*2 < all && raisable.MatchString(s.text):
			b.WriteString(toRaised.Replace(s.text))
		case s.above && power && joins && up*2 < all:
			b.WriteString(strings.NewReplacer("n", "ⁿ", "i", "ⁱ").Replace(s.text))
		case i == 0 && len(spans) > 1 && small && lowerable.MatchString(s.text) && beginsWithLetter(spans[1].text): // the mark of a note
			b.WriteString(toRaised.Replace(s.text))
		case !s.above && small && joins && lowerable.MatchString(s.text):
			b.WriteString(toLowered.Replace(s.text))
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

// hasLowered reports whether a text has digits that may be lowered.
func hasLowered(text string) bool { return strings.ContainsAny(text, lowered) }

// settleLowered makes ordinary digits of those that are only small: their glyphs are on the line's baseline.
func settleLowered(line *layout.Line, run []glyph, ends []int) {
	if !hasLowered(line.Text) || line.Turns != 0 || len(ends) == 0 {
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
			b.WriteString(lowToPlain.Replace(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	line.Text = b.String()
}
