package chunking

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Comments are Obsidian's, and goldmark knows nothing of them. A line that begins with `%%` and does not close it opens a
// block that runs over blank lines to the next `%%`, or to the end. Any other `%%…%%` closes within its paragraph, or is
// text. In code and HTML the marks mean nothing.

var commentMark = []byte("%%")

var (
	kindComment      = ast.NewNodeKind("ObsidianComment")
	kindCommentBlock = ast.NewNodeKind("ObsidianCommentBlock")
)

// comment is an inline comment; start and end are offsets of its marks' outsides.
type comment struct {
	ast.BaseInline
	start, end int
}

// Kind implements ast.Node.
func (*comment) Kind() ast.NodeKind { return kindComment }

// Dump implements ast.Node.
func (n *comment) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// commentBlock is a comment that began at the start of a line.
type commentBlock struct {
	ast.BaseBlock
	start, end int
	closed     bool
}

// Kind implements ast.Node.
func (*commentBlock) Kind() ast.NodeKind { return kindCommentBlock }

// Dump implements ast.Node.
func (n *commentBlock) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// IsRaw implements ast.Node: nothing inside is parsed.
func (*commentBlock) IsRaw() bool { return true }

// commentParser reads inline comments.
type commentParser struct{}

var unclosedComment = parser.NewContextKey()

// Trigger implements parser.InlineParser.
func (commentParser) Trigger() []byte { return []byte{'%'} }

// Parse implements parser.InlineParser.
func (commentParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	start, end, ok := between(block, pc, commentMark, unclosedComment)
	if !ok {
		return nil
	}
	return &comment{start: start, end: end}
}

// between reads mark…mark, perhaps over lines of the same block, and leaves the reader behind it. The offset up to which
// a search was in vain is kept under the key, so that many open marks are not searched many times.
func between(block text.Reader, pc parser.Context, mark []byte, key parser.ContextKey) (start, end int, ok bool) {
	line, seg := block.PeekLine()
	if !bytes.HasPrefix(line, mark) {
		return 0, 0, false
	}
	if vain, isInt := pc.Get(key).(int); isInt && seg.Start < vain {
		return 0, 0, false
	}
	start = seg.Start
	skip := len(mark)
	stop := seg.Stop
	for line != nil {
		if i := bytes.Index(line[skip:], mark); i >= 0 {
			block.Advance(skip + i + len(mark))
			return start, seg.Start - seg.Padding + skip + i + len(mark), true
		}
		skip, stop = 0, seg.Stop
		block.AdvanceLine()
		next, nextSeg := block.PeekLine()
		if nextSeg.Start <= seg.Start {
			break // the reader stays on the last line
		}
		line, seg = next, nextSeg
	}
	pc.Set(key, stop)
	return 0, 0, false
}

// commentBlockParser reads block comments.
type commentBlockParser struct{}

var commentParity = parser.NewContextKey()

// Trigger implements parser.BlockParser.
func (commentBlockParser) Trigger() []byte { return []byte{'%'} }

// Open implements parser.BlockParser.
func (commentBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, seg := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], commentMark) || bytes.Contains(line[pos+2:], commentMark) {
		return nil, parser.NoChildren
	}
	if last := pc.LastOpenedBlock().Node; last != nil && ast.IsParagraph(last) && insideComment(last, reader.Source(), pc) {
		return nil, parser.NoChildren // this mark closes one that the paragraph opened
	}
	return &commentBlock{start: seg.Start - seg.Padding + pos, end: seg.Stop}, parser.NoChildren
}

// parity counts the marks of a paragraph once for each of its lines.
type parity struct {
	node  ast.Node
	lines int
	odd   bool
}

// insideComment reports whether the paragraph, as far as it is read, has a comment open.
func insideComment(paragraph ast.Node, src []byte, pc parser.Context) bool {
	p, _ := pc.Get(commentParity).(*parity)
	if p == nil || p.node != paragraph {
		p = &parity{node: paragraph}
		pc.Set(commentParity, p)
	}
	lines := paragraph.Lines()
	for ; p.lines < lines.Len(); p.lines++ {
		seg := lines.At(p.lines)
		if bytes.Count(src[seg.Start:seg.Stop], commentMark)%2 == 1 {
			p.odd = !p.odd
		}
	}
	return p.odd
}

// Continue implements parser.BlockParser.
func (commentBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*commentBlock)
	if n.closed {
		return parser.Close
	}
	line, seg := reader.PeekLine()
	i := bytes.Index(line, commentMark)
	if i < 0 {
		n.end = seg.Stop
		reader.AdvanceToEOL()
		return parser.Continue | parser.NoChildren
	}
	n.closed = true
	n.end = seg.Start - seg.Padding + i + len(commentMark)
	reader.Advance(i + len(commentMark)) // what follows on the line is visible again
	return parser.Close
}

// Close implements parser.BlockParser.
func (commentBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (commentBlockParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (commentBlockParser) CanAcceptIndentedLine() bool { return false }
