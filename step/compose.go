package step

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
)

// composition is how an answer joins what a file holds already.
type composition struct {
	mode    string // append, replace, new, frontmatter or section; empty is replace
	heading string // of mode section
	header  string // heading text put before the answer; "" for none
	lines   bool   // the file is a list of JSON lines: an appended one follows without a blank line
}

// compose returns a file's new content; old is nil for a new file. The file's line ends (CRLF when its first line ends
// so), a missing final newline and its frontmatter bytes are kept, and everything that the mode does not replace stays
// byte for byte. Composing is pure: the same arguments give the same bytes, so that a repeated write is recognised as
// done. It fails for mode frontmatter when the answer is no JSON object or the note's properties cannot be changed, and
// for mode section when the heading cannot be had.
func (c composition) compose(old []byte, answer string) ([]byte, error) {
	switch c.mode {
	case directives.ModeFrontmatter:
		return c.properties(old, answer)
	case directives.ModeSection:
		return replaceSection(old, c.heading, c.headed(answer))
	}
	body := c.headed(answer)
	if c.mode == directives.ModeAppend && len(bytes.TrimSpace(old)) > 0 {
		return c.appended(old, body), nil
	}
	front := ""
	if size, _ := chunking.Frontmatter(old); size > 0 && !strings.HasPrefix(body, "---\n") {
		front = string(old[:size])
		if c.mode != directives.ModeAppend {
			front += lineEnd(old)
		}
	}
	if len(old) == 0 || bytes.HasSuffix(old, []byte("\n")) {
		body += "\n"
	}
	return []byte(front + strings.ReplaceAll(body, "\n", lineEnd(old))), nil
}

// appended keeps the old text and puts the new one behind a blank line.
func (c composition) appended(old []byte, body string) []byte {
	eol := lineEnd(old)
	kept := bytes.TrimRight(old, "\r\n")
	gap := eol + eol
	if c.lines {
		gap = eol
	}
	if bytes.HasSuffix(old, []byte("\n")) {
		body += "\n"
	}
	return append(bytes.Clone(kept), gap+strings.ReplaceAll(body, "\n", eol)...)
}

// properties merges an answer that is a JSON object into the frontmatter.
func (c composition) properties(old []byte, answer string) ([]byte, error) {
	value, err := readJSON(unfenced(answer))
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	add, isObject := value.(object)
	if !isObject {
		return nil, fmt.Errorf("the answer is no JSON object with properties by name, such as {\"tags\": [\"a\"]}")
	}
	return mergeProperties(old, add)
}

// headed is the answer below its header, without blank lines around it.
func (c composition) headed(answer string) string {
	body := normalise(answer)
	if c.header == "" {
		return body
	}
	heading := c.header
	if !strings.HasPrefix(heading, "#") {
		heading = "# " + heading
	}
	return heading + "\n\n" + body
}

// normalise trims the blank lines around an answer and gives it plain line ends.
func normalise(answer string) string {
	return strings.Trim(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
}

// lineEnd is what a text's lines end with.
func lineEnd(text []byte) string {
	if crlf(text) {
		return "\r\n"
	}
	return "\n"
}

// crlf tells whether a text was written with Windows line ends.
func crlf(text []byte) bool {
	first := bytes.IndexByte(text, '\n')
	return first > 0 && text[first-1] == '\r'
}
