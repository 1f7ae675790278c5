package webpage

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// noteElement replaces a footnote's mark while a document is written as Markdown.
const noteElement = "vaultflow-note"

// maxNotes limits the footnotes of one document.
const maxNotes = 5000

// footnotes removes the footnotes from a document, where marks say that they are ones (EPUB's epub:type, WAI-ARIA's
// doc-noteref, the class that pandoc writes), and puts elements with their numbers in the places of the marks. The list is
// in the order of the first marks.
func footnotes(doc *html.Node) []*html.Node {
	targets := map[string]*html.Node{}
	var marks []*html.Node
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		if id := attribute(d, "id"); id != "" && targets[id] == nil {
			targets[id] = d
		}
		if d.Data == "a" && is(d, "noteref", "doc-noteref", "footnote-ref") {
			marks = append(marks, d)
		}
	}
	numbers := map[*html.Node]int{}
	var notes []*html.Node
	for _, mark := range marks {
		_, id, _ := strings.Cut(attribute(mark, "href"), "#")
		note := targets[id]
		if note == nil || len(notes) >= maxNotes || note == mark || within(mark, note) {
			continue
		}
		if numbers[note] == 0 {
			notes = append(notes, note)
			numbers[note] = len(notes)
		}
		mark.Data, mark.DataAtom = noteElement, 0
		mark.Attr = []html.Attribute{{Key: "n", Val: strconv.Itoa(numbers[note])}}
		for mark.FirstChild != nil {
			mark.RemoveChild(mark.FirstChild)
		}
	}
	for _, note := range notes {
		cut(note)
	}
	return notes
}

// is reports whether one of an element's roles, types or classes is among those.
func is(n *html.Node, names ...string) bool {
	for _, key := range []string{"epub:type", "role", "class"} {
		for _, word := range strings.Fields(attribute(n, key)) {
			if slices.Contains(names, word) {
				return true
			}
		}
	}
	return false
}

func within(n, outer *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// cut removes a note from its document, its backlinks, and the section that is empty without its notes.
func cut(note *html.Node) {
	var back []*html.Node
	for d := range note.Descendants() {
		if d.Type == html.ElementNode && d.Data == "a" && is(d, "doc-backlink", "footnote-back", "backlink") {
			back = append(back, d)
		}
	}
	for _, b := range back {
		b.Parent.RemoveChild(b)
	}
	parent := note.Parent
	parent.RemoveChild(note)
	for parent != nil && parent.Parent != nil && parent.Data != "body" && text(parent) == "" && find(parent, "img") == nil && find(parent, noteElement) == nil {
		parent.Parent.RemoveChild(parent)
		parent = parent.Parent
	}
}

// Anchors returns links to the headings of a document, by the ids of the elements that lead to them: the heading itself, its
// contents, and what begins with it. The empty id leads to the first heading.
func Anchors(doc *html.Node) map[string]string {
	anchors := map[string]string{}
	for d := range doc.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		if heading(d) && anchors[""] == "" {
			anchors[""] = Anchor(text(d))
		}
		id := attribute(d, "id")
		if id == "" && d.Data == "a" {
			id = attribute(d, "name")
		}
		if h := leadsTo(d); id != "" && h != nil && anchors[id] == "" {
			anchors[id] = Anchor(text(h))
		}
	}
	return anchors
}

// leadsTo returns the heading that an element is, is in, or begins with.
func leadsTo(n *html.Node) *html.Node {
	for up := n; up != nil; up = up.Parent {
		if heading(up) {
			return up
		}
	}
	for d := range n.Descendants() {
		switch {
		case heading(d):
			return d
		case d.Type == html.TextNode && strings.TrimSpace(d.Data) != "":
			return nil
		}
	}
	return nil
}

func heading(n *html.Node) bool {
	return n.Type == html.ElementNode && len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6'
}
