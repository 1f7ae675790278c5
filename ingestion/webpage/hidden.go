package webpage

import (
	"regexp"

	"golang.org/x/net/html"
)

// unseen fits the styles of an element that no reader sees.
var unseen = regexp.MustCompile(`(?i)(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden)\s*(!important\s*)?(;|$)`)

// dropUnseen takes out of a page what a browser would not show by the elements' own attributes: what nobody sees is often
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
