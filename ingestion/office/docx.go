package office

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// docx reads a word processor file of Office Open XML (ECMA-376, part 1, section 17).
type docx struct {
	a         *archive
	doc       *Document
	rels      map[string]relation
	headings  map[string]int    // level by style
	scripts   map[string]string // the styles of characters that are raised or lowered
	lists     numbering
	notes     map[string]*node // footnotes and endnotes, by kind and id
	noteOrder []string         // keys of notes in the order of their marks
	counters  map[string]int   // of numbered list levels
	styles    map[string]*node
	items     map[*node]listItem // by the properties of their paragraphs
	anchors   map[string]string  // link to the heading, by bookmark
}

func readDocx(a *archive, doc *Document) error {
	doc.Kind = "docx"
	name := a.main("word/document.xml")
	root, err := a.tree(name)
	if err != nil {
		return err
	}
	dir := path.Dir(name) + "/"
	d := &docx{
		a: a, doc: doc, rels: a.linked(name, root), headings: headingStyles(a.optional(dir + "styles.xml")),
		scripts: map[string]string{},
		lists:   readNumbering(a.optional(dir + "numbering.xml")), notes: map[string]*node{}, counters: map[string]int{}, anchors: map[string]string{},
		styles: map[string]*node{}, items: map[*node]listItem{},
	}
	for _, s := range a.optional(dir + "styles.xml").all("style") {
		d.styles[s.attr("styleId")] = s
		d.scripts[s.attr("styleId")] = s.child("rPr", "vertAlign").attr("val")
	}
	for _, kind := range []string{"footnote", "endnote"} {
		for _, n := range a.optional(dir + kind + "s.xml").all(kind) {
			if n.attr("type") == "" || n.attr("type") == "normal" {
				d.notes[kind+n.attr("id")] = n
			}
		}
	}
	a.properties(doc, "docProps/core.xml")
	body := root.first("body")
	if body == nil {
		return fmt.Errorf("the part %s is damaged: it has no body", name)
	}
	var b blocks
	d.number(body)
	d.findAnchors(body)
	d.blocks(body, &b, 0)
	d.edges(body, &b)
	for i, key := range d.noteOrder {
		d.number(d.notes[key])
		var text blocks
		d.blocks(d.notes[key], &text, 1)
		b.footnote(i+1, text.String())
	}
	doc.Parts = []Part{{text: b.String()}}
	return nil
}

// headingStyles finds the styles that are headings: by their outline level, their own or the one that they are based on,
// and by their English name, which Word keeps in every language.
func headingStyles(styles *node) map[string]int {
	levels, based := map[string]int{}, map[string]string{}
	for _, s := range styles.all("style") {
		id := s.attr("styleId")
		based[id] = s.child("basedOn").attr("val")
		name := strings.ToLower(s.child("name").attr("val"))
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n >= 1 && n <= 9 {
			levels[id] = n
		} else if name == "title" {
			levels[id] = 1
		} else if n, err := strconv.Atoi(s.child("pPr", "outlineLvl").attr("val")); err == nil && n >= 0 && n < 9 {
			levels[id] = n + 1
		}
	}
	for id := range based {
		for at, steps := id, 0; levels[id] == 0 && at != "" && steps < 10; steps++ {
			if at = based[at]; levels[at] > 0 {
				levels[id] = levels[at]
			}
		}
	}
	return levels
}

// findAnchors finds the headings that bookmarks mark: those in a heading, or right before one.
func (d *docx) findAnchors(body *node) {
	var names []string
	for _, k := range body.elements() {
		for _, m := range append(k.all("bookmarkStart"), k) {
			if m.name == "bookmarkStart" {
				names = append(names, m.attr("name"))
			}
		}
		if k.name != "p" {
			continue
		}
		if d.level(k.child("pPr")) > 0 {
			for _, name := range names {
				d.anchors[name] = webpage.Anchor(d.heading(k.child("pPr"), k.flat()))
			}
		}
		names = nil
	}
}

// level is a paragraph's level as a heading, 0 when it is none.
func (d *docx) level(pr *node) int {
	if n, err := strconv.Atoi(pr.child("outlineLvl").attr("val")); err == nil && n >= 0 && n < 9 {
		return n + 1
	}
	return d.headings[pr.child("pStyle").attr("val")]
}

// heading puts the number that the program shows before a heading's text.
func (d *docx) heading(pr *node, text string) string {
	at := d.items[pr]
	return strings.TrimSpace(strings.TrimPrefix(at.marker+at.label, "-") + " " + text)
}

// blocks adds the contents of a body, a cell, a footnote or a text box.
func (d *docx) blocks(n *node, b *blocks, depth int) {
	if n == nil || depth > 40 {
		return
	}
	for _, k := range n.kids {
		switch k.name {
		case "p":
			d.paragraph(k, b, depth)
		case "tbl":
			b.add(d.table(k, depth))
		case "sdt":
			d.blocks(k.child("sdtContent"), b, depth+1)
		case "AlternateContent":
			d.blocks(choice(k), b, depth+1)
		case "ins", "moveTo", "customXml", "smartTag":
			d.blocks(k, b, depth+1)
		}
	}
}

// choice is the form of a content that a modern program shows.
func choice(n *node) *node {
	if c := n.child("Choice"); c != nil {
		return c
	}
	return n.child("Fallback")
}

func (d *docx) paragraph(p *node, b *blocks, depth int) {
	pr := p.child("pPr")
	if deleted(p) {
		return
	}
	boxes := &blocks{}
	text := strings.TrimSpace(join(d.spans(p, span{}, boxes, depth)))
	style := pr.child("pStyle").attr("val")
	level := d.level(pr)
	item, isItem := d.items[pr]
	switch {
	case text == "":
	case level > 0 && depth == 0:
		b.add(strings.Repeat("#", min(level, 6)) + " " + d.heading(pr, oneLine(plainHeading(text))))
	case isItem:
		b.item(item.indent, item.marker, item.label+" "+text)
	case depth == 0 && codeBlock(style):
		b.code(lines(p))
	case strings.Contains(strings.ToLower(style), "quot") || style == "BlockText":
		b.add(quote(paragraph(text)))
	default:
		b.add(paragraph(text))
	}
	b.add(boxes.String())
}

// deleted reports whether a paragraph is gone once its changes are accepted.
func deleted(p *node) bool {
	mark := p.child("pPr", "rPr")
	return (mark.child("del") != nil || mark.child("moveFrom") != nil) && strings.TrimSpace(lines(p)) == "" && !pictured(p)
}

// codeBlock recognises the paragraph styles that programs use for code.
func codeBlock(style string) bool {
	style = strings.ToLower(style)
	return strings.HasPrefix(style, "sourcecode") || strings.Contains(style, "preformatted")
}

// pictured reports whether a paragraph has a picture or a text box.
func pictured(n *node) bool {
	return slices.ContainsFunc(n.kids, func(k *node) bool {
		switch k.name {
		case "drawing", "pict", "object":
			return true
		case "del", "moveFrom":
			return false
		}
		return pictured(k)
	})
}

// lines is a paragraph's text as it stands, with its line breaks and tabs. Text boxes have paragraphs of their own.
func lines(n *node) string {
	var b strings.Builder
	for _, k := range n.kids {
		switch k.name {
		case "t":
			b.WriteString(k.flat())
		case "br", "cr":
			b.WriteByte('\n')
		case "tab", "ptab":
			b.WriteByte('\t')
		case "pPr", "rPr", "del", "moveFrom", "drawing", "pict", "object":
		default:
			b.WriteString(lines(k))
		}
	}
	return b.String()
}

// oneLine removes the line breaks from a heading.
func oneLine(s string) string { return strings.ReplaceAll(s, "\\\n", " ") }

// plainHeading takes bold off a heading that is bold as a whole, which its style has made it.
func plainHeading(s string) string {
	if inner, ok := strings.CutPrefix(s, "**"); ok && strings.HasSuffix(inner, "**") && !strings.Contains(strings.TrimSuffix(inner, "**"), "**") {
		return strings.TrimSuffix(inner, "**")
	}
	return s
}

// spans are the runs of a paragraph. Text boxes go to boxes.
func (d *docx) spans(n *node, in span, boxes *blocks, depth int) []span {
	var list []span
	for _, k := range n.kids {
		switch k.name {
		case "r":
			list = append(list, d.run(k, in, boxes, depth)...)
		case "hyperlink":
			inner := in
			if r, ok := d.rels[k.attr("id")]; ok && r.external {
				inner.link = safeLink(r.target)
			} else if !ok {
				inner.link = d.anchors[k.attr("anchor")]
			}
			list = append(list, d.spans(k, inner, boxes, depth)...)
		case "ins", "smartTag", "customXml", "moveTo", "fldSimple", "dir", "bdo":
			list = append(list, d.spans(k, in, boxes, depth)...)
		case "sdt":
			if c := k.child("sdtContent"); c != nil {
				list = append(list, d.spans(c, in, boxes, depth)...)
			}
		case "oMath", "oMathPara":
			list = append(list, span{text: formula(k), raw: true})
		case "AlternateContent":
			if c := choice(k); c != nil {
				list = append(list, d.spans(c, in, boxes, depth)...)
			}
		}
	}
	return list
}

// table is a table; cells that others span are empty, so that every row has its columns.
func (d *docx) table(t *node, depth int) string {
	var rows [][]string
	for _, tr := range rowsOf(t) {
		var row []string
		if before, err := strconv.Atoi(tr.child("trPr", "gridBefore").attr("val")); err == nil && before < 100 {
			row = append(row, make([]string, max(before, 0))...)
		}
		for _, tc := range cellsOf(tr) {
			pr := tc.child("tcPr")
			text := ""
			if merge := pr.child("vMerge"); merge == nil || merge.attr("val") == "restart" {
				var b blocks
				d.blocks(tc, &b, depth+1)
				text = b.String()
			}
			row = append(row, text)
			if width, err := strconv.Atoi(pr.child("gridSpan").attr("val")); err == nil && width > 1 && width < 100 {
				row = append(row, make([]string, width-1)...)
			}
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// rowsOf and cellsOf look through content controls, which may stand around rows and cells.
func rowsOf(t *node) []*node  { return through(t, "tr") }
func cellsOf(t *node) []*node { return through(t, "tc") }

func through(n *node, name string) []*node {
	var list []*node
	for _, k := range n.kids {
		switch k.name {
		case name:
			list = append(list, k)
		case "sdt", "sdtContent", "customXml", "ins":
			list = append(list, through(k, name)...)
		}
	}
	return list
}
