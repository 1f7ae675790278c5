package note

import (
	"errors"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// entry is the place of one property in a frontmatter of block style, as byte offsets.
//
//	status: draft  # set by hand
//	^start ^value ^valueEnd     ^lineEnd, and end behind the line's break
//
// A value of several lines ends at valueEnd too when it is one token (quotes, brackets, plain text); otherwise its lines
// are between lineEnd and end, and value is where something may follow the colon.
type entry struct {
	start    int // of the key's line
	value    int // of the value behind the colon
	valueEnd int
	lineEnd  int // of the line on which the token ends, without its break
	end      int // behind the property's last line and its break
}

var errEntry = errors.New("it is written in a form that cannot be changed in place")

// entryAt finds the entry of the key at index i of the mapping's nodes.
func entryAt(front string, mapping *yaml.Node, i int) (entry, error) {
	starts := lineStarts(front)
	key := mapping.Content[i]
	limit := len(front)
	if i+2 < len(mapping.Content) {
		limit = offset(front, starts, mapping.Content[i+2].Line, 1)
	}
	e := entry{start: offset(front, starts, key.Line, 1)}
	at := offset(front, starts, key.Line, key.Column)
	colon := keyEnd(front[at:limit])
	if e.start >= limit || strings.TrimSpace(front[e.start:at]) != "" || colon < 0 {
		return e, errEntry
	}
	behind := at + colon + 1
	e.value = behind + blanks(front[behind:limit])
	e.valueEnd = e.value + tokenLength(front[e.value:limit])
	if e.valueEnd == e.value {
		e.value, e.valueEnd = behind, behind
	}
	e.lineEnd = e.valueEnd + lineLength(front[e.valueEnd:limit])
	e.end = contentEnd(front, e.lineEnd, limit)
	return e, nil
}

// replace puts another value in the entry's place. text is as yamlText returns it, with the note's line ends.
func (e entry) replace(front, text, eol string) string {
	first, more, several := strings.Cut(text, eol)
	rest := front[e.valueEnd:e.lineEnd] // blanks and a comment
	head := front[:e.value]
	if first != "" && e.value < e.valueEnd {
		first = strings.TrimPrefix(first, " ") // the blanks behind the colon are kept
	}
	if first == "" {
		head = strings.TrimRight(head, " \t")
	}
	if several {
		more = eol + more
	}
	tail := front[e.lineEnd:e.end]
	if i := strings.LastIndexByte(tail, '\n'); i >= 0 { // the break of the property's last line
		if i > 0 && tail[i-1] == '\r' {
			i--
		}
		tail = tail[i:]
	}
	if first == "" && strings.TrimSpace(rest) == "" {
		rest = ""
	}
	return head + first + rest + more + tail + front[e.end:]
}

// lineStarts lists the offsets of lines as YAML counts them: next line, line and paragraph separators end one too.
func lineStarts(s string) []int {
	starts := []int{0}
	for i, c := range s {
		switch {
		case c == '\n', c == '\r' && !strings.HasPrefix(s[i+1:], "\n"):
			starts = append(starts, i+1)
		case c == '\u0085', c == '\u2028', c == '\u2029':
			starts = append(starts, i+utf8.RuneLen(c))
		}
	}
	return starts
}

// offset is the byte at a line and a column; both count from 1, columns in characters.
func offset(s string, starts []int, line, column int) int {
	if line < 1 || line > len(starts) {
		return len(s)
	}
	at := starts[line-1]
	for ; column > 1 && at < len(s); column-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// keyEnd is the offset of the colon behind a key, -1 when there is none on its line.
func keyEnd(s string) int {
	at := 0
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		at = quotedLength(s)
	}
	for ; at < len(s) && s[at] != '\n'; at++ {
		if s[at] == ':' && (at+1 == len(s) || strings.IndexByte(" \t\r\n", s[at+1]) >= 0) {
			return at
		}
	}
	return -1
}

func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// lineLength is how far the line goes, without its break.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return len(strings.TrimSuffix(s[:i], "\r"))
	}
	return len(s)
}

// tokenLength is the length of the value that begins here, 0 when the line holds nothing more but a comment. Of a block
// scalar it is the length of its head, `|-`.
func tokenLength(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '#', '\r', '\n':
		return 0
	case '"', '\'':
		return quotedLength(s)
	case '[', '{':
		return flowLength(s)
	case '|', '>':
		return headLength(s[:lineLength(s)])
	case '!', '&': // a tag or an anchor goes with its value
		word := strings.IndexAny(s, " \t\r\n")
		if word < 0 {
			return len(s)
		}
		gap := blanks(s[word:])
		if n := tokenLength(s[word+gap:]); n > 0 {
			return word + gap + n
		}
		return word
	}
	return plainLength(s)
}

func quotedLength(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case quote == '"' && s[i] == '\\':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func flowLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if strings.IndexByte(" \t\r\n[{,:", s[i-1]) >= 0 { // not the apostrophe of a word
				i += quotedLength(s[i:]) - 1
			}
		case '#':
			if strings.IndexByte(" \t\r\n", s[i-1]) >= 0 {
				i += lineLength(s[i:])
			}
		}
	}
	return len(s)
}

// headLength is the length of a text on one line before its comment and the blanks at its end.
func headLength(line string) int {
	for i := range len(line) {
		if line[i] == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return len(strings.TrimRight(line, " \t\r"))
}

// plainLength is the length of a plain scalar. It continues in lines that are indented, until a comment.
func plainLength(s string) int {
	length, at := 0, 0
	for at < len(s) {
		line := s[at : at+lineLength(s[at:])]
		indented := at == 0 || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		text := strings.TrimSpace(line)
		if text != "" && (!indented || at > 0 && text[0] == '#') {
			break
		}
		if text != "" {
			length = at + headLength(line)
			if length < at+len(strings.TrimRight(line, " \t")) {
				break // a comment ends it
			}
		}
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return length
}

// contentEnd is the offset behind the last line that belongs to a property whose first token ends on the line that ends
// at lineEnd. Blank lines and comments between two properties belong to none.
func contentEnd(front string, lineEnd, limit int) int {
	end := behindBreak(front, lineEnd)
	block := isBlockHead(front[:lineEnd])
	for at := end; at < limit; {
		stop := at + lineLength(front[at:limit])
		line := front[at:stop]
		text := strings.TrimSpace(line)
		at = behindBreak(front, stop)
		indented := strings.HasPrefix(line, " ")
		if text != "" && (text[0] != '#' || block && indented) {
			end = at
		}
	}
	return min(end, limit)
}

// isBlockHead reports whether the last line ends with the head of a block scalar, where # is text.
func isBlockHead(s string) bool {
	line := s[strings.LastIndexByte(s, '\n')+1:]
	head := line[:headLength(line)]
	head = strings.TrimRight(head, "+-0123456789")
	return strings.HasSuffix(head, " |") || strings.HasSuffix(head, " >")
}

func behindBreak(s string, at int) int {
	if strings.HasPrefix(s[at:], "\r\n") {
		return at + 2
	}
	return min(at+1, len(s))
}
