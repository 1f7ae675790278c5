// Package diff shows how a file changes: a unified diff of two contents. It reads and writes nothing.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/visible"
)

// Nothing is the name of the side on which there is no file.
const Nothing = "/dev/null"

const (
	maxBytes = 1 << 20 // of one content: nobody reads more
	around   = 3       // lines shown before and behind a change
)

// Notice begins a line at the head of a diff that says something about it.
const Notice = "! "

// Unified returns the unified diff of two contents with a final line feed, or "" when they are equal. An empty name becomes
// [Nothing]. For contents that are not UTF-8, or are longer than 1 MiB, one sentence with their sizes replaces the lines. Texts
// that differ very much get a correct diff that is not the shortest, to save time. The diff is for people: invisible
// characters are shown as package visible does, as are spaces at the ends of changed lines, and a first line with [Notice]
// announces them.
func Unified(before, after []byte, nameBefore, nameAfter string) string {
	if bytes.Equal(before, after) {
		return ""
	}
	switch {
	case max(len(before), len(after)) > maxBytes:
		return inWords("too long to be shown line by line", before, after, nameBefore, nameAfter)
	case binary(before) || binary(after):
		return inWords("not a text", before, after, nameBefore, nameAfter)
	}
	return lines(before, after, nameBefore, nameAfter)
}

// Whole is [Unified] for somebody who must see everything that will be there: of any length, and with the characters that make
// a text no text. whole is false when the content after cannot be shown because it is not UTF-8.
func Whole(before, after []byte, nameBefore, nameAfter string) (text string, whole bool) {
	switch {
	case bytes.Equal(before, after):
		return "", true
	case !utf8.Valid(after):
		return inWords("not a text", before, after, nameBefore, nameAfter), false
	case !utf8.Valid(before) && nameAfter == "":
		return inWords("not a text", before, after, nameBefore, nameAfter), true
	case !utf8.Valid(before):
		return Notice + "The content before is not a text (" + size(before, nameBefore) + "); this is the whole content after.\n" + lines(nil, after, nameBefore, nameAfter), true
	}
	return lines(before, after, nameBefore, nameAfter), true
}

// Plain is [Unified] for a program or a model: every character is as it is. ok is false for contents that are no texts or are too long.
func Plain(before, after []byte, name string) (text string, ok bool) {
	if max(len(before), len(after)) > maxBytes || binary(before) || binary(after) {
		return "", false
	}
	name = side(name)
	text, err := udiff.ToUnified(name, name, string(before), udiff.Lines(string(before), string(after)), around)
	return text, err == nil
}

// lines is the diff of two texts.
func lines(before, after []byte, nameBefore, nameAfter string) string {
	if max(len(before), len(after)) > maxBytes {
		return shown(replaced(string(before), string(after)), nameBefore, nameAfter)
	}
	edits := udiff.Lines(string(before), string(after))
	text, err := udiff.ToUnified("a", "b", string(before), edits, around)
	if err != nil { // the edits are the library's own
		return inWords("not to be shown line by line", before, after, nameBefore, nameAfter)
	}
	_, text, _ = strings.Cut(text, "\n") // its two lines of names
	_, text, _ = strings.Cut(text, "\n")
	return shown(text, nameBefore, nameAfter)
}

// side is a name on one line.
func side(name string) string {
	if name == "" {
		return Nothing
	}
	return visible.Name(name)
}

func inWords(why string, before, after []byte, nameBefore, nameAfter string) string {
	nameBefore, nameAfter = side(nameBefore), side(nameAfter)
	name := nameAfter
	if name == Nothing {
		name = nameBefore
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s is %s: %s before, %s after\n", nameBefore, nameAfter, name, why, size(before, nameBefore), size(after, nameAfter))
}

func size(data []byte, name string) string {
	if name == Nothing || name == "" {
		return "nothing"
	}
	return content.FormatSize(int64(len(data)))
}

func binary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }
