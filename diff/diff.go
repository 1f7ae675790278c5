// Package diff shows a person what becomes of a file: a unified diff of two contents. It reads and writes nothing.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/vaultflow/vaultflow/content"
)

// Nothing is the name of the side on which there is no file.
const Nothing = "/dev/null"

const (
	maxBytes = 1 << 20 // of one content: more is nothing that a person reads
	around   = 3       // lines shown before and behind a change
)

// Unified is the unified diff of two contents, with a line feed at its end; empty when they are equal. An empty name
// stands for [Nothing]. Contents that are no UTF-8 text, or are longer than 1 MiB, get one sentence with their sizes in place
// of the lines. Texts in which very much is different get a diff that is right and not the shortest, so that it takes no more
// than a moment. The lines are as they are in the files, control characters included: whoever prints them on a terminal
// cleans them.
func Unified(before, after []byte, nameBefore, nameAfter string) string {
	if bytes.Equal(before, after) {
		return ""
	}
	nameBefore, nameAfter = side(nameBefore), side(nameAfter)
	switch {
	case max(len(before), len(after)) > maxBytes:
		return inWords("too long to be shown line by line", before, after, nameBefore, nameAfter)
	case binary(before) || binary(after):
		return inWords("not a text", before, after, nameBefore, nameAfter)
	}
	edits := udiff.Lines(string(before), string(after))
	text, err := udiff.ToUnified(nameBefore, nameAfter, string(before), edits, around)
	if err != nil { // the edits are the library's own
		return inWords("not to be shown line by line", before, after, nameBefore, nameAfter)
	}
	return text
}

// side is a name on one line.
func side(name string) string {
	if name == "" {
		return Nothing
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(name)
}

func inWords(why string, before, after []byte, nameBefore, nameAfter string) string {
	name := nameAfter
	if name == Nothing {
		name = nameBefore
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s is %s: %s before, %s after\n", nameBefore, nameAfter, name, why, size(before, nameBefore), size(after, nameAfter))
}

func size(data []byte, name string) string {
	if name == Nothing {
		return "nothing"
	}
	return content.FormatSize(int64(len(data)))
}

func binary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }
