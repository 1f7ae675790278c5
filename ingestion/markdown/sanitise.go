// Package markdown makes Markdown of what documents say. It is shown in notes of the vault and given to models, so it must not
// end the generated block, form properties, embed other notes, load remote pictures, run queries of plugins, or set tags and
// block ids.
package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/formula"

	"golang.org/x/text/unicode/norm"
)

var (
	fenceOpen  = regexp.MustCompile("^(`{3,}|~{3,})([^`]*)$")
	fenceClose = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*$")
	fenceOther = regexp.MustCompile("^([ \t>*+-]*)(`{3,}|~{3,})")
	markers    = regexp.MustCompile(`(?i)%%(\s*vaultflow:)`)
	ruleLine   = regexp.MustCompile(`^\s*(-{2,}|={2,})\s*$`)
	tagStart   = regexp.MustCompile(`(^|[\s(])#([^\s#])`)
	ownLink    = regexp.MustCompile(`(\[[^\[\]]+\]\()\\#([^\s()]+\))`) // to a heading of the note itself
	addressed  = regexp.MustCompile(`(?i)\](\(\s*([a-z][a-z0-9+.-]*):)`)
	blockID    = regexp.MustCompile(`(^|\s)\^([A-Za-z0-9-]+\s*)$`)
	htmlStart  = regexp.MustCompile(`<([A-Za-z/!?%])`)
	lineBreaks = regexp.MustCompile(`(?i)&lt;(br ?/?)>`)
	blankRun   = regexp.MustCompile(`\n{3,}`)

	comments = strings.NewReplacer("%%", "%&#37;")
	queries  = strings.NewReplacer("$$", `\$\$`, "`$=", "` $=", "`=", "` =")
	embeds   = strings.NewReplacer("![[", `!\[\[`, "[[", `\[\[`, "![", `!\[`)
	unembeds = strings.NewReplacer("![", "[")
)

// schemes lists the schemes of addresses that stay links: none runs a program, reads a file or calls a plugin.
var schemes = map[string]bool{"http": true, "https": true, "mailto": true, "ftp": true, "tel": true}

// languages are the names after a fence that are kept: none of them is run by a plugin.
var languages = map[string]bool{
	"text": true, "go": true, "python": true, "javascript": true, "typescript": true, "java": true, "c": true, "cpp": true, "rust": true,
	"ruby": true, "bash": true, "sh": true, "sql": true, "css": true, "html": true, "xml": true, "json": true, "yaml": true, "toml": true,
	"ini": true, "csv": true, "latex": true, "bibtex": true, "lua": true, "r": true, "rst": true, "org": true, "markdown": true, "diff": true,
}

// Sanitise makes the Markdown of a document harmless. It still reads the same, except that links into the vault, embeds and
// addresses of programs become text. Doing it twice may escape twice.
func Sanitise(s string) string { return sanitised(s, sanitiseLine) }

// sanitiseNote makes a note that somebody wrote harmless: its links and tags stay, its embeds become links.
func sanitiseNote(s string) string { return sanitised(s, sanitiseNoteLine) }

func sanitiseNoteLine(line string) string {
	line = queries.Replace(comments.Replace(unembeds.Replace(line)))
	return lineBreaks.ReplaceAllString(htmlStart.ReplaceAllString(line, "&lt;$1"), "<$1>")
}

// sanitised applies a rule to all lines outside of code blocks. A block counts as one only where every reader of Markdown
// agrees: it begins at the margin after an empty line. The fences of others are taken off.
func sanitised(s string, rule func(string) string) string {
	return sanitisedLines(s, func(line string) string { return rule(strings.TrimRight(line, " \t")) })
}

// sanitisedLines is sanitised for a rule that is given the spaces at the ends of lines.
func sanitisedLines(s string, rule func(string) string) string {
	var out []string
	open, blank := "", true
	for whole := range strings.SplitSeq(Clean(s), "\n") {
		line := strings.TrimRight(whole, " \t")
		found := fenceOpen.FindStringSubmatch(line)
		switch {
		case open != "":
			if closes(line, open) {
				open = ""
			}
			line = markers.ReplaceAllString(line, "% %$1")
		case found != nil && blank:
			open = found[1]
			line = open + language(found[2])
		default:
			line = rule(fenceOther.ReplaceAllString(whole, `$1\$2`))
		}
		blank = line == "" && open == ""
		out = append(out, line)
	}
	if open != "" {
		out = append(out, open) // or it would swallow the pages that follow
	}
	return strings.Trim(blankRun.ReplaceAllString(strings.Join(out, "\n"), "\n\n"), "\n")
}

// closes reports whether a line ends the code block that the mark opened.
func closes(line, mark string) bool {
	found := fenceClose.FindStringSubmatch(line)
	return found != nil && found[1][0] == mark[0] && len(found[1]) >= len(mark)
}

// language returns the language of a fence's info string.
func language(info string) string {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(info)), " ")
	if name == "" || languages[name] {
		return name
	}
	return "text"
}

func sanitiseLine(line string) string {
	if ruleLine.MatchString(line) {
		return `\` + strings.TrimSpace(line)
	}
	if latex, ok := strings.CutPrefix(line, "$$"); ok && strings.HasSuffix(latex, "$$") && formula.IsOwn(latex[:len(latex)-2]) {
		return line
	}
	line = queries.Replace(comments.Replace(embeds.Replace(line)))
	line = htmlStart.ReplaceAllString(line, "&lt;$1")
	line = lineBreaks.ReplaceAllString(line, "<$1>") // tables need them
	line = addressed.ReplaceAllStringFunc(line, func(s string) string {
		if schemes[strings.ToLower(addressed.FindStringSubmatch(s)[2])] {
			return s
		}
		return `\` + s
	})
	line = ownLink.ReplaceAllString(tagStart.ReplaceAllString(line, `$1\#$2`), "$1#$2")
	return blockID.ReplaceAllString(line, `$1\^$2`)
}

// Clean returns text in NFC with plain line ends and without control characters.
func Clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n").Replace(s)
	return norm.NFC.String(strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, s), "�"))
}

// printable maps control characters and those that change the direction of writing to nothing, line ends to spaces.
func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
		return ' '
	case unicode.IsControl(r), r == '\ufeff', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return -1
	}
	return r
}

var ocrMarkup = regexp.MustCompile("^(#{1,6}( |$)|>)")

// FromOCR makes Markdown of recognised text, with its lines and paragraphs. None of it is markup.
func FromOCR(s string) string {
	lines := strings.Split(Clean(s), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if ocrMarkup.MatchString(line) || fenceOpen.MatchString(line) {
			line = `\` + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// Demote lowers headings by some levels, to ###### at most.
func Demote(s string, by int) string {
	open := ""
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		switch found := fenceOpen.FindStringSubmatch(line); {
		case open != "" && closes(line, open):
			open = ""
		case open == "" && found != nil:
			open = found[1]
		}
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		if open == "" && marks >= 1 && marks <= 6 && strings.HasPrefix(line[marks:], " ") {
			lines[i] = strings.Repeat("#", min(marks+by, 6)) + line[marks:]
		}
	}
	return strings.Join(lines, "\n")
}

// Inline returns a text for use within a line: in headings, in lists, after the bar of a link.
func Inline(s string) string {
	s = sanitiseLine(OneLine(s, 300))
	return strings.NewReplacer("]", `\]`, "|", `\|`, "`", "\\`").Replace(s)
}

// Alias returns a text for the shown part of a wikilink, in which nothing can be escaped.
func Alias(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", "|", "/", "%%", "%", "#", "＃").Replace(OneLine(s, 200))
}

// OneLine returns a text as one line of at most limit runes, without control characters.
func OneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.Map(printable, s), "�")), " ")
	if runes := []rune(s); len(runes) > limit {
		s = strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return s
}

// Note makes a note part of another: its properties become a code block.
func Note(s string) string {
	s = Clean(strings.TrimPrefix(s, "\ufeff"))
	if rest, ok := strings.CutPrefix(s, "---\n"); ok {
		if front, body, ok := strings.Cut("\n"+rest, "\n---\n"); ok {
			if front = strings.Trim(front, "\n"); front == "" {
				return sanitiseNote(body)
			}
			return strings.TrimRight(Fenced(front, "yaml")+"\n\n"+sanitiseNote(body), "\n")
		}
	}
	return sanitiseNote(s)
}

var backticks = regexp.MustCompile("`+")

// Fenced returns text in a code block that nothing in it can end.
func Fenced(s, language string) string {
	s = strings.Trim(markers.ReplaceAllString(Clean(s), "% %$1"), "\n")
	mark := "```"
	for _, run := range backticks.FindAllString(s, -1) {
		if len(run) >= len(mark) {
			mark = run + "`"
		}
	}
	return mark + language + "\n" + s + "\n" + mark
}

// HasMark reports whether a text has one of the marks around the generated block.
func HasMark(s string) bool { return markers.MatchString(s) }

// Plain escapes a line of text: the beginning, where blocks start, and emphasis and links.
func Plain(s string) string {
	s = strings.NewReplacer("*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(strings.TrimLeft(s, " \t"))
	if ocrMarkup.MatchString(s) || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "+ ") || fenceOpen.MatchString(s) {
		return `\` + s
	}
	return s
}

// Size returns a number of bytes as people write it.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
