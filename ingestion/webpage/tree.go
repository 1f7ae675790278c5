package webpage

import (
	"regexp"
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

// linesOfColumns makes lines of tables with one column: receipts and pages that are laid out with a table.
func linesOfColumns(doc *html.Node) {
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode || d.Data != "table" || !oneColumn(d) {
			continue
		}
		for e := range d.Descendants() {
			if e.Type == html.ElementNode && (e.Data == "td" || e.Data == "th" || e.Data == "caption") {
				rename(e, "p")
			} else if e.Type == html.ElementNode {
				switch e.Data {
				case "tr", "tbody", "thead", "tfoot":
					rename(e, "div")
				}
			}
		}
		rename(d, "div")
	}
}

func rename(n *html.Node, name string) { n.Data, n.DataAtom = name, 0 }

// oneColumn reports whether no row of a table has two cells, and no table is in it. A table with a head is one, however narrow.
func oneColumn(table *html.Node) bool {
	if row := find(table, "tr"); find(row, "th") != nil {
		return false
	}
	for d := range table.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		if d.Data == "table" {
			return false
		}
		if d.Data != "tr" {
			continue
		}
		cells := 0
		for k := range d.ChildNodes() {
			if k.Type == html.ElementNode && (k.Data == "td" || k.Data == "th") {
				cells++
			}
		}
		if cells > 1 {
			return false
		}
	}
	return true
}
