package chunking

import (
	"bytes"
	"slices"

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
	dest map[ast.Node]int // where the destinations of inline links and images begin, with the blanks before them
	// left is how many bytes of destinations may still be read. Each destination runs to the next space, so a note gets
	// by with its own length; `![a](![a](…` would read the rest of its line again and again.
	left   int
	labels labelReader
	open   []bool // brackets that are open: whether a plain one. goldmark keeps the same stack to itself.
	plain  int    // how many of them are plain
}

// maxBrackets is how many plain brackets may be open at once; more are text. For each that is closed goldmark looks
// through all that stands inside.
const maxBrackets = 100

// Parse implements parser.InlineParser.
func (p *linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if line[0] != ']' {
		return p.opening(line[0] == '[', parent, block, pc)
	}
	if len(line) > 1 && line[1] == '(' {
		if p.left < 0 {
			return nil
		}
		size := bytes.IndexAny(line, " \t\n")
		if size < 0 {
			size = len(line)
		}
		if p.left -= size; p.left < 0 {
			return nil
		}
	}
	if n := len(p.open); n > 0 {
		if p.open[n-1] {
			p.plain--
		}
		p.open = p.open[:n-1]
	}
	p.labels.Reader, p.labels.lines = block, parent.Lines()
	if !p.labels.counted {
		p.labels.counted, p.labels.defined = true, len(pc.References()) > 0
	}
	_, bracket := block.Position()
	n := p.InlineParser.Parse(parent, &p.labels, pc)
	switch n := n.(type) {
	case *ast.Image:
		_, seg := block.Position()
		p.ends[n], p.dest[n] = seg.Start, bracket.Start+2
	case *ast.Link:
		p.dest[n] = bracket.Start + 2
	}
	return n
}

// opening reads `[` or `![`.
func (p *linkParser) opening(plain bool, parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if plain && p.plain >= maxBrackets {
		return nil
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil {
		return nil
	}
	p.open = append(p.open, plain)
	if plain {
		p.plain++
	}
	return n
}

// CloseBlock implements parser.CloseBlocker, which goldmark's link parser needs to turn open brackets into text.
func (p *linkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.open, p.plain = p.open[:0], 0
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// maxLabel is the longest label of a reference, in bytes: CommonMark's.
const maxLabel = 999

// labelReader supplies goldmark's link parser with the labels of references. goldmark's own reader looks through all lines of
// the paragraph for each of them and copies labels of any length, only to find that they are too long.
type labelReader struct {
	text.Reader
	lines            *text.Segments
	counted, defined bool // whether the note has definitions, once that is known
}

// tooLong is a label that goldmark refuses.
var tooLong = make([]byte, maxLabel+1)

// Value implements text.Reader. Where the bytes are no label of a definition it returns one that is too long. The link
// parser asks for titles too, which are not used.
func (r *labelReader) Value(seg text.Segment) []byte {
	if !r.defined {
		return tooLong
	}
	src := r.Source()
	i, _ := slices.BinarySearchFunc(r.lines.Sliced(0, r.lines.Len()), seg.Start, func(line text.Segment, at int) int {
		if line.Stop <= at {
			return -1
		}
		return 1
	})
	var label []byte
	for ; i < r.lines.Len() && len(label) <= maxLabel; i++ {
		line := r.lines.At(i)
		from, to := max(line.Start, seg.Start), min(line.Stop, seg.Stop)
		if from >= to {
			break
		}
		to = min(to, from+maxLabel+1)
		if nested(src[from:to]) {
			return tooLong
		}
		label = append(label, src[from:to]...)
	}
	return label
}

// nested reports whether there is an unescaped bracket, which no label can hold.
func nested(label []byte) bool {
	for i := 0; i < len(label); i++ {
		switch label[i] {
		case '\\':
			i++
		case '[', ']':
			return true
		}
	}
	return false
}

// wikilinkParser reads wikilinks into the wikilink library's nodes, whose Target is here all that stands between the
// brackets. The library's own parser searches the whole rest of the line for each bracket, takes a link that holds
// another one, and refuses one with an empty display text.
type wikilinkParser struct{ *wikilink.Parser }

// Parse implements parser.InlineParser.
func (wikilinkParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
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
	n := &wikilink.Node{Embed: open == 3, Target: line[open : open+size]}
	n.SetPos(seg.Start)
	block.Advance(open + size + 2)
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
