package note

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
)

// ReplaceSection puts a text below a heading of a note, in place of the text up to the next heading of the same
// or a higher level. The heading is found as Obsidian finds it; one that is not there is added at the end. The heading's
// line, the blank lines around the text and everything else stay byte for byte.
func ReplaceSection(note []byte, heading, text string) ([]byte, error) {
	data, _, err := RenewSection(note, heading, text, []string{SectionText(note, heading)})
	return data, err
}

// AppendSection puts a text below what a heading of a note has, before the first heading of a lower level: a text that begins with
// a heading comes behind these. Items of lists and rows of tables join those before them, without a head that the table has;
// anything else follows a blank line. The heading is found as by [ReplaceSection], and every byte of the note stays.
func AppendSection(note []byte, heading, text string) ([]byte, error) {
	level, name := headingText(heading)
	if name == "" {
		return nil, errors.New("the heading is empty")
	}
	eol := LineEnd(note)
	s, found := sectionOf(note, name)
	if !found {
		return addSection(note, level, name, text, eol)
	}
	return s.append(note, withoutHeading(text, name), eol)
}

// section is where a heading and what is below it are in a note.
type section struct {
	name  string
	start int // of the heading
	body  int // behind the heading's line
	stop  int // end of the part that is changed
	end   int // of all that belongs to the heading
}

// sectionOf finds a heading. The part that is changed ends at the first heading below it.
func sectionOf(note []byte, name string) (section, bool) {
	start, end, found := findSection(note, name)
	if !found {
		return section{}, false
	}
	s := section{name: name, start: start, body: start + headingLength(note[start:end]), stop: end, end: end}
	for _, h := range chunking.Headings(note) {
		if h.Start >= s.body && h.Start < s.stop {
			s.stop = h.Start
			break
		}
	}
	return s, true
}

// append puts a text below the one that is there.
func (s section) append(note []byte, text, eol string) ([]byte, error) {
	if text == "" {
		return note, nil
	}
	if strings.HasPrefix(text, "#") {
		s.stop = s.end
	}
	text = strings.ReplaceAll(text, "\n", eol)
	if lead, core, _ := blankAround(note[s.body:s.stop]); core > 0 {
		had := string(note[s.body+len(lead) : s.body+len(lead)+core])
		if text = withoutHead(had, text); text == "" {
			return note, nil
		}
		text = had + gapBetween(had, text, eol) + text
	}
	return s.with(note, text, eol)
}

// with puts a text in place of that between body and stop. The blank lines around it stay.
func (s section) with(note []byte, text, eol string) ([]byte, error) {
	lead, core, tail := blankAround(note[s.body:s.stop])
	if core == 0 {
		lead, tail = emptyBody(note[s.body:s.stop], s.stop < len(note), eol)
		if s.body > 0 && note[s.body-1] != '\n' { // the heading is the file's last line, without a break
			lead, tail = []byte(eol+eol), nil
		}
	}
	rest := len(note) - s.end
	with := func(gap string) []byte {
		return bytes.Join([][]byte{note[:s.body], lead, []byte(text), tail, []byte(gap), note[s.stop:]}, nil)
	}
	// A heading that is underlined needs a blank line before it, or the text would become a part of it.
	for _, out := range [][]byte{with(""), with(eol)} {
		if from, to, found := findSection(out, s.name); found && from == s.start && to == len(out)-rest {
			return out, nil
		}
	}
	if rest > 0 && len(tail) <= len(eol) {
		tail = append(tail, eol...)
	}
	out := with("")
	if from, to, found := findSection(out, s.name); found && from == s.start && to < len(out)-rest {
		return out, nil // the text has headings of its own that end the section
	}
	return nil, fmt.Errorf("the text below %q would swallow what follows it: it leaves a code block or a comment open", s.name)
}

var listLine = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)

// gapBetween is what divides two texts: a blank line, unless the second continues a list or a table of the first. A table with a head of
// its own continues none.
func gapBetween(before, text, eol string) string {
	last := before[strings.LastIndexByte(before, '\n')+1:]
	first, rest, _ := strings.Cut(text, "\n")
	divider, _, _ := strings.Cut(rest, "\n")
	row := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "|") }
	inList := listLine.MatchString(last) || strings.HasPrefix(last, " ") || strings.HasPrefix(last, "\t")
	if inList && listLine.MatchString(first) || row(last) && row(first) && !tableDivider.MatchString(divider) {
		return eol
	}
	return eol + eol
}

// withoutHead returns a text without the head of its first table, if the text before it ends in a table with the same columns.
func withoutHead(before, text string) string {
	head, rest, _ := strings.Cut(text, "\n")
	divider, rest, _ := strings.Cut(rest, "\n")
	if !tableDivider.MatchString(divider) {
		return text
	}
	lines := strings.Split(before, "\n")
	first := len(lines)
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "|") {
		first--
	}
	if len(lines)-first < 2 || !tableDivider.MatchString(lines[first+1]) || !slices.EqualFunc(cells(lines[first]), cells(head), strings.EqualFold) {
		return text
	}
	return rest
}

var tableDivider = regexp.MustCompile(`^\s*\|(?:\s*:?-+:?\s*\|)+\s*$`)

func cells(row string) []string {
	all := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// Spills reports whether a text below a heading holds a heading of the same or a higher level, so that the section ends
// before the text does.
func Spills(note []byte, heading, text string) bool {
	_, name := headingText(heading)
	start, end, found := findSection(note, name)
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return found && !bytes.Contains(note[start:end], []byte(last))
}

// headingText divides `## Plan` into its level and its words; without marks the level is 2.
func headingText(heading string) (level int, name string) {
	name = strings.TrimSpace(heading)
	marks := len(name) - len(strings.TrimLeft(name, "#"))
	if marks == 0 || marks > 6 {
		return 2, name
	}
	return marks, strings.TrimSpace(name[marks:])
}

// findSection is chunking.Section for a heading that is one text: a # in it divides no path.
func findSection(note []byte, name string) (start, end int, found bool) {
	return chunking.Section(note, " "+strings.ReplaceAll(name, "#", " "))
}

// addSection puts a heading with the text at the end of a note.
func addSection(note []byte, level int, name, text, eol string) ([]byte, error) {
	gap := eol + eol
	switch {
	case len(bytes.TrimSpace(note)) == 0 || bytes.HasSuffix(note, []byte("\n\n")) || bytes.HasSuffix(note, []byte("\n\r\n")):
		gap = ""
	case bytes.HasSuffix(note, []byte("\n")):
		gap = eol
	}
	section := strings.Repeat("#", level) + " " + name + "\n\n" + withoutHeading(text, name)
	if len(note) == 0 || bytes.HasSuffix(note, []byte("\n")) {
		section += "\n"
	}
	out := append(bytes.Clone(note), gap+strings.ReplaceAll(section, "\n", eol)...)
	if at, _, found := findSection(out, name); !found || at != len(note)+len(gap) {
		return nil, fmt.Errorf("a heading %q cannot be added at the end: something before it is not closed (a code block, a comment), or it is no text for a heading", name)
	}
	return out, nil
}

// headingLength is the length of the heading's own lines: one, or those of a setext heading with its underline.
func headingLength(section []byte) int {
	first := behindLine(section, 0)
	if bytes.HasPrefix(bytes.TrimLeft(section[:first], " "), []byte("#")) {
		return first
	}
	for at := first; at < len(section); {
		next := behindLine(section, at)
		line := bytes.TrimSpace(section[at:next])
		if len(line) > 0 && (len(bytes.Trim(line, "=")) == 0 || len(bytes.Trim(line, "-")) == 0) {
			return next
		}
		at = next
	}
	return first
}

func behindLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// blankAround divides a body into the blank lines before its text, the length of the text, and what follows it:
// its last line's break and blank lines.
func blankAround(body []byte) (lead []byte, core int, tail []byte) {
	at := 0
	for at < len(body) {
		next := behindLine(body, at)
		if len(bytes.TrimSpace(body[at:next])) > 0 {
			break
		}
		at = next
	}
	end := len(bytes.TrimRight(body, " \t\r\n"))
	if end <= at {
		return body, 0, nil
	}
	// Blanks at the end of the text's last line go with the text.
	line := end + len(body[end:behindLine(body, end)])
	tail = bytes.TrimLeft(body[end:line], " \t")
	return body[:at], end - at, append(bytes.Clone(tail), body[line:]...)
}

// emptyBody is what stands around the first text below a heading: a blank line before it, and one behind it when another
// heading follows. Blank lines that are there already are used.
func emptyBody(body []byte, follows bool, eol string) (lead, tail []byte) {
	first := behindLine(body, 0)
	lead, tail = body[:first], append([]byte(eol), body[first:]...)
	if first == 0 {
		lead = []byte(eol)
	}
	if follows && first == len(body) {
		tail = []byte(eol + eol)
	}
	return lead, tail
}

// withoutHeading takes the heading itself off an answer that begins with it, and blank lines around the rest.
func withoutHeading(text, name string) string {
	text = Trim(text)
	first, rest, _ := strings.Cut(text, "\n")
	if level, said := headingText(first); strings.HasPrefix(first, "#") && level > 0 && strings.EqualFold(said, name) {
		text = strings.Trim(rest, "\n")
	}
	return text
}
