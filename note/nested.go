package note

import (
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
)

// maxLevel is the lowest level of headings.
const maxLevel = 6

// Nested returns a text whose headings are below a heading of a note: if one of them would end its section, all get as many levels
// deeper as it takes, but none gets deeper than 6. The heading itself at the text's beginning is left out.
func Nested(note []byte, heading, text string) string {
	level, name := headingText(heading)
	if start, _, found := findSection(note, name); found {
		for _, h := range chunking.Headings(note) {
			if h.Start == start {
				level = h.Level
			}
		}
	}
	text = withoutHeading(text, name)
	headings := chunking.Headings([]byte(text))
	deeper := 0
	for _, h := range headings {
		deeper = max(deeper, level+1-h.Level)
	}
	if deeper == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, h := range headings {
		marks := strings.Repeat("#", min(h.Level+deeper, maxLevel)) + " "
		end := h.Start + headingLength([]byte(text[h.Start:]))
		line := strings.TrimLeft(text[h.Start:end], " ")
		if rest := strings.TrimLeft(line, "#"); rest != line {
			line = strings.TrimLeft(rest, " \t")
		} else { // underlined
			lines := strings.Split(strings.TrimRight(line, "\n"), "\n")
			line = strings.Join(lines[:len(lines)-1], " ") + line[len(strings.TrimRight(line, "\n")):]
		}
		b.WriteString(text[at:h.Start] + marks + line)
		at = end
	}
	return b.String() + text[at:]
}
