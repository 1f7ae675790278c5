// Package visible shows text so that what a person reads is what it holds: characters that cannot be seen, that reorder
// or overwrite their neighbours, or that command a terminal are replaced by their code points, like <U+202E>. Ordinary text
// of any script comes out as it went in. The package works on strings alone; it reads and writes nothing.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with every hidden character replaced by its code point. Line feeds, tabs and a carriage return before a
// line feed stay. A run of the same character is written once: <U+200B ×40>. Bytes that are no UTF-8 become <0x9B>. Text of
// what Text returns is the same again.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, c := range clusters(s) {
		b.WriteString(c.shown())
	}
	return b.String()
}

// Name returns a name or another short text on one line: as [Text], with line feeds, tabs, carriage returns, and spaces at
// either end shown too.
func Name(s string) string {
	text := Text(s)
	inner := strings.Trim(text, " ")
	at := strings.Index(text, inner)
	text = spaces(text[:at]) + inner + spaces(text[at+len(inner):])
	return strings.NewReplacer("\n", "<U+000A>", "\t", "<U+0009>", "\r", "<U+000D>").Replace(text)
}

// Line returns a line as [Text] does, and shows the spaces and tabs at its end.
func Line(s string) string {
	inner := strings.TrimRight(s, " \t")
	var b strings.Builder
	b.WriteString(Text(inner))
	for _, c := range repeats(s[len(inner):]) {
		b.WriteString(point(c.r, c.n))
	}
	return b.String()
}

func spaces(s string) string {
	if s == "" {
		return ""
	}
	return point(' ', len(s))
}

// Hidden returns the distinct characters of s that [Text] replaces, in the order in which they first occur; nil for
// ordinary text. Bytes that are no UTF-8 count as U+FFFD.
func Hidden(s string) []rune {
	if isPlain(s) {
		return nil
	}
	var found []rune
	seen := map[rune]bool{}
	for _, c := range clusters(s) {
		if c.hidden && !seen[c.r] {
			seen[c.r] = true
			found = append(found, c.r)
		}
	}
	return found
}

// isPlain reports whether s is so ordinary that no further look is needed.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// cluster is a character of a text, or a run of the same hidden one.
type cluster struct {
	r      rune
	n      int    // how often in a row
	raw    string // as written in the text
	hidden bool
	bad    bool // a byte that is no UTF-8
}

func (c cluster) shown() string {
	switch {
	case !c.hidden:
		return c.raw
	case c.bad:
		return times(fmt.Sprintf("0x%02X", c.raw[0]), c.n)
	}
	return point(c.r, c.n)
}

func point(r rune, n int) string { return times(fmt.Sprintf("U+%04X", r), n) }

func times(what string, n int) string {
	if n == 1 {
		return "<" + what + ">"
	}
	return fmt.Sprintf("<%s ×%d>", what, n)
}

func clusters(s string) []cluster {
	var list []cluster
	look := looker{rest: s}
	for look.rest != "" {
		c := look.next()
		if n := len(list); n > 0 && c.hidden && list[n-1].hidden && list[n-1].raw == c.raw {
			list[n-1].n++
			continue
		}
		list = append(list, c)
	}
	return list
}

func repeats(s string) []cluster {
	var list []cluster
	for _, r := range s {
		if n := len(list); n > 0 && list[n-1].r == r {
			list[n-1].n++
			continue
		}
		list = append(list, cluster{r: r, n: 1})
	}
	return list
}

// maxMarks is how many combining marks a letter may carry: Vietnamese, Hebrew with accents and polytonic Greek need four. More
// than that paints over the lines around.
const maxMarks = 4

// looker walks through a text and judges each character by its neighbours.
type looker struct {
	rest  string
	base  rune // the last character that is no mark, joiner or selector; 0 at the start of a line
	last  rune // the character before this one
	marks int  // combining marks since base
}

func (l *looker) next() cluster {
	r, size := utf8.DecodeRuneInString(l.rest)
	c := cluster{r: r, n: 1, raw: l.rest[:size], bad: r == utf8.RuneError && size == 1}
	l.rest = l.rest[size:]
	c.hidden = c.bad || l.hides(r)
	l.remember(r, c.hidden)
	return c
}

func (l *looker) remember(r rune, hidden bool) {
	l.last = r
	switch {
	case hidden || r == '\n':
		l.base, l.marks = 0, 0
	case unicode.Is(unicode.M, r) && !isSelector(r):
		l.marks++
	case r != joiner && r != nonJoiner && !isSelector(r):
		l.base, l.marks = r, 0
	}
}

const (
	nonJoiner    = '\u200c'
	joiner       = '\u200d'
	textStyle    = '\ufe0e'
	pictureStyle = '\ufe0f'
)

// hides reports whether r cannot be seen, or does something to what is around it, where it stands.
func (l *looker) hides(r rune) bool {
	following, _ := utf8.DecodeRuneInString(l.rest)
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\r':
		return following != '\n'
	case r == joiner || r == nonJoiner:
		return !l.joins(r, following)
	case r == textStyle || r == pictureStyle:
		return !takesStyle(l.last)
	case unicode.Is(blank, r) || unicode.Is(unicode.Zs, r) && r != ' ' && r != ideographicSpace:
		return true
	case unicode.Is(prependedMarks, r):
		return false
	case unicode.Is(unicode.M, r):
		return l.base == 0 || l.base == ' ' || l.base == '\t' || l.marks >= maxMarks
	}
	return !unicode.IsGraphic(r)
}

// ideographicSpace is the space of Chinese and Japanese text. Every paragraph may begin with it, and its width is seen.
const ideographicSpace = '\u3000'

// joins reports whether a joiner does its work: it changes the shape of letters in the scripts that connect them, or makes
// one picture of two.
func (l *looker) joins(r, following rune) bool {
	if r == joiner && isPicture(l.base) && isPicture(following) {
		return true
	}
	return l.last == l.lastLetter() && unicode.In(l.last, connected...) && unicode.In(following, connected...)
}

// lastLetter returns the character before when it is a letter or a mark on one.
func (l *looker) lastLetter() rune {
	if l.base != 0 && (unicode.IsLetter(l.last) || unicode.Is(unicode.M, l.last)) {
		return l.last
	}
	return -1
}

// connected are the scripts in which joiners change what is seen.
var connected = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// isPicture reports whether r may be part of an emoji that joiners put together.
func isPicture(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2190 && r <= 0x2BFF && unicode.IsSymbol(r)
}

// takesStyle reports whether a selector of text or picture style belongs behind r.
func takesStyle(r rune) bool {
	return isPicture(r) || strings.ContainsRune("#*0123456789©®‼⁉™ℹ〰〽㊗㊙", r)
}

func isSelector(r rune) bool { return r == textStyle || r == pictureStyle }

// prependedMarks are of category Cf and yet seen: signs that stand around or before numbers.
var prependedMarks = &unicode.RangeTable{
	R16: []unicode.Range16{{0x0600, 0x0605, 1}, {0x06DD, 0x06DD, 1}, {0x070F, 0x070F, 1}, {0x0890, 0x0891, 1}, {0x08E2, 0x08E2, 1}},
	R32: []unicode.Range32{{0x110BD, 0x110BD, 1}, {0x110CD, 0x110CD, 1}},
}

// blank holds characters that count as letters, marks or symbols and show nothing: fillers, selectors, tags.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034F, 0x034F, 1},
		{0x115F, 0x1160, 1},
		{0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1},
		{0x2065, 0x2065, 1},
		{0x2800, 0x2800, 1},
		{0x3164, 0x3164, 1},
		{0xFE00, 0xFE0F, 1},
		{0xFFA0, 0xFFA0, 1},
		{0xFFF0, 0xFFFC, 1},
	},
	R32: []unicode.Range32{{0x1D159, 0x1D159, 1}, {0x1D173, 0x1D17A, 1}, {0xE0000, 0xE0FFF, 1}},
}
