package workflow

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// mend gives edits to the diagnostic that was added last.
func (n *note) mend(edits ...directives.Edit) {
	if len(n.list) > 0 {
		n.list[len(n.list)-1].Edits = edits
	}
}

// mendWord replaces a plain word of the frontmatter by the candidate that it must mean. A property that stands there
// under its right name as well is left alone.
func (n *note) mendWord(word *yaml.Node, candidates []string) {
	near, ok := directives.Certain(word.Value, candidates)
	if ok {
		n.rename(word, near)
	}
}

// rename replaces a plain word of the frontmatter, unless a property of that name stands on the same level.
func (n *note) rename(word *yaml.Node, name string) {
	at := n.node(word)
	if word.Style != 0 || !strings.HasPrefix(n.rest(at), word.Value) || n.beside(at, name) {
		return
	}
	n.mend(directives.Replace(at, utf8.RuneCountInString(word.Value), name))
}

// mendOldKey renames or deletes a property of AssistantMD.
func (n *note) mendOldKey(key *yaml.Node) {
	now := strings.ReplaceAll(strings.ToLower(key.Value), "-", "_")
	if slices.Contains(keyNames, now) {
		n.rename(key, now)
		return
	}
	at := n.node(key)
	if next := n.line(at.Line + 1); next == "" || !strings.ContainsAny(next[:1], " \t-") {
		n.mend(directives.Edit{Line: at.Line, Column: 1, EndLine: at.Line + 1, EndColumn: 1})
	}
}

// mendSchedule quotes an entry that takes the rest of its line, alone or in an indented list.
func (n *note) mendSchedule(at Position, written string) {
	entry := strings.TrimSpace(written)
	before := strings.TrimSuffix(n.line(at.Line), n.rest(at))
	if strings.ContainsAny(entry, "#\"\\") || strings.Trim(strings.TrimPrefix(before, "schedule:"), " -") != "" {
		return // a comment, half a quote or a list in brackets: a person must say where the entry ends
	}
	n.mend(directives.Replace(at, utf8.RuneCountInString(entry), strconv.Quote(entry)))
}

// mendEntry completes an entry of the schedule that lacks its kind, as the suggestion says.
func (n *note) mendEntry(entry *yaml.Node, fault *scheduleError) {
	quoted, found := strings.CutPrefix(fault.suggestion, "write ")
	if fault.code != directives.CodeScheduleForm || !found || strings.Contains(quoted, " or ") {
		return
	}
	at, text := n.node(entry), entry.Value
	switch rest := n.rest(at); {
	case entry.Style == 0 && strings.TrimSpace(rest) == text:
		n.mend(directives.Replace(at, utf8.RuneCountInString(text), quoted))
	case len(rest) > len(text) && strings.HasPrefix(rest[1:], text):
		at.Column++
		n.mend(directives.Replace(at, 0, quoted[1:strings.Index(quoted, ":")+1]+" "))
	}
}

// mendQuote quotes the rest of a line, which is one value.
func (n *note) mendQuote(at Position) {
	value := strings.TrimSpace(n.rest(at))
	if !strings.ContainsAny(value, "#\"\\") {
		n.mend(directives.Replace(at, utf8.RuneCountInString(value), strconv.Quote(value)))
	}
}

// line is a line of the frontmatter by its number in the note; "" outside.
func (n *note) line(number int) string {
	if i := number - n.metaLine - 1; i >= 0 && i < len(n.frontmatter) {
		return n.frontmatter[i]
	}
	return ""
}

// rest is the line of the frontmatter from a position on.
func (n *note) rest(at Position) string {
	line := []rune(n.line(at.Line))
	return string(line[min(at.Column-1, len(line)):])
}

// beside says whether a property of a name has the indentation of a position.
func (n *note) beside(at Position, name string) bool {
	return slices.ContainsFunc(n.frontmatter, func(line string) bool {
		trimmed := strings.TrimLeft(line, " ")
		return len(line)-len(trimmed) == at.Column-1 && strings.HasPrefix(trimmed, name+":")
	})
}
