package pdfium

import (
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// comment is an annotation with text.
type comment struct {
	kind    string // in words, as "Highlight"
	author  string
	covered string // the text under it
	text    string // what it says
	drawn   string // what is written in it, where that is something else
}

// field is a form field with the value that somebody entered. A field may have several places on a page.
type field struct{ name, value string }

// Annotations are the form fields of a page and the annotations that people made.
type Annotations struct {
	Marks int // annotations that are drawn, without fields and links

	fields   []field // in the order of the file
	comments []comment
	blank    int // fields without a value to read: buttons and passwords
}

// FieldCount returns the number of form fields.
func (a Annotations) FieldCount() int { return len(a.fields) + a.blank }

// The values of check boxes, as lists of tasks write them.
const (
	ticked   = "[x]"
	unticked = "[ ]"
)

// filled reports whether any field is filled in.
func (a Annotations) filled() bool {
	for _, f := range a.fields {
		if f.value != "" && f.value != unticked {
			return true
		}
	}
	return false
}

// AllRead reports whether fields are filled in, and everything that fields and annotations draw on the page is text that [Annotations.Markdown] has.
func (a Annotations) AllRead() bool { return a.filled() && a.blank == 0 && a.Marks == 0 }

// Markdown lists the fields that are filled in, and the comments as callouts. Check boxes are listed ticked or not; a form that
// nobody filled in is left out.
func (a Annotations) Markdown() string {
	var blocks []string
	if a.filled() {
		var lines []string
		said := map[field]bool{}
		for _, f := range a.fields {
			if f.value == "" || said[f] {
				continue
			}
			said[f] = true
			lines = append(lines, "- "+f.line())
		}
		blocks = append(blocks, "**Form fields**", strings.Join(lines, "\n"))
	}
	for _, c := range a.comments {
		blocks = append(blocks, c.callout())
	}
	return strings.Join(blocks, "\n\n")
}

func (f field) line() string {
	name := oneText(f.name)
	if name == "" {
		name = "(no name)"
	}
	if f.value == ticked || f.value == unticked {
		return f.value + " " + name
	}
	return name + ": " + strings.Join(textLines(f.value), " / ")
}

// callout is a comment as Obsidian shows it: its kind and author as title, the text it covers, and its own text.
func (c comment) callout() string {
	title := "> [!note] " + c.kind
	if author := oneText(c.author); author != "" {
		title += ", " + author
	}
	lines := []string{title}
	if covered := oneText(c.covered); covered != "" {
		lines = append(lines, "> “"+covered+"”")
	}
	if drawn := oneText(c.drawn); drawn != "" {
		lines = append(lines, "> "+drawn)
	}
	for i, text := range textLines(c.text) {
		if i == 0 && len(lines) > 1 {
			lines = append(lines, ">")
		}
		lines = append(lines, "> "+text)
	}
	return strings.Join(lines, "\n")
}

// textLines returns the lines of a text as Markdown that reads the same.
func textLines(s string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "\n")) {
		if line = oneText(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// inlineMarks escapes the signs with a meaning anywhere in a line of Markdown.
var inlineMarks = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "==", `\==`)

// oneText returns a text as one line of Markdown that reads the same.
func oneText(s string) string {
	s = inlineMarks.Replace(strings.Join(strings.Fields(layout.Normal(s)), " "))
	if strings.HasPrefix(s, "#") || strings.HasPrefix(s, ">") || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "+ ") ||
		strings.HasPrefix(s, "[!") || strings.HasPrefix(s, "|") || strings.HasPrefix(s, "---") {
		return `\` + s
	}
	return escapeDigits(s)
}

// escapeDigits keeps a line that begins with a number and a stop from being read as a list.
func escapeDigits(s string) string {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < 10 && strings.HasPrefix(s[digits:]+" ", ". ") || digits > 0 && strings.HasPrefix(s[digits:], ") ") {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// maxNoteRunes limits a value or a comment.
const maxNoteRunes = 20_000

// bounded returns a text of a file as valid UTF-8 that is not too long.
func bounded(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD"))
	if runes := []rune(s); len(runes) > maxNoteRunes {
		return string(runes[:maxNoteRunes-1]) + "…"
	}
	return s
}
