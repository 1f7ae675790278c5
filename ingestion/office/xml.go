package office

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/charset"
)

// Bounds of one tree. Word nests a table in a table cell by about six elements.
const (
	maxNodes = 4_000_000
	maxDepth = 512
)

// node is an element, or text when name is empty. Names are local: the same element has different namespaces in the
// transitional and the strict form of a format.
type node struct {
	name  string
	attrs []xml.Attr
	text  string
	kids  []*node
}

// errNoXML reports a part without an element. Each part of XML has one.
var errNoXML = errors.New("the XML is broken: it has no content")

// errTags reports an element that ends with the name of another one. All of the text is there, and may be in a wrong place.
var errTags = errors.New("the XML is broken: an element ends with the name of another one")

// tokens reads XML. Entities other than the five of XML stay as they are written.
type tokens struct {
	dec   *xml.Decoder
	open  []xml.Name // the elements that have begun
	ends  int        // how many of them end next, before others are read
	wrong error      // errTags, once it was found
}

func newTokens(data []byte) *tokens {
	if charset.Mark(data) != "" { // UTF-16 too
		data = []byte(charset.Decode(data).Text)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return &tokens{dec: dec}
}

// next returns the next token. Each element that begins ends, whatever the names at its end are. At the end of whole XML, the error is
// io.EOF.
func (t *tokens) next() (xml.Token, error) {
	for t.ends == 0 {
		token, err := t.dec.RawToken()
		switch {
		case errors.Is(err, io.EOF) && len(t.open) > 0:
			return nil, errors.New("the XML is broken: it has no end")
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case err != nil:
			return nil, fmt.Errorf("the XML is broken: %w", err)
		}
		switch tag := token.(type) {
		case xml.StartElement:
			t.open = append(t.open, tag.Name)
		case xml.EndElement:
			t.end(tag.Name)
			continue
		}
		return token, nil
	}
	t.ends--
	t.open = t.open[:len(t.open)-1]
	return xml.EndElement{}, nil
}

// end ends the innermost element of a name, with those in it. An end of none is passed over.
func (t *tokens) end(name xml.Name) {
	for i := len(t.open) - 1; i >= 0 && t.ends == 0; i-- {
		if t.open[i] == name {
			t.ends = len(t.open) - i
		}
	}
	if t.ends != 1 {
		t.wrong = errTags
	}
}

// WellFormed returns an error if XML, such as that of flat OpenDocument, is cut off or broken.
func WellFormed(data []byte) error {
	in := newTokens(data)
	for elements := 0; ; {
		token, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && elements > 0:
			return in.wrong
		case errors.Is(err, io.EOF):
			return errNoXML
		case err != nil:
			return err
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
}

// parse reads XML into a tree. With an error it returns what is before the damage; with errTags, all of it.
func parse(data []byte) (*node, error) {
	in := newTokens(data)
	root := &node{}
	stack := []*node{root}
	count := 0
	for {
		token, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && len(root.elements()) == 0:
			return root, errNoXML
		case errors.Is(err, io.EOF):
			return root, in.wrong
		case err != nil:
			return root, err
		}
		if count++; count > maxNodes {
			return root, errors.New("the XML has too many elements")
		}
		top := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(stack) > maxDepth {
				return root, errors.New("the XML is nested too deep")
			}
			n := &node{name: t.Name.Local, attrs: t.Attr}
			top.kids = append(top.kids, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.kids = append(top.kids, &node{text: string(t)})
		}
	}
}

// attr is an attribute by local name, "" when it is not there.
func (n *node) attr(name string) string {
	v, _ := n.find(name)
	return v
}

func (n *node) find(name string) (string, bool) {
	if n == nil {
		return "", false
	}
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// child returns the first direct child with a name, or nil. A nil node has none.
func (n *node) child(names ...string) *node {
	for _, name := range names {
		var found *node
		if n != nil {
			for _, k := range n.kids {
				if k.name == name {
					found = k
					break
				}
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

// elements are the children that are elements.
func (n *node) elements() []*node {
	var list []*node
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name != "" {
			list = append(list, k)
		}
	}
	return list
}

// first is the first element of a name anywhere below.
func (n *node) first(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
		if f := k.first(name); f != nil {
			return f
		}
	}
	return nil
}

// all are the elements of a name anywhere below, in order.
func (n *node) all(name string) []*node {
	var list []*node
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name == name {
			list = append(list, k)
		}
		list = append(list, k.all(name)...)
	}
	return list
}

// flat is all text below.
func (n *node) flat() string {
	if n == nil {
		return ""
	}
	if n.name == "" && len(n.kids) == 0 {
		return n.text
	}
	var b strings.Builder
	for _, k := range n.kids {
		b.WriteString(k.flat())
	}
	return b.String()
}
