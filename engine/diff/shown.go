package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
)

// shown makes the lines of a diff visible, and puts its head before them.
func shown(body, nameBefore, nameAfter string) string {
	var b, raw strings.Builder
	showEnds := mixesEnds(body)
	list := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for i, line := range list {
		if line == "" || strings.HasPrefix(line, "@@") || strings.HasPrefix(line, `\`) {
			b.WriteString(line + "\n")
			continue
		}
		text, end := line[1:], ""
		if t, has := strings.CutSuffix(text, "\r"); has {
			text = t
			if alone := i+1 < len(list) && strings.HasPrefix(list[i+1], `\`); showEnds || alone { // alone: at the end of the file
				end = "<U+000D>"
			}
		}
		raw.WriteString(text + "\n")
		b.WriteByte(line[0])
		if line[0] == ' ' {
			text = visible.Text(text)
		} else {
			text = visible.Line(text)
		}
		b.WriteString(text + end + "\n")
	}
	head := ""
	if said := visible.Warning(raw.String()); said != "" {
		head = Notice + said + "\n"
	}
	if showEnds {
		head += Notice + "Some lines end with a carriage return, others do not: <U+000D>.\n"
	}
	return fmt.Sprintf("%s--- %s\n+++ %s\n%s", head, side(nameBefore), side(nameAfter), b.String())
}

// mixesEnds reports whether some lines of a diff end with a carriage return and others do not.
func mixesEnds(body string) bool {
	with, without := false, false
	for line := range strings.Lines(body) {
		switch {
		case strings.HasPrefix(line, "@@") || strings.HasPrefix(line, `\`):
		case strings.HasSuffix(line, "\r\n"):
			with = true
		default:
			without = true
		}
	}
	return with && without
}

// replaced is the diff of two texts that are too long to be compared line by line: what is the same at their beginnings and
// ends is left out, and everything between is replaced.
func replaced(before, after string) string {
	old, now := splitLines(before), splitLines(after)
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	from, to := max(0, head-around), max(0, tail-around)
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(from, len(old)-to), span(from, len(now)-to))
	put := func(op string, lines []string) {
		for _, line := range lines {
			b.WriteString(op + strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	put(" ", old[from:head])
	put("-", old[head:len(old)-tail])
	put("+", now[head:len(now)-tail])
	put(" ", now[len(now)-tail:len(now)-to])
	return b.String()
}

// splitLines returns the lines of a text, each with its line feed.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// Continued marks a page that begins in the middle of a line.
const Continued = "» "

// Pages splits a diff into pages of at most size bytes, between lines where possible. Nothing is left out. A page that begins
// in the middle of a line starts with [Continued].
func Pages(text string, size int) []string {
	var pages []string
	mark := ""
	for len(mark)+len(text) > size {
		at := size - len(mark)
		if end := strings.LastIndexByte(text[:at], '\n') + 1; end > 0 {
			pages = append(pages, mark+text[:end])
			text, mark = text[end:], ""
			continue
		}
		for !utf8.RuneStart(text[at]) {
			at--
		}
		pages = append(pages, mark+text[:at])
		text, mark = text[at:], Continued
	}
	return append(pages, mark+text)
}
