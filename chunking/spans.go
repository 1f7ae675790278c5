package chunking

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"go.abhg.dev/goldmark/wikilink"
)

// goldmark knows where a node starts and not where it ends. These parsers stand around goldmark's own and note where
// the reader is when a link, an image or a wikilink has been read.

// linkParser is goldmark's link parser with ends noted.
type linkParser struct {
	parser.InlineParser
	ends map[ast.Node]int
	// left is how many bytes of destinations may still be read. Each destination runs to the next space, so a note gets
	// by with its own length; `![a](![a](…` would read the rest of its line again and again.
	left *int
}

// Parse implements parser.InlineParser.
func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); bytes.HasPrefix(line, []byte("](")) {
		if *p.left < 0 {
			return nil
		}
		size := bytes.IndexAny(line, " \t\n")
		if size < 0 {
			size = len(line)
		}
		if *p.left -= size; *p.left < 0 {
			return nil
		}
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if image, ok := n.(*ast.Image); ok {
		_, seg := block.Position()
		p.ends[image] = seg.Start
	}
	return n
}

// CloseBlock implements parser.CloseBlocker, which goldmark's link parser needs to turn open brackets into text.
func (p linkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// wikilinkParser is the wikilink library's parser with ends noted. It hands the library one link at a time: the
// library searches the whole rest of the line for each bracket, takes a link that holds another one, and refuses one
// with an empty display text.
type wikilinkParser struct {
	*wikilink.Parser
	ends map[ast.Node]int
}

// Parse implements parser.InlineParser.
func (p wikilinkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, seg := block.PeekLine()
	mark := bytes.TrimPrefix(line, []byte("!"))
	if !bytes.HasPrefix(mark, []byte("[[")) {
		return nil
	}
	open := len(line) - len(mark) + 2
	size := closing(line[open:])
	if size <= 0 {
		return nil // not closed on this line, or another link starts before, or nothing inside
	}
	lines := text.NewSegments()
	lines.Append(text.NewSegment(seg.Start, seg.Start+open+size+2))
	n := p.Parser.Parse(parent, text.NewBlockReader(block.Source(), lines), pc)
	if n == nil {
		n = &wikilink.Node{Embed: open == 3}
	}
	block.Advance(open + size + 2)
	n.(*wikilink.Node).SetPos(seg.Start)
	p.ends[n] = seg.Start + open + size + 2
	return n
}

// closing is where a link's `]]` stands; -1 when a `[[` or the line's end comes first.
func closing(line []byte) int {
	for i := 0; i+1 < len(line); i++ {
		switch {
		case line[i] == ']' && line[i+1] == ']':
			return i
		case line[i] == '[' && line[i+1] == '[':
			return -1
		}
	}
	return -1
}
