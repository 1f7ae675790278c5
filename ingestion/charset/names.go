package charset

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Names reads file names of one archive that does not say their encoding. Those that are UTF-8 stay as they are. The others are in one
// encoding, that of the system where the archive was made: the one in which they are the most probable text. Names are too short for
// the statistics of [Decode].
func Names(names []string) []string {
	var broken []string
	for _, name := range names {
		if !utf8.ValidString(name) {
			broken = append(broken, name)
		}
	}
	if len(broken) == 0 {
		return names
	}
	best := systemOf(broken).encoding
	names = slices.Clone(names)
	for i, name := range names {
		if utf8.ValidString(name) {
			continue
		}
		text, err := best.NewDecoder().String(name)
		if err == nil {
			names[i] = text
		}
	}
	return names
}

// systemOf returns the encoding in which names are the most probable text.
func systemOf(names []string) system {
	best, most := systems[0], math.Inf(-1)
	for _, s := range systems {
		total := s.prior
		for _, name := range names {
			total += s.likely(name)
		}
		if total > most {
			best, most = s, total
		}
	}
	return best
}

// shortText is up to how many bytes a text is judged like names, in bytes: for the statistics, it is too short.
const shortText = 400

// eastern returns the encoding of two bytes that a short text without Latin letters has, or "".
func eastern(data []byte) string {
	if len(data) > shortText {
		return ""
	}
	return systemOf(strings.Fields(string(data))).eastern
}

// system is an encoding in which systems write file names, as a model of the names that are written in it.
type system struct {
	encoding encoding.Encoding
	eastern  string  // its name, if its characters have two bytes
	prior    float64 // logarithm of how usual it is, beside the others
	kinds    []kind
}

// kind is a set of characters. What no kind has is rare.
type kind struct {
	has   func(r rune, bytes string) bool
	share float64 // of the characters that are not ASCII
	size  float64 // how many there are
	lower bool    // an upper case letter does not follow one of these
	latin bool    // letters with those of ASCII as neighbours
}

// Logarithms of probabilities.
var (
	letter  = math.Log(1.0 / 30)
	sign    = math.Log(1.0 / 200)  // of ASCII
	rare    = math.Log(1e-4 / 100) // a character that names in this encoding hardly have
	unusual = math.Log(0.05)       // a neighbour that such a character hardly has
)

func among(letters string) func(rune, string) bool {
	return func(r rune, _ string) bool { return strings.ContainsRune(letters, r) }
}

// lead accepts characters of two bytes by the range of the first.
func lead(from, to byte) func(rune, string) bool {
	return func(_ rune, b string) bool { return len(b) == 2 && b[0] >= from && b[0] <= to && b[1] >= 0xA1 }
}

func between(from, to rune) func(rune, string) bool {
	return func(r rune, _ string) bool { return r >= from && r <= to }
}

func latin(usual string) []kind {
	return []kind{
		{among(usual), 0.80, float64(utf8.RuneCountInString(usual)), true, true},
		{func(r rune, _ string) bool { return unicode.Is(unicode.Latin, r) && unicode.IsLower(r) }, 0.12, 40, true, true},
		{func(r rune, _ string) bool { return unicode.Is(unicode.Latin, r) && unicode.IsUpper(r) }, 0.06, 40, false, true},
	}
}

const western, central = "äöüßéèêàáíóúñçåæøôâ", "ąćęłńóśźżáčďéěíňřšťúůýžäöüőűăâîșţşđ"

var cyrillic = []kind{
	{between('а', 'я'), 0.87, 32, true, false},
	{between('А', 'Я'), 0.11, 32, false, false},
	{among("ёЁєЄїЇіІўЎґҐ№«»"), 0.02, 15, false, false},
}

var systems = []system{
	{charmap.CodePage437, "", 0, latin(western)},
	{charmap.CodePage850, "", -0.5, latin(western)},
	{charmap.CodePage852, "", -2, latin(central)},
	{charmap.Windows1252, "", -1, latin(western)},
	{charmap.Windows1250, "", -3, latin(central)},
	{charmap.CodePage866, "", 0, cyrillic},
	{charmap.Windows1251, "", -1, cyrillic},
	{simplifiedchinese.GB18030, "gb18030", 0, []kind{
		{lead(0xB0, 0xD7), 0.93, 3755, false, false}, {lead(0xD8, 0xF7), 0.04, 3008, false, false}, {lead(0xA1, 0xA9), 0.03, 300, false, false},
	}},
	{japanese.ShiftJIS, "shift_jis", 0, []kind{
		{between('ぁ', 'ん'), 0.30, 83, false, false},
		{between('ァ', 'ー'), 0.30, 87, false, false},
		{func(_ rune, b string) bool { return len(b) == 2 && b >= "\x88\x9F" && b <= "\x98\x72" }, 0.35, 2965, false, false},
		{func(_ rune, b string) bool { return len(b) == 2 && b[0] >= 0x98 }, 0.02, 3390, false, false},
		{func(_ rune, b string) bool { return len(b) == 2 }, 0.03, 500, false, false},
	}},
	{traditionalchinese.Big5, "big5", -1, []kind{
		{func(_ rune, b string) bool { return len(b) == 2 && b[0] >= 0xA4 && b[0] <= 0xC6 }, 0.95, 5401, false, false},
		{func(_ rune, b string) bool { return len(b) == 2 && b[0] >= 0xC9 }, 0.02, 7652, false, false},
		{func(_ rune, b string) bool { return len(b) == 2 && b[0] < 0xA4 }, 0.03, 408, false, false},
	}},
	{korean.EUCKR, "euc-kr", -1, []kind{
		{lead(0xB0, 0xC8), 0.97, 2350, false, false}, {lead(0xCA, 0xFD), 0.01, 4888, false, false}, {lead(0xA1, 0xAC), 0.02, 900, false, false},
	}},
}

// likely returns the logarithm of a name's probability.
func (s system) likely(name string) float64 {
	total := 0.0
	before := kind{}
	var last rune
	for len(name) > 0 {
		if name[0] < utf8.RuneSelf {
			r := rune(name[0])
			plain := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._-/", r)
			total += sign
			if plain {
				total += letter - sign
			}
			if unicode.IsLetter(r) && last >= utf8.RuneSelf && unicode.IsLetter(last) && !before.latin || before.lower && unicode.IsUpper(r) {
				total += unusual
			}
			name, last, before = name[1:], r, kind{lower: unicode.IsLower(r)}
			continue
		}
		r, width := s.first(name)
		if r == utf8.RuneError {
			return math.Inf(-1)
		}
		total += s.of(r, name[:width], last, &before)
		name, last = name[width:], r
	}
	return total
}

// of returns the logarithm of the probability of a character that is not ASCII, after another one.
func (s system) of(r rune, b string, last rune, before *kind) (p float64) {
	i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.has(r, b) })
	if i < 0 {
		*before = kind{}
		return rare
	}
	k := s.kinds[i]
	p = math.Log(k.share / k.size)
	switch {
	case k.latin && last >= utf8.RuneSelf: // accented letters are few
		p += unusual
	case !k.latin && last < utf8.RuneSelf && unicode.IsLetter(last):
		p += unusual
	}
	if before.lower && unicode.IsUpper(r) {
		p += unusual
	}
	*before = k
	return p
}

// first decodes the first character.
func (s system) first(name string) (r rune, width int) {
	decode := s.encoding.NewDecoder()
	for width = 1; width <= min(4, len(name)); width++ {
		text, err := decode.String(name[:width])
		if r, n := utf8.DecodeRuneInString(text); err == nil && r != utf8.RuneError && n == len(text) {
			return r, width
		}
	}
	return utf8.RuneError, 0
}
