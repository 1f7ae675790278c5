package prompt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
)

// selected is the part of a file that a directive asks for.
type selected struct {
	ranges [][2]int // bytes, ascending, not overlapping
	words  string   // what the prompt says about it; empty when nothing is cut
	why    string   // the parameter, for the receipt
	lost   string   // what is wrong with it, for a warning: it asks for lines behind the last one
}

// selection applies properties, else lines, head and tail, one after the other.
func selection(d directives.Input, data []byte) selected {
	if d.Properties != nil {
		return properties(d.Properties.Keys, data)
	}
	from, to := 0, len(data)
	var said, why []string
	if d.Lines != nil {
		first, last, all := lineRange(data, *d.Lines, &from, &to)
		if first > last {
			return behindTheEnd(data, first, all)
		}
		said = append(said, fmt.Sprintf("lines %d-%d of %d", first, last, all))
		why = append(why, "lines")
	}
	if n, all := d.Head, utf8.RuneCount(data[from:to]); n > 0 && n < all {
		to = from + runes(data[from:to], n)
		said = append(said, fmt.Sprintf("the first %d of %d characters", n, all))
		why = append(why, "head")
	}
	if n, all := d.Tail, utf8.RuneCount(data[from:to]); n > 0 && n < all {
		from += runes(data[from:to], all-n)
		said = append(said, fmt.Sprintf("the last %d of %d characters", n, all))
		why = append(why, "tail")
	}
	s := selected{ranges: [][2]int{{from, to}}}
	if len(said) > 0 && (from > 0 || to < len(data)) {
		s.words, s.why = "[shown: "+strings.Join(said, ", of these ")+"]", strings.Join(why, ", ")
	}
	return s
}

// behindTheEnd is the empty part that lines= asks for when the text is too short.
func behindTheEnd(data []byte, first, all int) selected {
	lost := fmt.Sprintf("lines= begins at line %d, and the text has %d", first, all)
	return selected{ranges: [][2]int{{len(data), len(data)}}, words: "[shown: nothing; " + lost + "]", why: "lines", lost: lost}
}

// lineRange narrows from and to to the lines, and returns the first, the last and the number of all lines.
func lineRange(data []byte, r directives.Range, from, to *int) (first, last, all int) {
	var starts []int
	for at := 0; at < len(data); {
		starts = append(starts, at)
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	all = len(starts)
	first, last = max(r.First, 1), r.Last
	if last == 0 || last > all {
		last = all
	}
	if first > last {
		*from, *to = len(data), len(data)
		return first, last, all
	}
	*from = starts[first-1]
	if last < all {
		*to = starts[last]
	}
	return first, last, all
}

// runes is the length of the first n characters, in bytes.
func runes(data []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(data); n-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}

// properties is the frontmatter, or the lines of some of its keys. Names are compared without case.
func properties(keys []string, data []byte) selected {
	size, block := chunking.Frontmatter(data)
	s := selected{why: "properties", words: "[shown: the properties]"}
	switch {
	case size == 0:
		s.words = "[shown: the properties; this file has none]"
		return s
	case len(keys) == 0:
		s.ranges = [][2]int{{0, size}}
		return s
	}
	s.words = "[shown: the properties " + quoted(list(keys)) + "]"
	start := bytes.Index(data, block)
	if len(block) == 0 || start < 0 {
		return s
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		s.ranges = [][2]int{{0, size}}
		s.words = "[shown: the properties; they cannot be taken apart]"
		return s
	}
	fields := doc.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		if !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, fields[i].Value) }) {
			continue
		}
		end := len(block)
		if i+2 < len(fields) {
			end = lineStart(block, fields[i+2].Line)
		}
		s.add(start+lineStart(block, fields[i].Line), start+end)
	}
	return s
}

// add appends a range, joined to the last one when they touch.
func (s *selected) add(from, to int) {
	if n := len(s.ranges); n > 0 && s.ranges[n-1][1] >= from {
		s.ranges[n-1][1] = max(to, s.ranges[n-1][1])
		return
	}
	if from < to {
		s.ranges = append(s.ranges, [2]int{from, to})
	}
}

// lineStart is the offset of a line, counted from 1.
func lineStart(data []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	return at
}

// piece is a chunk, or a part of a text chunk; cut is the parameter that left it out.
type piece struct {
	chunk chunking.Chunk
	cut   string
}

// clip divides chunks into what is shown and what is cut. A text chunk is divided where a range ends; a reference is
// shown only as a whole.
func (s selected) clip(chunks []chunking.Chunk) []piece {
	var out []piece
	for _, k := range chunks {
		at := k.Start
		for _, r := range s.ranges {
			from, to := max(r[0], at), min(r[1], k.End)
			if from >= to || k.Kind != chunking.Text && (from > k.Start || to < k.End) {
				continue
			}
			out = appendPiece(out, k, at, from, s.why)
			out = appendPiece(out, k, from, to, "")
			at = to
		}
		out = appendPiece(out, k, at, k.End, s.why)
	}
	return out
}

func appendPiece(out []piece, k chunking.Chunk, from, to int, cut string) []piece {
	if from >= to {
		return out
	}
	if cut == "" && from == k.Start && to == k.End {
		return append(out, piece{chunk: k})
	}
	part := k
	part.Start, part.End, part.Text = from, to, k.Text[from-k.Start:to-k.Start]
	part.FirstLine = k.FirstLine + strings.Count(k.Text[:from-k.Start], "\n")
	part.LastLine = part.FirstLine + strings.Count(strings.TrimSuffix(part.Text, "\n"), "\n")
	return append(out, piece{chunk: part, cut: cut})
}
