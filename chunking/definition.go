package chunking

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// goldmark reads the definitions at the top of a paragraph, `[a]: b.png`, in time that grows with the square of the
// paragraph's lines. Definitions of one plain line are read here instead, and others are handed to it in small parts.

// maxDefinitionLines is how many lines of a paragraph goldmark reads for definitions at a time.
const maxDefinitionLines = 500

// definitions stands around goldmark's paragraph transformer for definitions.
type definitions struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (d definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	src, lines := reader.Source(), node.Lines()
	value := func(i int) []byte {
		seg := lines.At(i)
		return seg.Value(src)
	}
	begins := func(i int) bool { return bytes.HasPrefix(bytes.TrimLeft(value(i), " "), []byte("[")) }
	at := 0
	for lines.Len()-at > maxDefinitionLines && begins(at) {
		if label, destination, ok := definition(value(at)); ok && begins(at+1) {
			pc.AddReference(parser.NewReference(label, destination, nil))
			at++
			continue
		}
		// A part ends before a line that can begin a definition, so that none is cut in its middle.
		end := at + maxDefinitionLines
		for end < lines.Len() && !begins(end) {
			end++
		}
		left := d.part(node, lines.Sliced(at, end), reader, pc)
		read := end - at - left
		at += read
		if read == 0 || left > 0 && !begins(at) {
			break
		}
	}
	if at > 0 {
		rest := text.NewSegments()
		rest.AppendAll(lines.Sliced(at, lines.Len()))
		node.SetLines(rest)
	}
	if node.Lines().Len() <= maxDefinitionLines {
		d.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// part reads the definitions of some lines and returns how many lines remain after them.
func (d definitions) part(node *ast.Paragraph, lines []text.Segment, reader text.Reader, pc parser.Context) int {
	one := ast.NewParagraph()
	one.Lines().AppendAll(lines)
	node.Parent().InsertBefore(node.Parent(), node, one)
	d.ParagraphTransformer.Transform(one, reader, pc)
	if one.Parent() == nil {
		return 0
	}
	one.Parent().RemoveChild(one.Parent(), one)
	return one.Lines().Len()
}

// definition reads a line that is a definition in its plainest form: no title, no brackets, nothing escaped.
func definition(line []byte) (label, destination []byte, ok bool) {
	rest := bytes.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || len(rest) == 0 || rest[0] != '[' {
		return nil, nil, false
	}
	label, rest, ok = bytes.Cut(rest[1:], []byte("]:"))
	if !ok || len(label) > 999 || bytes.ContainsAny(label, "[]\\") || len(bytes.TrimSpace(label)) == 0 {
		return nil, nil, false
	}
	destination = bytes.TrimSpace(rest)
	if len(destination) == 0 || destination[0] == '<' || bytes.ContainsAny(destination, " \t\r\f\v()\\\x00") {
		return nil, nil, false
	}
	return label, destination, true
}
