package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// paragraph is a run of lines that belong together.
type paragraph struct {
	lines []textLine
	size  float64
	bold  bool
	item  bool // of a numbered list
}

// text gives the layer as plain text and as Markdown.
func (l layer) text() (plain, markdown string) {
	body := l.bodySize()
	sizes := l.headingSizes(body)
	var plains, marks []string
	for _, p := range l.paragraphs() {
		text := joinLines(p.lines)
		plains = append(plains, text)
		level := slices.IndexFunc(sizes, func(s float64) bool { return same(s, p.size) }) + 1
		switch {
		case level > 0 && utf8.RuneCountInString(text) <= 200:
			marks = append(marks, strings.Repeat("#", level)+" "+escapeMarkdown(text))
		case p.bold && utf8.RuneCountInString(text) <= 200:
			marks = append(marks, "**"+escapeMarkdown(text)+"**")
		case p.item:
			n, length := ordinalOf(text)
			marks = append(marks, strconv.Itoa(n)+". "+escapeMarkdown(text[length:]))
		default:
			marks = append(marks, escapeOrdinal(escapeMarkdown(listItem(text))))
		}
	}
	return strings.Join(plains, "\n\n"), joinItems(marks)
}

// joinItems puts list items under one another and empty lines between everything else.
func joinItems(blocks []string) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 {
			b.WriteString("\n")
			if kind := listKind(block); kind == 0 || kind != listKind(blocks[i-1]) {
				b.WriteString("\n")
			}
		}
		b.WriteString(block)
	}
	return b.String()
}

// listKind tells items of a list from other blocks: '-' with a bullet, '1' with a number, 0 for no item.
func listKind(block string) byte {
	switch m := listMark.FindString(block); m {
	case "":
		return 0
	case "- ":
		return '-'
	}
	return '1'
}

// bodySize is the size in which most characters are set.
func (l layer) bodySize() float64 {
	counts := map[float64]int{}
	for _, line := range l.lines {
		counts[math.Round(line.size*2)/2] += utf8.RuneCountInString(line.text)
	}
	best, most := 0.0, 0
	for size, n := range counts {
		if n > most || n == most && size < best {
			best, most = size, n
		}
	}
	return best
}

// headingSizes lists the sizes above the body's, the largest first. At most three are headings of their own.
func (l layer) headingSizes(body float64) []float64 {
	var sizes []float64
	for _, line := range l.lines {
		if line.size > body*1.15 && !slices.ContainsFunc(sizes, func(s float64) bool { return same(s, line.size) }) {
			sizes = append(sizes, line.size)
		}
	}
	slices.SortFunc(sizes, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	return sizes[:min(3, len(sizes))]
}

// paragraphs divides the lines where the space, the size, the weight or the column changes.
func (l layer) paragraphs() []paragraph {
	var out []paragraph
	items := l.numbered()
	for i, line := range l.lines {
		if i > 0 && !items[i] && follows(l.lines[i-1], line) {
			last := &out[len(out)-1]
			last.lines = append(last.lines, line)
			continue
		}
		out = append(out, paragraph{lines: []textLine{line}, size: line.size, bold: line.bold, item: items[i]})
	}
	return out
}

// follows says whether a line goes on with the paragraph of the one before.
func follows(before, line textLine) bool {
	if !same(before.size, line.size) || before.bold != line.bold || bullet.MatchString(line.text) {
		return false
	}
	gap := line.top - before.top
	return gap > -0.3*line.size && gap < 1.75*line.size
}

func same(a, b float64) bool { return math.Abs(a-b) < 0.6 }

var (
	bullet   = regexp.MustCompile(`^(?:[•◦▪‣●○■–]|[*-])\s+`)
	onMargin = regexp.MustCompile(`^(#{1,6}(?:\s|$)|>|\+\s|=+$|-{3,}$|~{3,})`)
	listMark = regexp.MustCompile(`^(?:- |\d{1,3}\. )`)
	marks    = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`)
)

// listItem turns a printed bullet into one of Markdown.
func listItem(text string) string { return bullet.ReplaceAllString(text, "- ") }

// escapeMarkdown keeps what was printed from being read as markup.
func escapeMarkdown(text string) string {
	text = marks.Replace(text)
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

// joinLines makes one line of several. A hyphen at the end of a line goes when a small letter follows.
func joinLines(lines []textLine) string {
	var b strings.Builder
	for i, line := range lines {
		text := strings.Join(strings.Fields(line.text), " ")
		if i+1 == len(lines) {
			b.WriteString(text)
			break
		}
		if stem, ok := hyphenated(text, lines[i+1].text); ok {
			b.WriteString(stem)
			continue
		}
		b.WriteString(text + " ")
	}
	return b.String()
}

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
