package chunking

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Most paragraphs hold no reference and no comment, and in a large one few lines do. A node for every piece of every
// line would cost ten times the note's own size, so lines that can neither be a part of a reference nor change how one
// is read are taken out of a paragraph before its inside is parsed.

// trimmer is a paragraph transformer that leaves the lines that matter for references. It comes after those that
// read definitions and tables.
type trimmer struct{}

// Transform implements parser.ParagraphTransformer.
func (trimmer) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	src, lines := reader.Source(), node.Lines()
	kept := text.NewSegments()
	open := -1 // the first line behind which something may be open
	matters := false
	for i := range lines.Len() {
		seg := lines.At(i)
		line := src[seg.Start:seg.Stop]
		if open < 0 && !contained(line) {
			open = i
		}
		switch marked := mayRefer(line); {
		case marked && open >= 0:
			matters = true
		case marked:
			kept.Append(seg)
		}
		if matters {
			break
		}
	}
	if matters {
		kept.AppendAll(lines.Sliced(open, lines.Len()))
	}
	if kept.Len() == 0 {
		// goldmark wants no paragraph without text. One byte holds nothing that the reader searches for.
		first := lines.At(0)
		if first = first.TrimLeftSpace(src); first.IsEmpty() {
			return
		}
		kept.Append(text.NewSegment(first.Start, first.Start+1))
	}
	node.SetLines(kept)
}

var imageMark, lowerTag, upperTag = []byte("!["), []byte("<i"), []byte("<I")

// mayRefer reports whether a reference or a comment may begin on the line.
func mayRefer(line []byte) bool {
	return bytes.Contains(line, imageMark) || bytes.Contains(line, commentMark) ||
		bytes.Contains(line, lowerTag) || bytes.Contains(line, upperTag)
}

// special are the bytes that can begin what ends on a later line, or hide a bracket.
const special = "`<$%[]\\"

// contained reports that nothing that begins on the line can reach beyond it, if nothing was open before. It may say no
// too often.
func contained(line []byte) bool {
	if !bytes.ContainsAny(line, special) {
		return true
	}
	var brackets, rounds int
	var bracket, target, hides, quote bool
	for i, c := range line {
		var next byte
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch c {
		case '[':
			bracket = true
			brackets++
		case ']':
			bracket = true
			target = target || next == '('
			if brackets--; brackets < 0 {
				return false
			}
		case '(':
			rounds++
		case ')':
			if rounds--; rounds < 0 {
				if target {
					return false
				}
				rounds = 0
			}
		case '"', '\'':
			quote = true
		case '`', '\\':
			hides = true
		case '$':
			hides = true
			if next == '$' {
				return false
			}
		case '%':
			if next == '%' {
				return false
			}
		case '<':
			if next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || next == '/' || next == '!' || next == '?' {
				return false
			}
		}
	}
	switch {
	case brackets != 0, hides && bracket, target && (quote || rounds != 0):
		return false
	}
	return bytes.IndexByte(line, '`') < 0 || evenTicks(line)
}

// evenTicks reports that code on the line ends on it: single backticks, an even number of them, none escaped.
func evenTicks(line []byte) bool {
	return bytes.Count(line, []byte("`"))%2 == 0 && !bytes.Contains(line, []byte("``")) && bytes.IndexByte(line, '\\') < 0
}
