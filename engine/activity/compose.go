package activity

import (
	"bytes"
	"strings"
)

// composition is how an answer joins what a file holds already.
type composition struct {
	header string // heading text put before the answer; "" for none
	append bool   // keep the old content and write after it; otherwise only its frontmatter stays
}

// compose returns a file's new content. The file's line ends (CRLF when its first line ends so), a missing final newline
// and its frontmatter bytes are kept; old is nil for a new file. Composing is pure: the same arguments give the same
// bytes, so that a repeated write is recognised as done.
func (c composition) compose(old []byte, answer string) []byte {
	body := normalise(answer)
	if c.header != "" {
		heading := c.header
		if !strings.HasPrefix(heading, "#") {
			heading = "# " + heading
		}
		body = heading + "\n\n" + body
	}
	var out string
	kept := string(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")))
	switch {
	case c.append && strings.TrimSpace(kept) != "":
		out = strings.TrimRight(kept, "\n") + "\n\n" + body
	case strings.HasPrefix(body, "---\n"):
		out = body
	default:
		front := kept[:frontmatterEnd(kept)]
		if front != "" {
			front += "\n"
		}
		out = front + body
	}
	if len(old) == 0 || bytes.HasSuffix(old, []byte("\n")) {
		out += "\n"
	}
	if crlf(old) {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out)
}

// normalise trims the blank lines around an answer and gives it plain line ends.
func normalise(answer string) string {
	return strings.Trim(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
}

// crlf tells whether a text was written with Windows line ends.
func crlf(text []byte) bool {
	first := bytes.IndexByte(text, '\n')
	return first > 0 && text[first-1] == '\r'
}

// frontmatterEnd is the offset just after the closing `---` line of a note's properties, 0 when there are none.
func frontmatterEnd(text string) int {
	if !strings.HasPrefix(text, "---\n") {
		return 0
	}
	offset := len("---\n")
	for line := range strings.Lines(text[offset:]) {
		offset += len(line)
		if strings.TrimRight(line, " \t\n") == "---" {
			return offset
		}
	}
	return 0
}
