package note

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// RenewSection is [ReplaceSection] for a section in which others write, too: only the lines of own, the texts that the caller wrote
// there before, make room for the new text. kept are the other lines, which stay where they were beside the lines that stay.
func RenewSection(note []byte, heading, text string, own []string) (data []byte, kept []string, err error) {
	level, name := headingText(heading)
	if name == "" {
		return nil, nil, errors.New("the heading is empty")
	}
	eol := LineEnd(note)
	start, end, found := findSection(note, name)
	if !found {
		data, err = addSection(note, level, name, text, eol)
		return data, nil, err
	}
	s := section{name, start, start + headingLength(note[start:end]), end, end}
	text, kept = renew(string(note[s.body:s.stop]), withoutHeading(text, name), own)
	data, err = s.with(note, strings.ReplaceAll(text, "\n", eol), eol)
	return data, kept, err
}

// SectionText returns the text below a heading.
func SectionText(note []byte, heading string) string {
	_, name := headingText(heading)
	start, end, found := findSection(note, name)
	if !found {
		return ""
	}
	return Trim(string(note[start+headingLength(note[start:end]) : end]))
}

// Added returns the lines of a text that are not in the text before it.
func Added(before, after string) string {
	had, added := unitsOf(before), []string{}
	for _, u := range unitsOf(after) {
		if !contains(had, u) {
			added = append(added, u.text)
		}
	}
	return strings.Join(added, "\n\n")
}

// unit is what stays or goes as one: a line with the wordless lines right below it (of a table's head, of a heading), or a whole block
// of code, math or comment.
type unit struct {
	text string // without blanks at the ends of lines
	gap  int    // blank lines before it
	open bool   // a block that nothing closes

	kept bool // somebody else's
}

// key is what makes units equal: indentation does not.
func (u unit) key() string { return strings.TrimSpace(u.text) }

func (u unit) wordless() bool { return !strings.ContainsFunc(u.text, isWord) }

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

func (u unit) indent() int { return len(u.text) - len(strings.TrimLeft(u.text, " \t")) }

func contains(list []unit, u unit) bool {
	return slices.ContainsFunc(list, func(o unit) bool { return o.key() == u.key() })
}

// unitsOf divides a text.
func unitsOf(text string) (list []unit) {
	gap, closes := 0, (func(string) bool)(nil)
	for line := range strings.SplitSeq(Trim(text), "\n") {
		line = strings.TrimRight(line, " \t\r")
		last := len(list) - 1
		switch {
		case closes != nil:
			list[last].text += "\n" + line
			if closes(strings.TrimSpace(line)) {
				list[last].open, closes = false, nil
			}
		case line == "":
			gap++
		case last >= 0 && gap == 0 && (unit{text: line}).wordless() && blockEnd(line) == nil:
			list[last].text += "\n" + line
		default:
			closes = blockEnd(line)
			list, gap = append(list, unit{text: line, gap: gap, open: closes != nil}), 0
		}
	}
	return list
}

var fence = regexp.MustCompile("^(`{3,}[^`]*|~{3,}.*)$")

// blockEnd returns what recognises the end of the block that a line opens, or nil.
func blockEnd(line string) func(string) bool {
	line = strings.TrimSpace(line)
	if fence.MatchString(line) {
		marks := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
		return func(l string) bool { return strings.HasPrefix(l, marks) && strings.Trim(l, line[:1]) == "" }
	}
	for _, pair := range [][2]string{{"$$", "$$"}, {"%%", "%%"}, {"<!--", "-->"}} {
		if rest, opens := strings.CutPrefix(line, pair[0]); opens && !strings.Contains(rest, pair[1]) {
			return func(l string) bool { return strings.Contains(l, pair[1]) }
		}
	}
	return nil
}

// renew returns a new text with what others wrote into the old one.
func renew(old, text string, own []string) (renewed string, kept []string) {
	theirs, ours := unitsOf(old), unitsOf(text)
	var mine []unit
	for _, o := range own {
		mine = append(mine, unitsOf(o)...)
	}
	mine = append(mine, ours...)
	for i, u := range theirs {
		if theirs[i].kept = !contains(mine, u) || u.wordless() && i > 0 && theirs[i-1].kept; theirs[i].kept {
			kept = append(kept, u.text)
		}
	}
	if len(kept) == 0 {
		return text, nil
	}
	same := alike(theirs, ours)
	keepParents(theirs, same)
	return joinUnits(merged(theirs, ours, same)), kept
}

// keepParents keeps the items of a list that kept ones are indented below.
func keepParents(list []unit, same [][2]int) {
	depth := 0
	for i, u := range slices.Backward(list) {
		stays := slices.ContainsFunc(same, func(pair [2]int) bool { return pair[0] == i })
		if list[i].kept = u.kept || u.indent() < depth && !stays; list[i].kept || u.indent() < depth {
			depth = u.indent()
		}
	}
}

// placed is a unit of the merged text with where it comes from; -1: not from there.
type placed struct {
	unit

	their, our int
	theirGap   int
}

// merged returns the new units and the kept ones in order. same has the pairs of equal units.
func merged(theirs, ours []unit, same [][2]int) (out []placed) {
	i, j := 0, 0
	for _, pair := range append(slices.Clone(same), [2]int{len(theirs), len(ours)}) {
		var before, behind []placed
		later := false // what follows comes behind the new text
		for first := i; i < pair[0]; i++ {
			u := theirs[i]
			later = later || !u.kept || u.open || pair[0] == len(theirs) && len(same) > 0 && u.indent() == 0
			switch p := (placed{u, i, -1, u.gap}); {
			case !u.kept:
			case later && (i > first || u.indent() == 0):
				behind = append(behind, p)
			default:
				before = append(before, p)
			}
		}
		out = append(out, before...)
		for ; j < pair[1]; j++ {
			out = append(out, placed{ours[j], -1, j, 0})
		}
		out = append(out, behind...)
		if i < len(theirs) {
			out = append(out, placed{ours[j], i, j, theirs[i].gap})
			i, j = i+1, j+1
		}
	}
	return out
}

// joinUnits writes units as a text. Neighbours keep the blank lines between them.
func joinUnits(list []placed) string {
	var b strings.Builder
	for n, p := range list {
		if n > 0 {
			b.WriteString(strings.Repeat("\n", 1+p.blanksAfter(list[n-1])))
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// blanksAfter returns how many blank lines follow the unit before.
func (p placed) blanksAfter(last placed) int {
	switch {
	case p.our > 0 && last.our == p.our-1:
		return p.gap
	case p.their > 0 && last.their == p.their-1:
		return p.theirGap
	case p.our < 0 && p.theirGap > 0 || strings.Contains(p.text, "\n"):
		return 1
	}
	return len(gapBetween(last.text, p.text, "\n")) - 1
}

// maxAlike bounds the work of alike.
const maxAlike = 1 << 24

// alike returns the longest common subsequence of units as pairs of their places. What others wrote is in none.
func alike(theirs, ours []unit) (same [][2]int) {
	n, m := len(theirs), len(ours)
	if n*m > maxAlike {
		return nil
	}
	equal := func(i, j int) bool { return !theirs[i].kept && theirs[i].key() == ours[j].key() }
	longest := make([][]int32, n+1)
	longest[n] = make([]int32, m+1)
	for i := n - 1; i >= 0; i-- {
		longest[i] = make([]int32, m+1)
		for j := m - 1; j >= 0; j-- {
			if equal(i, j) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case equal(i, j):
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same
}
