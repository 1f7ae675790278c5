package webpage

import (
	"regexp"
	"slices"
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

// all returns the elements of these names below a node.
func all(n *html.Node, names ...string) (list []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.Contains(names, d.Data) {
			list = append(list, d)
		}
	}
	return list
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

// text returns the visible text, with single blanks.
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

// rawText returns the text as it stands, with its line breaks.
func rawText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.Data == "br":
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// contents returns the contents of an element, without the element.
func contents(n *html.Node) *html.Node {
	all := &html.Node{Type: html.DocumentNode}
	move(n, all)
	return all
}

// move moves the contents of an element into another one.
func move(from, to *html.Node) {
	for from.FirstChild != nil {
		k := from.FirstChild
		from.RemoveChild(k)
		to.AppendChild(k)
	}
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

// unseen fits the styles of an element that no reader sees.
var unseen = regexp.MustCompile(`(?i)(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden)\s*(!important\s*)?(;|$)`)

// dropUnseen removes what a browser would hide because of the elements' own attributes: hidden text is often
// written for machines that read along. Style sheets are not looked at.
func dropUnseen(doc *html.Node) {
	var drop []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data != "html" && n.Data != "body" && isUnseen(n) {
			drop = append(drop, n)
		}
	}
	for _, n := range drop {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

func isUnseen(n *html.Node) bool {
	if n.Data == "template" {
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "style":
			if unseen.MatchString(a.Val) {
				return true
			}
		}
	}
	return false
}

func rename(n *html.Node, name string) { n.Data, n.DataAtom = name, 0 }
