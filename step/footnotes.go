package step

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/llm"
)

// maxPassage is how many characters of a cited passage a footnote shows.
const maxPassage = 240

// footnoted returns an answer in Markdown with a footnote for each cited passage: a mark after the words, and at the end a link to the
// document's page with the passage as plain text. Labels are digests of the footnotes, so answers in one note never share a label for
// two passages. Invalid offsets are skipped. An answer that ends inside a code block stays unchanged.
func footnoted(text string, citations []llm.Citation) string {
	blocks, open := codeBlocks(text)
	if open || len(citations) == 0 {
		return text
	}
	citations = slices.Clone(citations)
	slices.SortStableFunc(citations, func(a, b llm.Citation) int { return cmp.Compare(a.End, b.End) })
	var out strings.Builder
	var notes []string
	labels, done, last := map[string]string{}, 0, ""
	for _, c := range citations {
		if c.Start < 0 || c.End > len(text) || c.Start >= c.End || strings.TrimSpace(text[c.Start:c.End]) == "" {
			continue
		}
		note := footnote(c)
		label, known := labels[note]
		if !known {
			label = labelOf(note, text)
			labels[note] = label
			notes = append(notes, "[^"+label+"]: "+note)
		}
		at, apart := markPlace(text, c.End, blocks)
		mark := "[^" + label + "]"
		if at > done {
			out.WriteString(text[done:at])
			done, last = at, ""
			if apart {
				out.WriteString("\n\n")
			}
		}
		if !strings.Contains(last, mark) { // two quotes of one passage
			out.WriteString(mark)
			last += mark
		}
	}
	if len(notes) == 0 {
		return text
	}
	out.WriteString(text[done:])
	return strings.TrimRight(out.String(), " \t\n") + "\n\n" + strings.Join(notes, "\n")
}

// labelOf returns the shortest prefix of the footnote's digest that is not yet a label in the answer.
func labelOf(note, text string) string {
	sum := sha256.Sum256([]byte(note))
	digest := hex.EncodeToString(sum[:])
	n := 6
	for n < len(digest) && strings.Contains(text, "[^"+digest[:n]+"]") {
		n++
	}
	return digest[:n]
}

// footnote returns the text of a footnote.
func footnote(c llm.Citation) string {
	link := plainMarkdown(c.Document)
	page := ""
	if c.From > 0 {
		page = fmt.Sprintf("#page=%d", c.From)
	}
	switch {
	case !notInLinks.MatchString(c.Document):
		link = "[[" + c.Document + page + "]]"
	case c.From > 0:
		link += fmt.Sprintf(", page %d", c.From)
	}
	if c.To > c.From {
		link += fmt.Sprintf(" to page %d", c.To)
	}
	passage := strings.Join(strings.Fields(printing(c.Text)), " ")
	if letters := []rune(passage); len(letters) > maxPassage {
		passage = strings.TrimSpace(string(letters[:maxPassage])) + " …"
	}
	if passage == "" {
		return link
	}
	return link + ": “" + plainMarkdown(passage) + "”"
}

// notInLinks is what a name may not have between [[ and ]].
var notInLinks = regexp.MustCompile("[\\[\\]|#^`<>\\\\\\pC\\p{Zl}\\p{Zp}]|%%")

// printing turns line endings and control characters into spaces, and drops invisible characters.
func printing(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.C):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// plainMarkdown escapes text within a line, for CommonMark and for what note programs add: links, tags, comments, formulas,
// highlights, fields (::), templates and addresses.
func plainMarkdown(s string) string { return special.Replace(printing(s)) }

var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "<", `\<`, ">", `\>`, "|", `\|`, "~", `\~`,
	"$", `\$`, "^", `\^`, "#", `\#`, "&", `\&`, "%%", `\%\%`, "==", `\=\=`, "::", `\:\:`, "://", `:\/\/`,
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")

// codeBlocks returns the fenced code blocks of a text, with their fences, and whether the last one is open.
func codeBlocks(text string) (blocks []span, open bool) {
	at, mark := 0, ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		bare := strings.TrimRight(line, "\r\n")
		m := fence.FindStringSubmatch(bare)
		switch {
		case m == nil:
		case mark == "" && !(m[1][0] == '`' && strings.Contains(m[2], "`")): // else it is code within a line
			mark = m[1]
			blocks = append(blocks, span{from: at})
		case mark != "" && m[1][0] == mark[0] && len(m[1]) >= len(mark) && strings.TrimSpace(m[2]) == "":
			mark = ""
			blocks[len(blocks)-1].to = at + len(bare)
		}
		at += len(line)
	}
	return blocks, mark != ""
}

// markPlace returns where the mark for words that end at a place goes: right after them, before the last bar of a table row, or after
// a code block in its own paragraph.
func markPlace(text string, end int, blocks []span) (at int, apart bool) {
	at = len(strings.TrimRight(text[:end], " \t\r\n"))
	for _, b := range blocks {
		if at > b.from && at <= b.to {
			return b.to, true
		}
	}
	if line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]; strings.HasPrefix(line, "|") && len(line) > 1 && strings.HasSuffix(line, "|") {
		at = len(strings.TrimRight(text[:at-1], " \t"))
	}
	return at, false
}
