package webpage

import (
	"strings"

	"golang.org/x/net/html"
)

// find is the first element of a name, the node itself included.
func find(n *html.Node, name string) *html.Node {
	if n == nil {
		return nil
	}
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			return d
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func set(n *html.Node, name, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			n.Attr[i].Val = value
		}
	}
}

// text is what a person would see, with single blanks.
func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var words []string
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !hidden(d.Parent) {
			words = append(words, strings.Fields(d.Data)...)
		}
	}
	return strings.Join(words, " ")
}

func hidden(n *html.Node) bool {
	if n == nil {
		return false
	}
	switch n.Data {
	case "script", "style", "noscript", "template":
		return true
	}
	return false
}

// contents returns the contents of an element, without the element.
func contents(n *html.Node) *html.Node {
	all := &html.Node{Type: html.DocumentNode}
	for n.FirstChild != nil {
		k := n.FirstChild
		n.RemoveChild(k)
		all.AppendChild(k)
	}
	return all
}

// clone copies a tree.
func clone(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: append([]html.Attribute(nil), n.Attr...)}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		c.AppendChild(clone(k))
	}
	return c
}

// Anchor is a link to a heading of the note itself, as Obsidian writes it: the heading's text without the characters that
// have a meaning in links. It is empty for a heading without text.
func Anchor(heading string) string {
	plain := strings.Join(strings.Fields(strings.NewReplacer("#", " ", "|", " ", "^", " ", ":", " ", "%%", " ", "[[", " ", "]]", " ").Replace(heading)), " ")
	if plain == "" {
		return ""
	}
	return "#" + strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "[", "%5B", "]", "%5D", `\`, "%5C").Replace(plain)
}
