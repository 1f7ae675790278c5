package chunking

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Math is text, but brackets in it are no links: `$[[1,2],[3,4]]$`. A line that begins with `$$` and does not close it
// opens a block, if a closing `$$` follows at all. `$$…$$` stands within a paragraph, `$…$` within a line, where the
// opening sign has no space behind it and the closing one neither a space before nor a digit behind, so that prices
// stay prices.

var mathMark = []byte("$$")

// maxInlineMath bounds the search for a closing `$`, in bytes.
const maxInlineMath = 2000

var (
	kindMath      = ast.NewNodeKind("Math")
	kindMathBlock = ast.NewNodeKind("MathBlock")
)

// math is inline math.
type math struct{ ast.BaseInline }

// Kind implements ast.Node.
func (*math) Kind() ast.NodeKind { return kindMath }

// Dump implements ast.Node.
func (n *math) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// mathBlock is math over whole lines; end is the offset behind it.
type mathBlock struct {
	ast.BaseBlock
	end int
}

// Kind implements ast.Node.
func (*mathBlock) Kind() ast.NodeKind { return kindMathBlock }

// Dump implements ast.Node.
func (n *mathBlock) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// IsRaw implements ast.Node: nothing inside is parsed.
func (*mathBlock) IsRaw() bool { return true }

// mathParser reads inline math.
type mathParser struct{}

var (
	unclosedMath = parser.NewContextKey()
	vainMath     = parser.NewContextKey() // the offset up to which no `$` closes inline math
)

// Trigger implements parser.InlineParser.
func (mathParser) Trigger() []byte { return []byte{'$'} }

// Parse implements parser.InlineParser.
func (mathParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, seg := block.PeekLine()
	if bytes.HasPrefix(line, mathMark) {
		if _, _, ok := between(block, pc, mathMark, unclosedMath); ok {
			return &math{}
		}
		return nil
	}
	vain, _ := pc.Get(vainMath).(int)
	size, looked := inlineMath(line, vain-seg.Start)
	if size == 0 {
		pc.Set(vainMath, seg.Start+looked)
		return nil
	}
	block.Advance(size)
	return &math{}
}

// inlineMath is the length of `$…$` at the start of the line, 0 when there is none. No closing sign stands before the
// offset from, as an earlier search has shown; looked is where this one has ended.
func inlineMath(line []byte, from int) (size, looked int) {
	if len(line) < 3 || util.IsSpace(line[1]) {
		return 0, from
	}
	i := max(from, 1)
	for ; i < min(len(line), maxInlineMath); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] != '$':
		case util.IsSpace(line[i-1]) || i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9':
		default:
			return i + 1, i
		}
	}
	return 0, i
}

// mathBlockParser reads block math.
type mathBlockParser struct{}

var noMoreMath = parser.NewContextKey()

// Trigger implements parser.BlockParser.
func (mathBlockParser) Trigger() []byte { return []byte{'$'} }

// Open implements parser.BlockParser.
func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, seg := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], mathMark) || bytes.Contains(line[pos+2:], mathMark) {
		return nil, parser.NoChildren
	}
	if pc.Get(noMoreMath) != nil {
		return nil, parser.NoChildren
	}
	if !bytes.Contains(reader.Source()[seg.Stop:], mathMark) {
		pc.Set(noMoreMath, true)
		return nil, parser.NoChildren
	}
	return &mathBlock{end: seg.Stop}, parser.NoChildren
}

// Continue implements parser.BlockParser.
func (mathBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, seg := reader.PeekLine()
	node.(*mathBlock).end = seg.Stop
	if i := bytes.Index(line, mathMark); i >= 0 {
		reader.Advance(i + len(mathMark))
		return parser.Close
	}
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (mathBlockParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (mathBlockParser) CanAcceptIndentedLine() bool { return false }
