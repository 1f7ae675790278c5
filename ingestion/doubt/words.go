package doubt

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unspaced are scripts that put no space between words. Each of their letters counts as a word.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// unseen is what Markdown, HTML and LaTeX write besides the letters on a page: targets of links, tags, names of commands, marks of
// list items that were counted. Each begins with one of ] < \.
var unseen = regexp.MustCompile(`^(?:\]\([^()\s]*\)|</?[A-Za-z][^<>]*>|\\[A-Za-z]{2,})`)

// seen returns a text with a blank for each unseen part. The expression is asked only where one may begin: it is slow.
func seen(text string) string {
	at := strings.IndexAny(text, `]<\`)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexAny(text, `]<\`) {
		b.WriteString(text[:at])
		text = text[at:]
		if found := unseen.FindString(text); found != "" {
			b.WriteByte(' ')
			text = text[len(found):]
		} else {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	b.WriteString(text)
	return b.String()
}

// hyphenated is a word that a line divides.
var hyphenated = regexp.MustCompile(`(\p{L})[-\x{00AD}\x{2010}][ \t]*\n[ \t]*(\p{Ll})`)

// divides reports whether a line may divide a word: the expression is slow.
func divides(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\n"); strings.HasSuffix(line, "-") || strings.HasSuffix(line, "\u00ad") || strings.HasSuffix(line, "\u2010") {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a text in small letters, without marks and punctuation. Digits are words of their own: "B12" is "b"
// and "12", "1,234.50" is "1", "234" and "50".
func wordsOf(text string) (words []string) {
	text = seen(text)
	if divides(text) {
		text = hyphenated.ReplaceAllString(text, "$1$2")
	}
	var b strings.Builder
	digits := false
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r > unicode.MaxASCII && unicode.Is(unicode.Mn, r), r == '\u00ad', r == '\u0640': // accents, soft hyphens, tatweel
		case r > unicode.MaxASCII && unicode.In(r, unspaced...):
			end()
			b.WriteRune(r)
			end()
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if unicode.IsDigit(r) != digits {
				end()
			}
			digits = unicode.IsDigit(r)
			b.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’': // within a word
		default:
			end()
		}
	}
	end()
	return words
}

func isNumber(word string) bool { return word != "" && unicode.IsDigit([]rune(word)[0]) }

// count returns how often each word or letter occurs.
func count[T comparable](words []T) map[T]int {
	n := make(map[T]int, len(words))
	for _, w := range words {
		n[w]++
	}
	return n
}
