package chunking

import (
	"cmp"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"go.abhg.dev/goldmark/wikilink"
)

// document is a parsed note. Offsets of the tree are those of body, which starts at base in the note: frontmatter is
// no Markdown and is cut off before.
type document struct {
	body []byte
	base int
	root ast.Node
	ends map[ast.Node]int // of images: the offset behind the last byte
	dest map[ast.Node]int // of links and images: the offset behind `](`
	refs []parser.Reference
}

// What of a note is parsed.
type extent int

const (
	wholeNote  extent = iota // everything
	references               // blocks, and of their insides what matters for references and comments
	blocks                   // blocks alone
)

// parse reads a note with CommonMark, tables, footnotes, wikilinks, comments and math.
func parse(src []byte, of extent) document {
	base, _ := Frontmatter(src)
	d := document{body: src[base:], base: base, ends: map[ast.Node]int{}, dest: map[ast.Node]int{}}
	transformers := []util.PrioritizedValue{
		util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer}, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	}
	if of == references {
		transformers = append(transformers, util.Prioritized(trimmer{}, 300))
	}
	options := []parser.Option{
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(),
			util.Prioritized(commentBlockParser{}, 50),
			util.Prioritized(mathBlockParser{}, 60),
			// Without it `[^1]: ![[a.png]]` would be read as the definition of a link. Its transformer, which
			// would drop unused footnotes, is left out.
			util.Prioritized(extension.NewFootnoteBlockParser(), 999),
		)...),
		parser.WithParagraphTransformers(transformers...),
	}
	if of != blocks {
		options = append(options, d.inline())
	}
	context := parser.NewContext()
	d.root = parser.NewParser(options...).Parse(text.NewReader(d.body), parser.WithContext(context))
	d.refs = context.References()
	return d
}

// inline are the parsers for the text of paragraphs. There is none for emphasis: it moves no reference, and many
// unmatched marks take quadratic time.
func (d document) inline() parser.Option {
	return parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(commentParser{}, 120),
		util.Prioritized(mathParser{}, 130),
		util.Prioritized(wikilinkParser{Parser: &wikilink.Parser{}}, 150),
		util.Prioritized(&linkParser{InlineParser: parser.NewLinkParser(), ends: d.ends, dest: d.dest, left: 1<<20 + 16*len(d.body)}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	)
}

// find lists what is not text in a note, by position. Inner ones come after the outer one that holds them.
func find(src []byte) []found {
	if tooDeep(src) {
		return nil
	}
	return parse(src, references).find()
}

// find lists what is not text in the document.
func (d document) find() []found {
	var list []found
	//nolint:errcheck // the walker returns no error
	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		more, status := d.read(n)
		list = append(list, more...)
		return status, nil
	})
	for i := range list {
		list[i].start += d.base
		list[i].end += d.base
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	return list
}

// read is what one node of the tree adds.
func (d document) read(n ast.Node) ([]found, ast.WalkStatus) {
	switch n := n.(type) {
	case *commentBlock:
		return []found{{start: n.start, end: n.end, Chunk: Chunk{Kind: Comment}}}, ast.WalkSkipChildren
	case *comment:
		return []found{{start: n.start, end: n.end, Chunk: Chunk{Kind: Comment}}}, ast.WalkSkipChildren
	case *wikilink.Node:
		if !n.Embed {
			return nil, ast.WalkSkipChildren
		}
		if c, ok := readWikilink(n); ok {
			return []found{{start: n.Pos(), end: wikilinkEnd(n), Chunk: c}}, ast.WalkSkipChildren
		}
		return nil, ast.WalkSkipChildren
	case *ast.Image:
		if c, ok := d.image(n); ok {
			return []found{{start: n.Pos(), end: d.ends[n], Chunk: c}}, ast.WalkSkipChildren
		}
	case *ast.HTMLBlock:
		return d.htmlBlock(n), ast.WalkSkipChildren
	case *ast.RawHTML:
		return d.rawHTML(n), ast.WalkSkipChildren
	case *ast.CodeSpan:
		return nil, ast.WalkSkipChildren
	}
	return nil, ast.WalkContinue
}
