package office

import (
	"strings"
	"unicode/utf8"
)

// The signs of Symbol are those of Adobe's symbol encoding; the others are from Unicode's mapping of Wingdings (L2/11-052, Unicode 7.0), or the
// nearest sign that fonts have.

// withSigns is the text of a run. In a font of signs, its letters are signs; Word also writes them for private use, as 0xF000 and the code in the font.
// A code whose sign is not known is U+FFFD, so that it shows that something was there.
func withSigns(text, font string) string {
	font = strings.ToLower(font)
	if font != "symbol" && !strings.HasPrefix(font, "wingdings") {
		return text
	}
	return strings.Map(func(r rune) rune {
		private := r >= 0xF000 && r <= 0xF0FF
		if !private && r > 0xFF || r == ' ' {
			return r
		}
		if sign := signOf(font, r&0xFF); sign != 0 {
			return sign
		}
		if private {
			return utf8.RuneError
		}
		return r
	}, text)
}

// signOf returns the sign for a code of a font, or 0 if it is not known.
func signOf(font string, code rune) rune {
	switch font {
	case "wingdings":
		return wingdings[code]
	case "wingdings 2":
		return wingdings2[code]
	case "symbol":
		for i, first := range symbolFirst {
			if signs := []rune(symbolBlocks[i]); code >= first && int(code-first) < len(signs) {
				return signs[code-first]
			}
		}
	}
	return 0
}

// symbolBlocks are the signs of Symbol that follow one another, from the codes of symbolFirst on.
var (
	symbolFirst  = []rune{0x20, 0xA1}
	symbolBlocks = []string{
		" !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
		"ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑",
	}
)

var wingdings = map[rune]rune{
	0x22: '✂', 0x28: '☎', 0x2A: '✉', 0x41: '✌', 0x43: '👍', 0x44: '👎', 0x45: '☜', 0x46: '☞', 0x47: '☝', 0x48: '☟', 0x4A: '☺', 0x4C: '☹',
	0x6C: '●', 0x6E: '■', 0x6F: '□', 0x71: '❑', 0x72: '❒', 0x74: '⧫', 0x75: '◆', 0x76: '❖', 0x9F: '•', 0xA1: '○', 0xA7: '▪', 0xA8: '☐', 0xAB: '★',
	0xD8: '➢', 0xDF: '←', 0xE0: '→', 0xE1: '↑', 0xE2: '↓', 0xE8: '➔', 0xEF: '⇦', 0xF0: '⇨', 0xF1: '⇧', 0xF2: '⇩', 0xF3: '⬄',
	0xFB: '✗', 0xFC: '✓', 0xFD: '☒', 0xFE: '☑',
}

var wingdings2 = map[rune]rune{0x4F: '✗', 0x50: '✓', 0x51: '☒', 0x52: '☑', 0x53: '☒', 0x54: '☒', 0x97: '●', 0xA3: '☐'}
