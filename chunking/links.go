package chunking

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"go.abhg.dev/goldmark/wikilink"
)

// SyntaxProperty is a wikilink in the properties of a note.
const SyntaxProperty = "property"

// Link is a place in a note that names a file: in a wikilink, an embed, the destination of a Markdown link or picture, a definition
// of one, an `<img src>`, or a wikilink in the properties.
type Link struct {
	Start, End int    // the name as written, without heading, block, page, text and size
	Syntax     string // one of the Syntax constants
	Target     string // the name, decoded
	Angle      bool   // of a Markdown destination: it is in <angle brackets>
	Quote      byte   // of a property: the quote around it, or 0
}

// Links returns the links of a note that may name a file, in order. Code, comments, math and addresses have none. A note that is
// nested too deeply has none at all.
func Links(src []byte) []Link {
	list := propertyLinks(src)
	if !tooDeep(src) {
		list = append(list, linkFinder{parse(src, wholeNote)}.links()...)
	}
	slices.SortStableFunc(list, func(a, b Link) int { return cmp.Compare(a.Start, b.Start) })
	at := 0
	return slices.DeleteFunc(list, func(l Link) bool { // an image in a definition's title, and the like
		twice := l.Start < at
		at = max(at, l.End)
		return twice || l.Target == ""
	})
}

// linkFinder finds the links of a document.
type linkFinder struct{ document }

// links lists the links of the document.
func (d linkFinder) links() []Link {
	var list []Link
	var opaque [][2]int // code, comments and math
	lines := func(n ast.Node) {
		for i := range n.Lines().Len() {
			l := n.Lines().At(i)
			opaque = append(opaque, [2]int{l.Start, l.Stop})
		}
	}
	//nolint:errcheck // the walker returns no error
	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *commentBlock:
			opaque = append(opaque, [2]int{n.start, n.end})
		case *comment:
			opaque = append(opaque, [2]int{n.start, n.end})
		case *ast.FencedCodeBlock, *ast.CodeBlock, *mathBlock:
			lines(n)
		case *wikilink.Node:
			list = append(list, d.wikilink(n)...)
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			list = append(list, d.destination(n, n.Destination)...)
		case *ast.Image:
			list = append(list, d.destination(n, n.Destination)...)
		case *ast.HTMLBlock:
			lines(n)
			list = append(list, d.sources(d.htmlBlock(n))...)
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			list = append(list, d.sources(d.rawHTML(n))...)
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	list = append(list, d.defined(opaque)...)
	for i := range list {
		list[i].Start += d.base
		list[i].End += d.base
	}
	return list
}

// wikilink returns the name in a wikilink, which may be that of the note itself: then there is none.
func (d linkFinder) wikilink(n *wikilink.Node) []Link {
	inside := n.Pos() + 2
	if n.Embed {
		inside++
	}
	return wikiName(string(n.Target), inside, SyntaxWikilink)
}

// wikiName returns the name in the text between the brackets of a wikilink at an offset.
func wikiName(text string, at int, syntax string) []Link {
	name, _, aliased := strings.Cut(text, "|")
	if aliased {
		name = strings.TrimSuffix(name, `\`)
	}
	name, _, _ = strings.Cut(name, "#")
	at += len(name) - len(strings.TrimLeft(name, " \t"))
	if name = strings.TrimSpace(name); name == "" || strings.HasPrefix(name, "^^") {
		return nil
	}
	return []Link{{Start: at, End: at + len(name), Syntax: syntax, Target: name}}
}

// destination returns the name in the destination of an inline link. That of a reference is in its definition.
func (d linkFinder) destination(n ast.Node, written []byte) []Link {
	at, inline := d.dest[n]
	if link, ok := n.(*ast.Link); !inline || ok && link.Reference != nil {
		return nil
	}
	if image, ok := n.(*ast.Image); ok && image.Reference != nil {
		return nil
	}
	for at < len(d.body) && strings.IndexByte(" \t\r\n", d.body[at]) >= 0 {
		at++
	}
	angle := at < len(d.body) && d.body[at] == '<'
	if angle {
		at++
	}
	if !bytes.HasPrefix(d.body[min(at, len(d.body)):], written) {
		return nil
	}
	return destinationName(string(written), at, SyntaxMarkdown, angle)
}

// destinationName returns the name in a destination at an offset.
func destinationName(written string, at int, syntax string, angle bool) []Link {
	if plain := unescape(written); Scheme(plain) != "" || strings.HasPrefix(plain, "//") {
		return nil
	}
	end := len(written)
	for i := 0; i < len(written); i++ {
		if written[i] == '#' && (i == 0 || written[i-1] != '&' && written[i-1] != '\\') {
			end = i
			break
		}
	}
	name := written[:end]
	if strings.TrimSpace(name) == "" {
		return nil
	}
	return []Link{{Start: at, End: at + end, Syntax: syntax, Target: percentDecoded(unescape(name)), Angle: angle}}
}

// sources returns the names in the `<img src>` of a piece of HTML, where they are written as they are.
func (d linkFinder) sources(images []found) []Link {
	var list []Link
	for _, c := range images {
		i := bytes.Index(d.body[c.start:c.end], []byte(c.Written))
		if c.Remote || i < 0 || bytes.Count(d.body[c.start:c.end], []byte(c.Written)) != 1 {
			continue
		}
		list = append(list, destinationName(c.Written, c.start+i, SyntaxHTML, false)...)
	}
	return list
}

var definitionLine = regexp.MustCompile(`(?m)^[ >\t]*\[([^\^\[\]\n][^\[\]\n]*)\]:[ \t]*(<[^<>\n]+>|[^\s<]\S*)`)

// defined returns the names in the definitions of references, of which the tree has nothing any more.
func (d linkFinder) defined(opaque [][2]int) []Link {
	if len(d.refs) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, ref := range d.refs {
		known[string(ref.Destination())] = true
	}
	var list []Link
	for _, m := range definitionLine.FindAllSubmatchIndex(d.body, -1) {
		start, end := m[4], m[5]
		angle := d.body[start] == '<'
		if angle {
			start, end = start+1, end-1
		}
		inside := func(o [2]int) bool { return o[0] <= m[2] && m[2] < o[1] }
		if written := string(d.body[start:end]); known[written] && !slices.ContainsFunc(opaque, inside) {
			list = append(list, destinationName(written, start, SyntaxReference, angle)...)
		}
	}
	return list
}

var propertyLink = regexp.MustCompile(`\[\[([^\[\]\n]+)\]\]`)

// propertyLinks returns the wikilinks in the properties of a note, but not those in comments.
func propertyLinks(src []byte) []Link {
	size, yaml := Frontmatter(src)
	if size == 0 {
		return nil
	}
	return QuotedLinks(yaml, bytes.IndexByte(src, '\n')+1)
}

// QuotedLinks returns the wikilinks in a YAML text, whose offsets begin at base, but not those in comments.
func QuotedLinks(yaml []byte, base int) []Link {
	var list []Link
	for _, m := range propertyLink.FindAllSubmatchIndex(yaml, -1) {
		start := bytes.LastIndexByte(yaml[:m[0]], '\n') + 1
		quote, comment := quoteAt(yaml[start:m[0]])
		if comment {
			continue
		}
		for _, l := range wikiName(string(yaml[m[2]:m[3]]), base+m[2], SyntaxProperty) {
			if l.Quote = quote; quote == '\'' {
				l.Target = strings.ReplaceAll(l.Target, "''", "'")
			}
			list = append(list, l)
		}
	}
	return list
}

// quoteAt returns the quote that is open at the end of the beginning of a line of YAML, and whether a comment is.
func quoteAt(before []byte) (quote byte, comment bool) {
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '#' && (i == 0 || before[i-1] == ' ' || before[i-1] == '\t'):
			return 0, true
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t[{,:-(", before[i-1]) >= 0):
			quote = c
		}
	}
	return quote, false
}
