package layout

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ligatures are replaced by their letters: nobody searches for ligatures.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u00a0", " ", "\u2007", " ", "\u202f", " ")

// FormulaMark is where Markdown shows the picture of a formula, in the order of [Read.Formulas]. No text has it.
const FormulaMark = '\uFFFC'

// Normal returns text in NFC, without ligatures and control characters.
func Normal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == '\ufeff', r == '\u200b', r == FormulaMark:
			return -1
		}
		return r
	}, norm.NFC.String(ligatures.Replace(s)))
}

var (
	bullet    = regexp.MustCompile(`^(?:[•◦▪▫‣●○■□◆◇➢➤✓❖–·\x{F06E}\x{F071}\x{F076}\x{F0A7}\x{F0A8}\x{F0B7}\x{F0D8}\x{F0FC}]|[*-])\s+(?:[-–]\s+)?`) // and those of Symbol and Wingdings
	roundMark = regexp.MustCompile(`^o\s+\S`)
	roundSign = regexp.MustCompile(`^o\s+`)

	onMargin = regexp.MustCompile(`^(#{1,6}(?:\s|$)|>|\+\s|=+$|-{3,}$|~{3,})`)
	marks    = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "](", `\](`)

	marksInLink = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`) // brackets are escaped besides
)

// IsMark reports whether a line begins with the mark of a list item. In symbol fonts, some marks are private-use characters.
func IsMark(text string) bool { return bullet.MatchString(text + " ") }

// guarded keeps a line, whose marks are escaped, from being read as the beginning of a block.
func guarded(text string) string {
	if onMargin.MatchString(text) {
		return `\` + text
	}
	return text
}

// escapeOrdinal keeps prose that begins with a number from being read as a list.
func escapeOrdinal(text string) string {
	m := ordinal.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	return text[:m[3]] + `\` + text[m[3]:]
}

// joinLines makes one line of several. A hyphen at the end of a line goes when a small letter follows, unless the page
// writes the compound with its hyphen elsewhere.
func joinLines(lines []Line, compounds map[string]bool) string {
	var b strings.Builder
	for i, line := range lines {
		text := squeeze(line.signed())
		if i+1 == len(lines) {
			b.WriteString(text)
			break
		}
		text, end := strings.TrimSuffix(text, string(linkEnd)), text[len(strings.TrimSuffix(text, string(linkEnd))):]
		stem, ok := hyphenated(text, lines[i+1].Text)
		switch {
		case !ok && unspaced(text, lines[i+1].Text):
			b.WriteString(text + end)
		case !ok:
			b.WriteString(text + end + " ")
		case compounds[lastWord(unsigned(stem))+"-"+firstWord(lines[i+1].Text)]:
			b.WriteString(stem + "-" + end)
		default:
			b.WriteString(stem + end)
		}
	}
	return b.String()
}

// unspaced reports whether a line continues the one before without a blank: Chinese and Japanese have none between words.
func unspaced(text, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	first, _ := utf8.DecodeRuneInString(next)
	return isWide(last) && isWide(first)
}

// isWide reports whether a sign is Chinese or Japanese.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff65
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func hyphenated(text, next string) (stem string, ok bool) {
	first, _ := utf8.DecodeRuneInString(next)
	if stem, ok = strings.CutSuffix(text, "\u00ad"); ok {
		return stem, true
	}
	if stem, ok = strings.CutSuffix(text, "-"); !ok {
		stem, ok = strings.CutSuffix(text, "\u2010")
	}
	last, _ := utf8.DecodeLastRuneInString(stem)
	return stem, ok && unicode.IsLower(first) && unicode.IsLetter(last)
}

// compoundsOf finds words that are written with a hyphen within a line, in small letters.
func compoundsOf(lines []Line) map[string]bool {
	found := map[string]bool{}
	for _, line := range lines {
		for _, word := range strings.Fields(line.Text) {
			word = trimWord(word)
			if at := strings.IndexByte(word, '-'); at > 0 && at+1 < len(word) {
				found[word] = true
			}
		}
	}
	return found
}

func trimWord(s string) string {
	return strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

func lastWord(s string) string {
	return trimWord(s[strings.LastIndexByte(s, ' ')+1:])
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return trimWord(word)
}
