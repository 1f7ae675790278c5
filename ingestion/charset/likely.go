package charset

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// old are encodings of one byte, most of which the statistics do not know, with the name of each and how rare it is. The names are those of the
// Encoding Standard, or those of IANA.
var old = []struct {
	name     string
	encoding encoding.Encoding
	rare     float64 // points; see natural
}{
	{"windows-1252", charmap.Windows1252, 0},
	{"IBM850", charmap.CodePage850, 1.5},
	{"IBM437", charmap.CodePage437, 2},
	{"macintosh", charmap.Macintosh, 2.5},
	{"IBM852", charmap.CodePage852, 5},
	{"windows-1251", charmap.Windows1251, 1},
	{"koi8-r", charmap.KOI8R, 3},
	{"ibm866", charmap.CodePage866, 3},
	{"x-mac-cyrillic", charmap.MacintoshCyrillic, 5},
	{"windows-874", charmap.Windows874, 4},
	{"windows-1250", charmap.Windows1250, 4},
	{"iso-8859-2", charmap.ISO8859_2, 5},
}

// twoBytes are the encodings whose characters have two bytes, which the statistics know well.
var twoBytes = map[string]bool{"gb18030": true, "gbk": true, "big5": true, "shift_jis": true, "euc-jp": true, "euc-kr": true, "iso-2022-jp": true}

// encodingOf returns an encoding by a name of ours, or nil.
func encodingOf(name string) encoding.Encoding {
	for _, o := range old {
		if o.name == name {
			return o.encoding
		}
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return e
}

// sure is by how many points an encoding must be more natural than that of the statistics.
const sure = 2

// wellSet is how many points a character has at least, on average, in a text whose encoding is right.
const wellSet = 1.2

// fewBytes are too few to tell characters of two bytes from signs.
const fewBytes = 4

// older returns the encoding of one byte whose text is the most natural, or otherwise if none is much more so. A short text in which
// hardly any is natural may have characters of two bytes.
func older(data []byte, otherwise string) string {
	e := encodingOf(otherwise)
	if twoBytes[otherwise] {
		return otherwise
	}
	best, most := otherwise, naturalAs(e, data)+sure
	for _, o := range old {
		if o.name == otherwise {
			continue
		}
		if n := naturalAs(o.encoding, data) - o.rare; n > most {
			best, most = o.name, n
		}
	}
	if n := high(data); n >= fewBytes && len(data) <= shortText && naturalAs(encodingOf(best), data) < wellSet*float64(n) {
		return cmp.Or(eastern(data), best)
	}
	return best
}

// high counts the bytes that are not ASCII.
func high(data []byte) (n int) {
	for _, c := range data {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

func naturalAs(e encoding.Encoding, data []byte) float64 {
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return 0
	}
	return natural(string(text))
}

// natural counts points for every character that is not ASCII: more than zero if it is where people write it, less if it is not. In a
// wrong encoding, letters become signs within words, capitals behind small letters, or lines of a frame.
func natural(text string) float64 {
	points := 0.0
	first, before := ' ', ' '
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case r == before && r == first && unicode.IsLetter(r): // no word has a letter three times: these are lines
			points -= 6
		default:
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			points += place(before, r, after)
		}
		first, before = before, r
	}
	return points
}

// Letters that languages of Western and of Central Europe write, and signs that people set between words and within them.
const (
	frequent  = "äöüßéñçãåøæ"
	europe    = western + "ëïîìòùõãœýÿ" + central
	quotes    = "“”„‘‚«»‹›"
	ornaments = "–—…•·†‡€£¥§©®™°±²³¹½¼¾ªº¿¡µ×÷¢¤¦¬´¨¸№\u00a0"
)

func place(before, r, after rune) float64 {
	inside := unicode.IsLetter(before) && unicode.IsLetter(after)
	switch {
	case r == utf8.RuneError || unicode.IsControl(r):
		return -6
	case unicode.Is(unicode.Thai, r):
		return thai(before, r)
	case unicode.Is(unicode.Latin, r) && r != 'ƒ' && r != 'ª' && r != 'º':
		return letterAt(before, r, after)
	case unicode.IsLetter(r) && !strings.ContainsRune("ªºµƒ", r):
		return letterOf(before, r, after)
	case r >= '─' && r <= '▟': // lines and blocks of frames
		if unicode.IsLetter(before) || unicode.IsLetter(after) {
			return -2
		}
		return 1
	case r == '’':
		if inside {
			return 2.5
		}
		return 1
	case strings.ContainsRune(quotes, r):
		if inside {
			return -3
		}
		return 1
	case strings.ContainsRune(ornaments, r):
		if inside {
			return -3
		}
		return 0.5
	}
	return -2
}

// letterAt counts a Latin letter.
func letterAt(before, r, after rune) float64 {
	points := 0.0
	switch {
	case strings.ContainsRune(frequent, unicode.ToLower(r)):
		points = 2
	case strings.ContainsRune(western, unicode.ToLower(r)):
		points = 1.7
	case strings.ContainsRune(europe, unicode.ToLower(r)):
		points = 1
	}
	accented := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }
	if accented(before) || accented(after) {
		points -= 2
	}
	return points + cases(before, r, after)
}

// letterOf counts a letter of another script.
func letterOf(before, r, after rune) float64 {
	latin := func(r rune) bool { return unicode.IsLetter(r) && unicode.Is(unicode.Latin, r) }
	switch {
	case latin(before) || latin(after):
		return -3
	case !unicode.IsLetter(before) && !unicode.IsLetter(after):
		return -0.5
	}
	return 2 + cases(before, r, after)
}

// cases is below zero for a capital within a word, a small letter before a capital, and a small letter alone.
func cases(before, r, after rune) float64 {
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(before), unicode.IsLower(r) && unicode.IsUpper(after):
		return -6
	case unicode.IsUpper(r) && unicode.IsLetter(before) && unicode.IsLower(after):
		return -3
	case unicode.IsUpper(r):
		return -0.5
	case !unicode.IsLetter(before) && !unicode.IsLetter(after):
		return -1.5
	}
	return 0
}

// thai counts a Thai character. A mark follows a consonant or another mark.
func thai(before, r rune) float64 {
	switch {
	case unicode.IsLetter(before) && !unicode.Is(unicode.Thai, before):
		return -3
	case unicode.Is(unicode.Mn, r) && !(before >= 'ก' && before <= 'ฮ' || unicode.Is(unicode.Mn, before)):
		return -4
	}
	return 1.5
}
