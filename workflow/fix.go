package workflow

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// maxFixes bounds the rounds of [Fix]. Each round fixes all mistakes that do not touch each other, so it takes few.
const maxFixes = 20

// Fixed is one mistake that was fixed, with the lines removed and added. Its position is in the text as it was in its round
// of [Fix].
type Fixed struct {
	diag.Diagnostic
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}

// Fix fixes the mechanical mistakes of a workflow note, those whose diagnostics have edits, until none is left. It leaves the
// prompt text, the instructions, the author's notes above the first section, the line ends and every other byte alone. An
// optional function more returns further diagnostics of a plan, such as those of [Check]. The result is src itself if there
// was nothing to fix.
func Fix(name, file string, src []byte, more func(*Plan) []diag.Diagnostic) ([]byte, []Fixed) {
	var all []Fixed
	for range maxFixes {
		plan, list := Parse(name, file, src)
		if more != nil {
			list = append(list, more(plan)...)
		}
		out, fixed := Apply(src, list)
		if len(fixed) == 0 || bytes.Equal(out, src) {
			break
		}
		src, all = out, append(all, fixed...)
	}
	return src, all
}

// Apply makes the edits of diagnostics to a workflow note, in one round. If the edits of two diagnostics touch, it applies
// the first and skips the other. It also skips edits outside the source or to lines that are not the language's. It applies
// all edits of a diagnostic or none.
func Apply(src []byte, list []diag.Diagnostic) ([]byte, []Fixed) {
	index := indexLines(src)
	prompt := promptLines(src)
	var (
		taken []change
		fixed []Fixed
	)
	for _, d := range list {
		own, ok := index.changes(d.Edits)
		if !ok || touches(d.Edits, prompt) || slices.ContainsFunc(own, func(c change) bool { return c.collides(taken) }) {
			continue
		}
		removed, added := difference(index.src, index.apply(own))
		if removed == nil && added == nil {
			continue
		}
		taken = append(taken, own...)
		fixed = append(fixed, Fixed{d, removed, added})
	}
	if len(taken) == 0 {
		return src, nil
	}
	return index.apply(taken), fixed
}

// touches reports whether an edit changes one of the lines.
func touches(edits []diag.Edit, lines map[int]bool) bool {
	return slices.ContainsFunc(edits, func(e diag.Edit) bool {
		last := e.EndLine
		if last > e.Line && e.EndColumn == 1 {
			last--
		}
		for line := e.Line; line <= last; line++ {
			if lines[line] {
				return true
			}
		}
		return false
	})
}

// change is an edit in bytes of the source.
type change struct {
	start, end int
	text       string
}

// collides reports whether a change overlaps an earlier one. Adjacent changes do not overlap.
func (c change) collides(taken []change) bool {
	return slices.ContainsFunc(taken, func(t change) bool {
		if c.start == c.end && t.start == t.end {
			return c.start == t.start
		}
		return c.start < t.end && t.start < c.end
	})
}

// lineIndex converts positions to byte offsets.
type lineIndex struct {
	src   []byte
	lines []span // without line ends; the first one without a byte order mark
	end   string // the source's first line end
}

type span struct{ start, end int }

func indexLines(src []byte) lineIndex {
	x := lineIndex{src: src, end: "\n"}
	start := len(src) - len(bytes.TrimPrefix(src, []byte("\uFEFF")))
	for i := start; i < len(src); i++ {
		if src[i] != '\n' && src[i] != '\r' {
			continue
		}
		end := i
		if src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			i++
		}
		if len(x.lines) == 0 {
			x.end = string(src[end : i+1])
		}
		x.lines = append(x.lines, span{start, end})
		start = i + 1
	}
	x.lines = append(x.lines, span{start, len(src)})
	return x
}

// offset returns the byte offset of a position; column 1 of the line after the last is the end.
func (x lineIndex) offset(line, column int) (int, bool) {
	if line == len(x.lines)+1 && column == 1 {
		return len(x.src), true
	}
	if line < 1 || line > len(x.lines) || column < 1 {
		return 0, false
	}
	text := string(x.src[x.lines[line-1].start:x.lines[line-1].end])
	for i := range text {
		if column == 1 {
			return x.lines[line-1].start + i, true
		}
		column--
	}
	return x.lines[line-1].end, column == 1
}

// changes converts edits to byte ranges; ok is false if there are none, or one is outside the source.
func (x lineIndex) changes(edits []diag.Edit) (list []change, ok bool) {
	for _, e := range edits {
		start, ok := x.offset(e.Line, e.Column)
		end, also := x.offset(e.EndLine, e.EndColumn)
		c := change{start, end, strings.ReplaceAll(e.New, "\n", x.end)}
		if !ok || !also || end < start || c.collides(list) {
			return nil, false
		}
		list = append(list, c)
	}
	return list, len(list) > 0
}

// apply makes changes that do not collide.
func (x lineIndex) apply(list []change) []byte {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b change) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	var out bytes.Buffer
	at := 0
	for _, c := range list {
		out.Write(x.src[at:c.start])
		out.WriteString(c.text)
		at = c.end
	}
	out.Write(x.src[at:])
	return out.Bytes()
}

// difference returns the lines between the common beginning and the common end of two texts.
func difference(before, after []byte) (removed, added []string) {
	if bytes.Equal(before, after) {
		return nil, nil
	}
	a, b := textLines(before), textLines(after)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return slices.Clone(a), slices.Clone(b)
}

func textLines(src []byte) []string {
	x := indexLines(src)
	lines := make([]string, len(x.lines))
	for i, l := range x.lines {
		lines[i] = string(src[l.start:l.end])
	}
	return lines
}

// promptLines returns the lines that no fix may change: instructions, prompts, and the author's notes above the first
// section. In a note that cannot be split into sections these are all lines.
func promptLines(src []byte) map[int]bool {
	n := &source{}
	lines := map[int]bool{}
	if !n.read(src, &report{}) {
		for i := range indexLines(src).lines {
			lines[i+1] = true
		}
		return lines
	}
	sections := (&bodyReader{src: n, out: &report{}}).sections()
	var first int
	if sections == nil {
		sections = []section{{lines: strings.Split(string(n.body), "\n"), first: Position{Line: n.bodyLine, Column: 1}}}
		first = n.bodyLine
	} else {
		first = sections[0].at.Line
	}
	for line := n.bodyLine; line < first; line++ {
		lines[line] = true
	}
	for _, s := range sections {
		rest := 0
		if !instructional.MatchString(s.name) {
			block, _ := directives.Cut(s.lines, s.first)
			rest = fixable(s.lines, block.Rest)
		}
		for i := rest; i < len(s.lines); i++ {
			lines[s.first.Line+i] = true
		}
	}
	return lines
}
