package office

import (
	"strconv"
	"strings"
)

// readVisio reads a drawing of Visio 2013 and later ([MS-VSDX]): the texts of the shapes of each page, and the pictures in them.
func readVisio(a *archive, doc *Document) error {
	doc.Kind = "vsdx"
	a.properties(doc, "docProps/core.xml")
	main := a.main("visio/document.xml")
	list := ""
	for _, r := range a.relations(main) {
		if r.kind == "pages" && !r.external {
			list = r.target
		}
	}
	root, err := a.tree(or(list, "visio/pages/pages.xml"))
	if err != nil {
		return err
	}
	rels := a.relations(or(list, "visio/pages/pages.xml"))
	for i, page := range root.first("Pages").all("Page") {
		if i == maxPages {
			doc.warn("the drawing has more than %d pages; the rest is not shown", maxPages)
			break
		}
		name := strings.TrimSpace(or(page.attr("NameU"), page.attr("Name")))
		if shown := strings.TrimSpace(page.attr("Name")); shown != "" {
			name = shown
		}
		if page.attr("Background") == "1" {
			name += " (background)"
		}
		target := rels[relationID(page.first("Rel"))].target
		if !a.has(target) {
			doc.Damaged = true
			doc.warn("page %d is missing from the file", i+1)
			continue
		}
		drawn := a.optional(target)
		v := &visio{doc: doc, a: a, rels: a.relations(target)}
		v.shapes(drawn.first("Shapes"), 0)
		doc.Parts = append(doc.Parts, Part{Label: or(clean(name), "Page "+strconv.Itoa(i+1)), text: v.b.String()})
	}
	return nil
}

// visio gathers what the shapes of one page hold.
type visio struct {
	doc  *Document
	a    *archive
	rels map[string]relation
	b    blocks
}

// shapes adds the shapes of a page or group in the order of the file: a flow chart has no other.
func (v *visio) shapes(n *node, depth int) {
	if n == nil || depth > 40 {
		return
	}
	for _, s := range n.kids {
		if s.name != "Shape" {
			continue
		}
		if text := strings.TrimSpace(s.child("Text").flat()); text != "" {
			v.b.add(paragraph(strings.ReplaceAll(escape(text), "\n", "\\\n")))
		}
		if data := s.child("ForeignData"); data != nil {
			if r, ok := v.rels[relationID(data.child("Rel"))]; ok && !r.external && v.a.has(r.target) {
				v.b.add(v.doc.picture(r.target, s.attr("Name"), v.a.limits))
			}
		}
		v.shapes(s.child("Shapes"), depth+1)
	}
}
