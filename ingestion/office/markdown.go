package office

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/script"
)

// clean drops what no note should hold: control characters and our own marks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case unicode.IsControl(r) || string(r) == pictureMark || r == '\u200B' || r == '\uFEFF' || r == '\u00AD':
			return -1
		case r == '\u00A0' || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "[[", `\[\[`, "[", `\[`, "]", `\]`, "|", `\|`, "%%", `\%%`, "$$", `\$\$`, "==", `\==`, "~~", `\~~`,
)

// escape makes text that means itself in Markdown, within a line.
func escape(s string) string {
	s = tagStart.ReplaceAllString(special.Replace(clean(s)), "&lt;$1")
	return underscores.ReplaceAllString(s, `$1\_`)
}

// tagStart matches what a Markdown reader would treat as HTML.
var tagStart = regexp.MustCompile(`<([A-Za-z/!?])`)

// underscores mean emphasis only at the edge of a word.
var underscores = regexp.MustCompile(`(^|[^\pL\pN_])_`)

// lineStart finds text that would begin a block: a heading, quote, list item, rule or table.
var lineStart = regexp.MustCompile(`^(#{1,6}(?:\s|$)|>|[-+](?:\s|$)|-{3,}\s*$|={2,}\s*$|\d{1,9}[.)](?:\s|$))`)

// paragraph is a line of text that must not begin a block of another kind.
func paragraph(s string) string {
	for s = strings.TrimSpace(s); strings.HasPrefix(s, "\\\n"); {
		s = strings.TrimSpace(s[1:]) // a line break before any text
	}
	m := lineStart.FindString(s)
	switch {
	case m == "":
		return s
	case m[0] >= '0' && m[0] <= '9':
		digits := strings.TrimRight(strings.TrimRight(m, " \t"), ".)")
		return digits + `\` + s[len(digits):]
	}
	return `\` + s
}

// span is a run of text in one style.
type span struct {
	text                 string // escaped
	bold, italic, strike bool
	code                 bool
	link                 string
	script               int    // above 0 raised, below 0 lowered
	raw                  bool   // a picture, a footnote's mark: no style around it
	font                 string // of the text within, while it is read
}

// style encloses a span's text.
func (s span) style() span {
	return span{bold: s.bold, italic: s.italic, strike: s.strike, code: s.code, link: s.link, script: s.script}
}

// scriptOf returns whether a word such as superscript or -33% raises text or lowers it.
func scriptOf(word string) int {
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	n, err := strconv.ParseFloat(strings.TrimSuffix(word, "%"), 64)
	switch {
	case strings.HasPrefix(word, "super"), err == nil && n > 0:
		return 1
	case strings.HasPrefix(word, "sub"), err == nil && n < 0:
		return -1
	}
	return 0
}

// join writes spans of one paragraph. Neighbours of one style are one span; blanks stay outside of emphasis, where
// Markdown needs them to be.
func join(spans []span) string {
	var merged []span
	for _, s := range spans {
		if n := len(merged); n > 0 && !s.raw && !merged[n-1].raw && merged[n-1].style() == s.style() {
			merged[n-1].text += s.text
			continue
		}
		merged = append(merged, s)
	}
	var b strings.Builder
	inLine := slices.ContainsFunc(merged, func(s span) bool { return s.script == 0 && !s.raw && !empty(s.text) })
	for _, s := range merged {
		switch {
		case s.script > 0 && inLine:
			s.text = escape(script.Raised(b.String(), unescape.Replace(s.text)))
		case s.script < 0 && inLine:
			s.text = escape(script.Lowered(b.String(), unescape.Replace(s.text)))
		}
		b.WriteString(s.markdown())
	}
	return b.String()
}

func (s span) markdown() string {
	core := strings.TrimSpace(s.text)
	if s.raw || core == "" {
		return s.text
	}
	lead := s.text[:strings.Index(s.text, core)]
	tail := s.text[len(lead)+len(core):]
	if s.code {
		core = "`" + strings.ReplaceAll(unescape.Replace(core), "`", "'") + "`"
	}
	if s.strike {
		core = "~~" + core + "~~"
	}
	if s.italic {
		core = "*" + core + "*"
	}
	if s.bold {
		core = "**" + core + "**"
	}
	if s.link != "" {
		core = "[" + core + "](" + destination(s.link) + ")"
	}
	return lead + core + tail
}

var unescape = strings.NewReplacer(`\\`, `\`, "\\`", "`", `\*`, "*", `\[`, "[", `\]`, "]", "&lt;", "<", `\|`, "|", `\_`, "_", `\%%`, "%%", `\$\$`, "$$", `\==`, "==", `\~~`, "~~")

// destination is a link's address between parentheses.
func destination(to string) string {
	to = strings.TrimSpace(clean(to))
	to = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\t", "", "|", "%7C").Replace(to)
	return to
}

// safeLink keeps addresses that a reader can follow: web, mail, and places in the document itself.
func safeLink(to string) string {
	lower := strings.ToLower(strings.TrimSpace(to))
	for _, scheme := range []string{"http://", "https://", "mailto:", "tel:", "ftp://"} {
		if strings.HasPrefix(lower, scheme) {
			return to
		}
	}
	return ""
}

// table writes rows as a table of GitHub's form; the first row is its head. Rows of empty cells at the end and columns
// that are empty throughout are left out. A table of one cell is that cell, and one of one column is lines.
func table(rows [][]string) string {
	rows = trimTable(rows)
	if len(rows) == 0 {
		return ""
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		return rows[0][0]
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	if width == 1 {
		return columnLines(rows)
	}
	var b strings.Builder
	for i, r := range rows {
		b.WriteByte('|')
		for c := range width {
			text := ""
			if c < len(r) {
				text = cell(r[c])
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", width) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// cell is a cell's Markdown on one line. The rows of tables in it are lines.
func cell(s string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\\\n", "\n"), "\n") {
		if row, ok := strings.CutPrefix(line, "| "); ok {
			if ruleOfTable.MatchString(line) {
				continue
			}
			cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
			for len(cells) > 0 && cells[len(cells)-1] == "" {
				cells = cells[:len(cells)-1]
			}
			line = strings.Join(cells, " · ")
		}
		if line = strings.TrimRight(line, " "); line != "" {
			lines = append(lines, barePipe.ReplaceAllString(line, `$1\|`))
		}
	}
	return strings.Join(lines, "<br>")
}

var (
	ruleOfTable = regexp.MustCompile(`^\|(?: --- \|)+$`)
	barePipe    = regexp.MustCompile(`(^|[^\\])\|`) // in code
)

func trimTable(rows [][]string) [][]string {
	blank := func(r []string) bool {
		for _, c := range r {
			if strings.TrimSpace(c) != "" {
				return false
			}
		}
		return true
	}
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	for len(rows) > 0 && blank(rows[0]) {
		rows = rows[1:]
	}
	used := 0
	for _, r := range rows {
		for c, text := range r {
			if strings.TrimSpace(text) != "" {
				used = max(used, c+1)
			}
		}
	}
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = r[:min(used, len(r))]
	}
	return out
}

// blocks joins paragraphs, lists and tables. Items of one list are on lines of their own without a blank line.
type blocks struct {
	out   strings.Builder
	list  byte     // what the last block is: 0, '-' or '1' for an item of a list with bullets or numbers
	base  int      // the depth of the list's items at the margin
	depth int      // of the last item with a mark, from there
	lines []string // of a code block that the next paragraph may continue
}

// add adds a paragraph, a heading, or a table.
func (b *blocks) add(text string) { b.put(text, 0) }

// item adds an item of a list at a depth, with its mark: - or a number; without a mark, a further paragraph of the item
// that is one less deep. Items are at most one deeper than the one before, as Markdown takes more for code.
func (b *blocks) item(depth int, marker, text string) {
	if b.list == 0 {
		b.base, b.depth = depth, -1
	}
	b.base = min(b.base, depth)
	if depth = min(depth-b.base, b.depth+1); marker != "" {
		b.depth = depth
	} else if depth == 0 {
		b.add(paragraph(text))
		return
	}
	kind := byte('-')
	if marker != "-" {
		kind = '1'
	}
	if depth > 0 && b.list != 0 {
		kind = b.list // an inner list does not end the outer one
	}
	indent := strings.Repeat("    ", depth)
	if marker != "" {
		marker += " "
	}
	if marker == "" && b.list != 0 {
		b.out.WriteString("\n") // a paragraph of its own
	}
	b.put(indent+marker+strings.ReplaceAll(paragraph(text), "\n", "\n"+indent+"    "), kind)
}

// code adds lines of a code block. Programs write one paragraph for each line, so neighbours are one block.
func (b *blocks) code(text string) {
	b.lines = append(b.lines, strings.Split(clean(text), "\n")...)
}

// flush writes the code block that has been gathered.
func (b *blocks) flush() {
	text := strings.Trim(strings.Join(b.lines, "\n"), "\n")
	if b.lines = nil; strings.TrimSpace(text) == "" {
		return
	}
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	b.put(mark+"\n"+text+"\n"+mark, 0)
}

func (b *blocks) put(text string, kind byte) {
	if len(b.lines) > 0 {
		b.flush()
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	switch {
	case b.out.Len() == 0:
	case kind != 0 && b.list == kind:
		b.out.WriteString("\n")
	default:
		b.out.WriteString("\n\n")
	}
	b.out.WriteString(strings.TrimRight(text, " \n"))
	b.list = kind
}

// footnote adds the text of the n-th footnote.
func (b *blocks) footnote(n int, text string) {
	b.add("[^" + strconv.Itoa(n) + "]: " + strings.ReplaceAll(text, "\n", "\n    "))
}

// quote prefixes every line of a text with >.
func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

func (b *blocks) String() string {
	b.flush()
	return b.out.String()
}
