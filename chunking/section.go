package chunking

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/unicode/norm"
)

// Section finds the part of a note that a fragment names: `Heading`, `H1#H2` (each below the one before), or `^block`. A
// fragment that is no such chain may be one heading with a `#` in it. A section runs from its heading to the next heading of the same or a higher level; a block is the paragraph, list item,
// quote, table or code that the id is on or follows. Headings are compared exactly, else without case, else with
// punctuation as spaces. The bytes src[start:end] are whole lines.
func Section(src []byte, fragment string) (start, end int, ok bool) {
	if tooDeep(src) {
		return 0, 0, false
	}
	d := parse(src, blocks)
	if id, isBlock := strings.CutPrefix(fragment, "^"); isBlock {
		if start, end, ok = d.block(id); !ok {
			return 0, 0, false
		}
		return start + d.base, end + d.base, true
	}
	heads := d.headings()
	if start, end, ok = d.chain(heads, strings.Split(fragment, "#")); !ok {
		start, end, ok = d.chain(heads, []string{strings.ReplaceAll(fragment, "#", " ")})
	}
	if !ok {
		return 0, 0, false
	}
	return start + d.base, end + d.base, true
}

// chain finds the section of the last heading of names, each within that of the one before.
func (d document) chain(heads []heading, names []string) (start, end int, ok bool) {
	end = len(d.body)
	level := 0
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		i := match(heads, name, start, end, level)
		if i < 0 {
			return 0, 0, false
		}
		start, level, ok = heads[i].start, heads[i].level, true
		for _, h := range heads[i+1:] {
			if h.level <= level {
				end = min(end, h.start)
				break
			}
		}
		level++
	}
	return start, end, ok
}

type heading struct {
	start int // of its line
	level int
	text  string
}

// headings lists the headings that make sections: those outside quotes and lists.
func (d document) headings() []heading {
	var list []heading
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Pos() < 0 {
			continue
		}
		list = append(list, heading{start: d.lineStart(h.Pos()), level: h.Level, text: strings.TrimSpace(string(h.Lines().Value(d.body)))})
	}
	return list
}

// Heading is a heading outside quotes and lists. Start is the offset of its line.
type Heading struct {
	Start int
	Level int
	Text  string
}

// Headings lists the headings that make sections, in order.
func Headings(src []byte) []Heading {
	if tooDeep(src) {
		return nil
	}
	d := parse(src, blocks)
	var list []Heading
	for _, h := range d.headings() {
		list = append(list, Heading{h.start + d.base, h.level, h.text})
	}
	return list
}

// FirstHeading returns the text of a note's first heading outside quotes and lists; "" without one.
func FirstHeading(src []byte) string {
	if tooDeep(src) {
		return ""
	}
	for _, h := range parse(src, blocks).headings() {
		if h.text != "" {
			return h.text
		}
	}
	return ""
}

// match is the index of the first heading in the part with that name, -1 when there is none. Each heading is compared
// exactly first, then less and less so.
func match(heads []heading, name string, start, end, level int) int {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		strings.EqualFold,
		func(a, b string) bool { return plain(a) == plain(b) },
	} {
		for i, h := range heads {
			if h.start >= start && h.start < end && h.level >= level && same(h.text, name) {
				return i
			}
		}
	}
	return -1
}

// plain is a heading in lower case and NFC, with punctuation as single spaces.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(norm.NFC.String(s)), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
	}), " ")
}

// block is the part that a block id names.
func (d document) block(id string) (start, end int, ok bool) {
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return 0, 0, false
	}
	mark := []byte("^" + id)
	//nolint:errcheck // the walker returns no error
	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if ok {
			return ast.WalkStop, nil
		}
		if !entering || n.Type() == ast.TypeInline || n.Lines() == nil || n.IsRaw() {
			return ast.WalkContinue, nil
		}
		for i := range n.Lines().Len() {
			seg := n.Lines().At(i)
			line := bytes.TrimSpace(seg.Value(d.body))
			switch {
			case !bytes.HasSuffix(line, mark):
				continue
			case len(line) == len(mark) && n.Lines().Len() == 1 && n.PreviousSibling() != nil:
				start, end = d.extent(n.PreviousSibling())
			case len(line) == len(mark) || line[len(line)-len(mark)-1] == ' ' || line[len(line)-len(mark)-1] == '\t':
				start, end = d.extent(owner(n))
			default:
				continue
			}
			ok = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return start, end, ok
}

// owner is the block that an id at the end of a text belongs to: the list item with its children, the quote or callout,
// or the table.
func owner(n ast.Node) ast.Node {
	parent := n.Parent()
	switch {
	case parent == nil:
		return n
	case parent.Kind() == ast.KindListItem && parent.FirstChild() == n:
		return parent
	case n.Kind() == tables.KindTableCell:
		return parent.Parent()
	}
	for ; parent != nil && parent.Kind() == ast.KindBlockquote; parent = parent.Parent() {
		n = parent
	}
	return n
}

// extent is the span of whole lines that a block covers.
func (d document) extent(n ast.Node) (start, end int) {
	start, end = len(d.body), 0
	//nolint:errcheck // the walker returns no error
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if pos := n.Pos(); pos >= 0 {
			start, end = min(start, pos), max(end, pos)
		}
		if lines := n.Lines(); lines != nil && lines.Len() > 0 {
			start = min(start, lines.At(0).Start)
			end = max(end, lines.At(lines.Len()-1).Stop-1)
		}
		end = max(end, d.closingLine(n))
		return ast.WalkContinue, nil
	})
	if start > end {
		return 0, 0
	}
	return d.lineStart(start), d.lineEnd(end)
}

// closingLine is an offset on the line that closes a block whose lines do not tell, 0 when there is none.
func (d document) closingLine(n ast.Node) int {
	switch n := n.(type) {
	case *mathBlock:
		return n.end - 1
	case *commentBlock:
		return n.end - 1
	case *ast.HTMLBlock:
		if n.HasClosure() {
			return n.ClosureLine.Stop - 1
		}
	case *ast.FencedCodeBlock:
		last := n.Pos()
		if lines := n.Lines(); lines.Len() > 0 {
			last = lines.At(lines.Len()-1).Stop - 1
		}
		if last < 0 {
			return 0
		}
		next := d.lineEnd(last)
		fence := bytes.TrimLeft(d.body[next:d.lineEnd(next)], "> \t")
		if bytes.HasPrefix(fence, []byte("```")) || bytes.HasPrefix(fence, []byte("~~~")) {
			return next
		}
	}
	return 0
}

// lineStart is the offset of the line that holds the byte.
func (d document) lineStart(at int) int { return bytes.LastIndexByte(d.body[:at], '\n') + 1 }

// lineEnd is the offset behind the line that holds the byte.
func (d document) lineEnd(at int) int {
	if i := bytes.IndexByte(d.body[min(at, len(d.body)):], '\n'); i >= 0 {
		return min(at, len(d.body)) + i + 1
	}
	return len(d.body)
}
