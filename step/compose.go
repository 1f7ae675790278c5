package step

import (
	"bytes"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/note"
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
		return note.SetProperties(old, answer)
	case directives.ModeSection:
		return note.ReplaceSection(old, c.heading, c.headed(answer))
	}
	body := c.headed(answer)
	if c.mode == directives.ModeAppend && len(bytes.TrimSpace(old)) > 0 {
		return c.appended(old, body), nil
	}
	front := ""
	if size, _ := chunking.Frontmatter(old); size > 0 && !strings.HasPrefix(body, "---\n") {
		front = string(old[:size])
		if c.mode != directives.ModeAppend {
			front += note.LineEnd(old)
		}
	}
	if len(old) == 0 || bytes.HasSuffix(old, []byte("\n")) {
		body += "\n"
	}
	return []byte(front + strings.ReplaceAll(body, "\n", note.LineEnd(old))), nil
}

// appended keeps the old text and puts the new one behind a blank line.
func (c composition) appended(old []byte, body string) []byte {
	eol := note.LineEnd(old)
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

// headed is the answer below its header, without blank lines around it.
func (c composition) headed(answer string) string {
	body := note.Trim(answer)
	if c.header == "" {
		return body
	}
	heading := c.header
	if !strings.HasPrefix(heading, "#") {
		heading = "# " + heading
	}
	return heading + "\n\n" + body
}
