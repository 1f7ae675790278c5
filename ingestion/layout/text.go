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
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return s
	}
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

// joinLines makes one line of several.
func joinLines(lines []Line, compounds map[string]bool) string {
	var b strings.Builder
	for i, line := range lines {
		text := softened(squeeze(line.signed()))
		if i+1 == len(lines) {
			b.WriteString(text)
			break
		}
		text, end := strings.TrimSuffix(text, string(linkEnd)), text[len(strings.TrimSuffix(text, string(linkEnd))):]
		switch next := lines[i+1].Text; {
		case keepsHyphen(text, next, compounds):
			b.WriteString(text + end)
		case unspaced(text, next):
			b.WriteString(text + end)
		default:
			if stem, ok := hyphenated(text, next); ok && !leavesOut(next) {
				b.WriteString(stem + end)
			} else {
				b.WriteString(text + end + " ")
			}
		}
	}
	return b.String()
}

var (
	conjunction = regexp.MustCompile(`^(?:(?:and|und|oder|bzw\.)(?:\s|$)|(?:or|to|bis|et|ou|y|e|en|og|och|eller)\s+\pL+-)`)
	inCompound  = regexp.MustCompile(`-(?:a|and|at|by|in|it|of|on|or|the|to|up)$`)
	tens        = regexp.MustCompile(`^(?:twen|thir|for|fif|six|seven|eigh|nine)ty$`)
	suffix      = regexp.MustCompile(`^(?:ish|less|ness|ing|ington)`) // of selfish, wellness
	ones        = regexp.MustCompile(`^(?:one|two|three|four|five|six|seven|eight|nine|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)`)
)

// leavesOut reports whether the next line continues a word of which two are joined: pre- and post-war.
func leavesOut(next string) bool { return conjunction.MatchString(next) }

// keepsHyphen reports whether the hyphen at the end of a line is a part of the word: where no word is divided, or because the page writes the
// compound with its hyphen elsewhere.
func keepsHyphen(text, next string, compounds map[string]bool) bool {
	stem, hyphen := strings.CutSuffix(text, "-")
	if !hyphen {
		stem, hyphen = strings.CutSuffix(text, "\u2010")
	}
	last, _ := utf8.DecodeLastRuneInString(stem)
	first, _ := utf8.DecodeRuneInString(next)
	if !hyphen || leavesOut(next) || !speaks(last) || !speaks(first) {
		return false
	}
	word, after := unsigned(stem[strings.LastIndexByte(stem, ' ')+1:]), firstWord(next)
	bare := trimWord(word)
	switch {
	case !unicode.IsLower(first), unicode.IsDigit(last), strings.ContainsAny(word, "/@"): // Jean-Paul, 2019-2020, an address
		return true
	case utf8.RuneCountInString(bare) == 1, strings.ToUpper(word) == word, inCompound.MatchString(word): // x-ray, EU-wide, mother-in-law
		return true
	case bare == "self" || bare == "well":
		return !suffix.MatchString(after)
	case tens.MatchString(bare) && ones.MatchString(after), bare == "so" && after == "called":
		return true
	}
	return compounds[bare+"-"+after]
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

// hyphens may end a line within a word: printed ones and the soft one.
const hyphens = "-\u00ad\u2010"

// softened drops soft hyphens, which nobody searches for, except at the end of a line.
func softened(text string) string {
	stem := strings.TrimRight(text, string(linkEnd)+hyphens)
	return strings.ReplaceAll(stem, "\u00ad", "") + text[len(stem):]
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
	if soft, both := strings.CutSuffix(stem, "\u00ad"); ok && both { // a soft one and the hyphen that is printed for it
		return soft, true
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

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return trimWord(word)
}
