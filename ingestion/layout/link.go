package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Link is a place of a page that leads somewhere: to a page of the document, or to an address.
type Link struct {
	Box  Box
	URI  string
	Page int // counted from 1; 0 when the link leads to URI
}

// span is a part of a line that leads somewhere or is a formula: runes from ≤ i < to, and the link's number among those of the page, or LaTeX.
type span struct {
	from, to, link int
	latex          string // "" for a link
}

// Signs that stand around the text of a link or a formula while lines are joined. The number of the link follows the first, as a
// character of a private plane, or the LaTeX of the formula, up to a sign of its own. No text has them: Normal drops control characters.
const (
	linkBegin = '\x0e'
	linkEnd   = '\x0f'
	linkPlane = 0xF0000
	mathBegin = "\x10"
	mathText  = "\x11"
	mathEnd   = "\x12"
)

const (
	maxLinks   = 10_000 // of a page that are looked at
	maxAddress = 2000   // bytes of an address
)

// link finds the text of each link among the lines. Lines without links stay as they are.
func link(lines []Line, links []Link) []Line {
	links = links[:min(len(links), maxLinks)]
	if len(links) == 0 {
		return lines
	}
	out := slices.Clone(lines)
	for i := range out {
		for n, at := range links {
			if middle := (out[i].Box.Y0 + out[i].Box.Y1) / 2; middle < at.Box.Y0 || middle > at.Box.Y1 || !at.leads() {
				continue
			}
			if from, to := out[i].under(at.Box); to > from {
				out[i].spans = append(out[i].spans, span{from: from, to: to, link: n})
			}
		}
		out[i].spans = apart(out[i].spans)
	}
	return out
}

// under returns the runes whose middles are in a box, without blanks at their ends.
func (l Line) under(b Box) (from, to int) {
	text := []rune(l.Text)
	from = -1
	for i := range text {
		right := l.Box.X1
		if i+1 < len(text) {
			right = l.edge(i+1, len(text))
		}
		if middle := (l.edge(i, len(text)) + right) / 2; middle >= b.X0 && middle <= b.X1 && !unicode.IsSpace(text[i]) {
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	if from >= 0 && len(l.Edges) != len(text) {
		from, to = atWord(text, from), atWord(text, to)
		for to > from && unicode.IsSpace(text[to-1]) {
			to--
		}
	}
	return max(from, 0), to
}

// atWord moves a place in a text to the nearer end of the word that it divides: where letters stand was estimated.
func atWord(text []rune, at int) int {
	from, to := at, at
	for from > 0 && speaks(text[from-1]) {
		from--
	}
	for to < len(text) && speaks(text[to]) {
		to++
	}
	if at-from < to-at {
		return from
	}
	return to
}

// apart sorts spans and drops those that overlap others.
func apart(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []span
	for _, s := range spans {
		if len(out) == 0 || s.from >= out[len(out)-1].to {
			out = append(out, s)
		}
	}
	return out
}

// within returns the spans between two runes, counted from the first of them.
func (l Line) within(from, to int) []span {
	var out []span
	for _, s := range l.spans {
		whole := s.from >= from && s.to <= to
		if s.from, s.to = max(s.from, from)-from, min(s.to, to)-from; s.to > s.from && (whole || s.latex == "") {
			out = append(out, s)
		}
	}
	return out
}

// signed is the text of a line with signs around its links.
func (l Line) signed() string {
	if len(l.spans) == 0 {
		return l.Text
	}
	var b strings.Builder
	text, at := []rune(l.Text), 0
	for _, s := range l.spans {
		b.WriteString(string(text[at:s.from]))
		if s.latex != "" {
			b.WriteString(mathBegin + s.latex + mathText + string(text[s.from:s.to]) + mathEnd)
		} else {
			b.WriteString(string([]rune{linkBegin, linkPlane + rune(s.link)}) + string(text[s.from:s.to]) + string(linkEnd))
		}
		at = s.to
	}
	return b.String() + string(text[at:])
}

var linkSigns = regexp.MustCompile(`\x0e.|\x0f|\x10[^\x11]*\x11|\x12`)

// unsigned removes the signs around links and formulas.
func unsigned(text string) string {
	if !strings.ContainsAny(text, "\x0e\x0f\x10\x12") {
		return text
	}
	return linkSigns.ReplaceAllString(text, "")
}

// withoutMark removes a list item's mark from a text, even if a link begins with it.
func withoutMark(text string, mark *regexp.Regexp) string {
	sign := ""
	if strings.HasPrefix(text, string(linkBegin)) {
		_, size := utf8.DecodeRuneInString(text[1:])
		sign, text = text[:1+size], text[1+size:]
	}
	if at := mark.FindStringIndex(text); at != nil {
		return sign + text[at[1]:]
	}
	return mark.ReplaceAllString(unsigned(text), "") // the link is on the mark alone
}

// piece is a part of a text with its link, if any.
type piece struct {
	text string
	link *Link
}

// pieces divides a text at its links. The parts of a link that continues on the next line are one.
func pieces(text string, links []Link) []piece {
	var out []piece
	add := func(p piece) {
		n := len(out)
		switch {
		case p.text == "":
		case n > 1 && p.link != nil && strings.TrimSpace(out[n-1].text) == "" && out[n-1].link == nil && out[n-2].link.same(p.link):
			out[n-2].text += out[n-1].text + p.text
			out = out[:n-1]
		case n > 0 && p.link != nil && out[n-1].link.same(p.link):
			out[n-1].text += p.text
		default:
			out = append(out, p)
		}
	}
	for {
		before, rest, found := strings.Cut(text, string(linkBegin))
		add(piece{text: before})
		if !found {
			return out
		}
		number, size := utf8.DecodeRuneInString(rest)
		shown, after, _ := strings.Cut(rest[size:], string(linkEnd))
		add(piece{shown, &links[number-linkPlane]})
		text = after
	}
}

// same reports whether two links lead to the same place.
func (l *Link) same(o *Link) bool { return l != nil && o != nil && l.URI == o.URI && l.Page == o.Page }

// leads reports whether the link can be written.
func (l Link) leads() bool { return l.Page > 0 || l.address() != "" }

var (
	scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	octet  = regexp.MustCompile(`^%[0-9A-Fa-f]{2}`)
)

// schemes lists the schemes of addresses that become links: none runs a program, reads a file or calls a plugin.
var schemes = map[string]bool{"http": true, "https": true, "mailto": true, "ftp": true, "tel": true}

// address returns the link's target for the parentheses of Markdown, or "" if it stays text.
// Signs that could end it, or mean something in Markdown, are written as octets (RFC 3986 §2.1).
func (l Link) address() string {
	if l.Page > 0 {
		return fmt.Sprintf("#^p%d", l.Page)
	}
	uri := strings.TrimSpace(l.URI)
	if strings.HasPrefix(strings.ToLower(uri), "www.") {
		uri = "http://" + uri // as viewers read it
	}
	if m := scheme.FindStringSubmatch(uri); m == nil || !schemes[strings.ToLower(m[1])] || len(uri) > maxAddress {
		return ""
	}
	var b strings.Builder
	for i := range len(uri) {
		c := uri[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~:/?#@!&'+,;=", c) >= 0
		if plain || c == '%' && octet.MatchString(uri[i:]) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// bracketMarks escapes the signs that end the text of a link.
var bracketMarks = strings.NewReplacer("[", `\[`, "]", `\]`)

// markdown writes a text, that begins a line, with its links; nothing else of it is markup.
func (w *writer) markdown(text string, heading bool) string { return guarded(w.inline(text, heading)) }

// inline is markdown within a line. Links to pages are left out of headings, where books lead back to their contents.
func (w *writer) inline(text string, heading bool) string {
	var b strings.Builder
	for _, p := range pieces(text, w.links) {
		escaped := withMath(p.text, heading)
		if p.link == nil || heading && p.link.Page > 0 || !strings.ContainsFunc(p.text, speaks) {
			b.WriteString(escaped)
			continue
		}
		b.WriteString("[" + bracketMarks.Replace(marksInLink.Replace(unsigned(p.text))) + "](" + p.link.address() + ")")
	}
	return b.String()
}

func speaks(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
