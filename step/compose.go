package step

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/note"
)

// composition is how an answer is combined with a file's content.
type composition struct {
	mode   directives.WriteMode // an empty one is replace
	header string               // heading text put before the answer; "" for none
	lines  bool                 // the file is a list of JSON lines: an appended one follows without a blank line
	shared []string             // of a section in which others may write, too: what the workflow wrote there; nil: all of it is its own
}

// compose returns a file's new content; old is nil for a new file. It keeps the file's line endings (those of its first line), a
// missing final newline and the frontmatter, and byte for byte all that the mode does not replace. It is pure, so a repeated write
// is recognised as done. left reports what of the answer was left out. It fails in mode frontmatter if the answer is not a JSON object
// or the properties cannot be changed, and in mode section if the heading cannot be used.
func (c composition) compose(old []byte, answer string) (data []byte, left []string, err error) {
	switch c.mode.Mode {
	case directives.ModeFrontmatter:
		data, err = note.SetProperties(old, answer, c.mode.Unites)
	case directives.ModeSection:
		return c.below(old, answer)
	default:
		data = c.whole(old, answer)
	}
	return data, left, err
}

// below returns a note whose text below a heading is replaced by the answer, or merged with it.
func (c composition) below(old []byte, answer string) (data []byte, left []string, err error) {
	text := c.nested(old, answer)
	switch c.mode.Merge {
	case directives.MergeTasks:
		return note.MergeTasks(old, c.mode.Heading, answer)
	case directives.MergeAppend:
		data, err = note.AppendSection(old, c.mode.Heading, text)
	default:
		data, left, err = c.renewed(old, text)
	}
	if err == nil && note.Spills(data, c.mode.Heading, text) {
		left = append(left, fmt.Sprintf("the answer has headings that end the section %q; what follows the first of them no longer belongs to it", c.mode.Heading))
	}
	return data, left, err
}

// nested returns the answer as it goes below the heading.
func (c composition) nested(old []byte, answer string) string {
	return note.Nested(old, c.mode.Heading, c.headed(answer))
}

// renewed returns a note whose text below a heading is replaced. What others wrote there stays.
func (c composition) renewed(old []byte, text string) (data []byte, left []string, err error) {
	if c.shared == nil {
		data, err = note.ReplaceSection(old, c.mode.Heading, text)
		return data, nil, err
	}
	data, kept, err := note.RenewSection(old, c.mode.Heading, text, c.shared)
	if len(kept) > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(kept[0]), "\n")
		said := fmt.Sprintf("below %q, text that this workflow did not write was kept: %q", c.mode.Heading, oneLine(first))
		if more := len(kept) - 1; more > 0 {
			said += fmt.Sprintf(" and %d more", more)
		}
		left = []string{said}
	}
	return data, left, err
}

// whole returns a file with the answer as its text, or behind its text.
func (c composition) whole(old []byte, answer string) []byte {
	body := c.headed(answer)
	if c.mode.Mode == directives.ModeAppend && len(bytes.TrimSpace(old)) > 0 {
		return c.appended(old, body)
	}
	front := ""
	if size, _ := chunking.Frontmatter(old); size > 0 && !strings.HasPrefix(body, "---\n") {
		front = string(old[:size])
		if c.mode.Mode != directives.ModeAppend {
			front += note.LineEnd(old)
		}
	}
	if len(old) == 0 || bytes.HasSuffix(old, []byte("\n")) {
		body += "\n"
	}
	return []byte(front + strings.ReplaceAll(body, "\n", note.LineEnd(old)))
}

// appended returns the old text, a blank line, and the new text.
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

// headed returns the answer below its header, without blank lines around it.
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
