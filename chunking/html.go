package chunking

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// htmlBlock finds the `<img src>` of an HTML block.
func (d document) htmlBlock(n *ast.HTMLBlock) []found {
	lines := n.Lines()
	segments := make([]text.Segment, 0, lines.Len()+1)
	for i := range lines.Len() {
		segments = append(segments, lines.At(i))
	}
	if n.HasClosure() {
		segments = append(segments, n.ClosureLine)
	}
	return d.tags(segments)
}

// rawHTML finds the `<img src>` of inline HTML, which is one tag or one comment.
func (d document) rawHTML(n *ast.RawHTML) []found {
	segments := make([]text.Segment, 0, n.Segments.Len())
	for i := range n.Segments.Len() {
		segments = append(segments, n.Segments.At(i))
	}
	return d.tags(segments)
}

// tags scans the segments as one text and returns the images with their places in the source. The segments need not be
// neighbours: between two lines of a quote stand its marks.
func (d document) tags(segments []text.Segment) []found {
	var joined []byte
	starts := make([]int, len(segments)) // of each segment in joined
	for i, s := range segments {
		starts[i] = len(joined)
		joined = append(joined, d.body[s.Start:s.Stop]...)
	}
	place := 0
	source := func(at int) int { // asked in ascending order
		for place+1 < len(starts) && starts[place+1] <= at {
			place++
		}
		return segments[place].Start + at - starts[place]
	}
	var list []found
	scanTags(joined, func(start, end int, attrs map[string]string) {
		if src := strings.TrimSpace(attrs["src"]); src != "" {
			first := source(start)
			list = append(list, found{start: first, end: source(end-1) + 1, Chunk: imgTag(src, attrs)})
		}
	})
	return list
}

func imgTag(src string, attrs map[string]string) Chunk {
	c := Chunk{Kind: Image, Syntax: SyntaxHTML, Written: src, Alt: strings.Join(strings.Fields(attrs["alt"]), " ")}
	c.aim(src)
	c.Kind = Image
	c.Width, _ = pixels(strings.TrimSpace(attrs["width"]))
	c.Height, _ = pixels(strings.TrimSpace(attrs["height"]))
	return c
}

// rawElements hold text that HTML does not parse for tags.
var rawElements = map[string]bool{"script": true, "style": true, "textarea": true, "title": true, "xmp": true, "iframe": true}

// scanTags calls img for each `<img …>` in a piece of HTML, in order. Comments, declarations and the insides of scripts
// and the like are passed over. It reads each byte a bounded number of times.
func scanTags(src []byte, img func(start, end int, attrs map[string]string)) {
	for i := 0; i < len(src); {
		at := bytes.IndexByte(src[i:], '<')
		if at < 0 {
			return
		}
		i += at
		switch rest := src[i:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			i = skipPast(src, i+4, "-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			i = skipPast(src, i+9, "]]>")
		case len(rest) > 1 && (rest[1] == '!' || rest[1] == '?'):
			i = skipPast(src, i+2, ">")
		default:
			name, attrs, end := readTag(src, i)
			switch {
			case name == "":
				i++
			case name == "img":
				img(i, end, attrs)
				i = end
			case rawElements[name]:
				i = skipElement(src, end, name)
			default:
				i = end
			}
		}
	}
}

// skipPast is the offset behind the mark, or the end when it is not there.
func skipPast(src []byte, from int, mark string) int {
	if from >= len(src) {
		return len(src)
	}
	if i := bytes.Index(src[from:], []byte(mark)); i >= 0 {
		return from + i + len(mark)
	}
	return len(src)
}

// skipElement is the offset of the end tag, in upper or lower case, or the end.
func skipElement(src []byte, from int, name string) int {
	for i := from; i < len(src); i++ {
		next := bytes.IndexByte(src[i:], '<')
		if next < 0 {
			break
		}
		i += next
		if stop := i + 2 + len(name); stop <= len(src) && src[i+1] == '/' && strings.EqualFold(string(src[i+2:stop]), name) {
			return i
		}
	}
	return len(src)
}

// readTag reads the start tag at the offset: its name in lower case, its attributes, and the offset behind its `>`. The
// name is empty when there is no whole start tag.
func readTag(src []byte, at int) (name string, attrs map[string]string, end int) {
	i := at + 1
	for i < len(src) && isNameByte(src[i]) {
		i++
	}
	name = strings.ToLower(string(src[at+1 : i]))
	if name == "" {
		return "", nil, at
	}
	for {
		for i < len(src) && (isSpace(src[i]) || src[i] == '/') {
			i++
		}
		if i >= len(src) {
			return "", nil, at
		}
		if src[i] == '>' {
			return name, attrs, i + 1
		}
		var key, value string
		if key, value, i = readAttr(src, i); key == "" {
			return "", nil, at
		}
		if name == "img" {
			if attrs == nil {
				attrs = map[string]string{}
			}
			if _, twice := attrs[key]; !twice {
				attrs[key] = html.UnescapeString(value)
			}
		}
	}
}

// readAttr reads `key`, `key=value`, `key='value'` or `key="value"` at the offset; an empty key means that there is none.
func readAttr(src []byte, at int) (key, value string, next int) {
	i := at
	for i < len(src) && !isSpace(src[i]) && !bytes.ContainsRune([]byte(`=>/<"'`), rune(src[i])) {
		i++
	}
	if i == at {
		return "", "", at
	}
	key = strings.ToLower(string(src[at:i]))
	next = i
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i >= len(src) || src[i] != '=' {
		return key, "", next
	}
	for i++; i < len(src) && isSpace(src[i]); i++ {
	}
	if i < len(src) && (src[i] == '"' || src[i] == '\'') {
		stop := bytes.IndexByte(src[i+1:], src[i])
		if stop < 0 {
			return "", "", at
		}
		return key, string(src[i+1 : i+1+stop]), i + 2 + stop
	}
	start := i
	for i < len(src) && !isSpace(src[i]) && src[i] != '>' && src[i] != '<' {
		i++
	}
	return key, string(src[start:i]), i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}
