package visible

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Warning says in one sentence which hidden characters s holds; "" for ordinary text. The sentence itself is ordinary.
func Warning(s string) string {
	found := Hidden(s)
	if len(found) == 0 {
		return ""
	}
	const most = 6
	var words []string
	for _, r := range found[:min(len(found), most)] {
		words = append(words, called(r))
	}
	if n := len(found) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more kinds", n))
	}
	return "Characters that cannot be seen are shown as code points: " + strings.Join(words, ", ") + "."
}

// called names a hidden character for people.
func called(r rune) string {
	switch {
	case r == unicode.ReplacementChar:
		return "bytes that are no UTF-8"
	case r >= 0xE0000 && r <= 0xE007F:
		return fmt.Sprintf("U+%04X (tag: text that only programs read)", r)
	case r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || r >= 0x180B && r <= 0x180F && r != 0x180E:
		return fmt.Sprintf("U+%04X (variation selector)", r)
	case unicode.Is(unicode.M, r):
		return fmt.Sprintf("U+%04X (a mark without a letter, or too many on one)", r)
	case names[r] != "":
		return fmt.Sprintf("U+%04X (%s)", r, names[r])
	case unicode.IsControl(r):
		return fmt.Sprintf("U+%04X (control character)", r)
	case unicode.Is(unicode.Zs, r):
		return fmt.Sprintf("U+%04X (space)", r)
	case unicode.Is(unicode.Co, r):
		return fmt.Sprintf("U+%04X (private use)", r)
	}
	return fmt.Sprintf("U+%04X", r)
}

var names = map[rune]string{
	'\u00a0': "no-break space", '\u00ad': "soft hyphen", '\u061c': "Arabic letter mark", '\u200b': "zero width space",
	'\u200c': "zero width non-joiner", '\u200d': "zero width joiner", '\u200e': "left-to-right mark", '\u200f': "right-to-left mark",
	'\u2028': "line separator", '\u2029': "paragraph separator", '\u202a': "left-to-right embedding", '\u202b': "right-to-left embedding",
	'\u202c': "pop directional formatting", '\u202d': "left-to-right override", '\u202e': "right-to-left override", '\u202f': "narrow no-break space",
	'\u2060': "word joiner", '\u2066': "left-to-right isolate", '\u2067': "right-to-left isolate", '\u2068': "first strong isolate",
	'\u2069': "pop directional isolate", '\u2800': "braille blank", '\u3164': "Hangul filler", '\ufeff': "byte order mark", '\ufffc': "object replacement",
	'\r': "carriage return without a line feed", '\x00': "null", '\x07': "bell", '\x08': "backspace", '\x1b': "escape", '\x7f': "delete", '\u009b': "control sequence introducer",
}

// Lookalike says in one sentence why a name may be mistaken for another one: a word of it mixes alphabets whose letters look
// the same, is written wholly in such letters, or uses a sign that looks like a slash, a dot or a plain letter. It returns ""
// for a name that cannot be. Hidden characters are the matter of [Name].
func Lookalike(name string) string {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) }) {
		if scripts := alphabets(word); len(scripts) > 1 {
			return fmt.Sprintf("%q mixes %s letters, which may look the same", word, strings.Join(scripts, " and "))
		} else if len(scripts) == 1 && onlyLikeLatin(name, word, scripts[0]) {
			return fmt.Sprintf("%q is written in %s letters that look like Latin ones", word, scripts[0])
		}
	}
	for _, r := range name {
		if plain := norm.NFKC.String(string(r)); r >= 0x80 && len(plain) == 1 && plain != " " {
			return fmt.Sprintf("%q (U+%04X) looks like %q", r, r, plain)
		}
		if strings.ContainsRune("\u2044\u2215\u29f8\u2571\u29f5\u2216\u27cb", r) {
			return fmt.Sprintf("%q (U+%04X) looks like a slash", r, r)
		}
	}
	return ""
}

// onlyLikeLatin reports whether a word of another alphabet could pass for a Latin one: in a name with Latin letters, in which
// nothing else shows that alphabet.
func onlyLikeLatin(name, word, script string) bool {
	hasLatin := false
	for _, r := range name {
		hasLatin = hasLatin || unicode.Is(unicode.Latin, r)
		if !strings.ContainsRune(likeLatin, r) && slices.Contains(alphabets(string(r)), script) {
			return false
		}
	}
	return hasLatin && script != "Latin" && strings.Trim(word, likeLatin) == ""
}

// likeLatin are letters of Cyrillic, Greek and Armenian that look like Latin ones.
const likeLatin = "аАВвеЕёЁіІјЈкКМмНноОрРсСТтуУхХѕЅһԁԛԝʋΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχօսոհցԼ"

// alphabets returns the alphabets of a word that share the shapes of letters, in a fixed order.
func alphabets(word string) []string {
	var list []string
	for _, a := range []struct {
		name  string
		table *unicode.RangeTable
	}{
		{"Latin", unicode.Latin},
		{"Cyrillic", unicode.Cyrillic},
		{"Greek", unicode.Greek},
		{"Armenian", unicode.Armenian},
		{"Cherokee", unicode.Cherokee},
		{"Coptic", unicode.Coptic},
		{"Lisu", unicode.Lisu},
		{"Deseret", unicode.Deseret},
	} {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(a.table, r) }) {
			list = append(list, a.name)
		}
	}
	return list
}
