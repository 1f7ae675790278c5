// Package note edits the text of notes without touching more than it was asked to: properties in the frontmatter, the text
// below a heading, and the JSON and YAML that answers are written in. Everything else stays byte for byte. The package is
// pure.
package note

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// SetProperties puts the members of a JSON object, alone or in a code fence, into a note's frontmatter. A list with a name for
// which unites reports true gets what it lacks and loses nothing; any other property is replaced, or removed by null. Unites may
// be nil. It fails when the note's frontmatter cannot be read.
func SetProperties(note []byte, properties string, unites func(name string) bool) ([]byte, error) {
	value, err := ReadJSON(Unfenced(properties))
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	members, ok := value.(Object)
	if !ok {
		return nil, errors.New("the answer is no JSON object with properties by name, such as {\"tags\": [\"a\"]}")
	}
	if unites == nil {
		unites = func(string) bool { return false }
	}
	return mergeProperties(note, members, unites)
}

// Trim removes the blank lines around a text and returns it with \n line ends.
func Trim(text string) string {
	return strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// LineEnd returns what ends the lines of a text: \r\n when its first line ends so, else \n.
func LineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
