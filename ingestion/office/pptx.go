package office

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/script"
)

// pptx reads one slide of a presentation of Office Open XML (ECMA-376, part 1, section 19).
type pptx struct {
	a      *archive
	doc    *Document
	rels   map[string]relation
	places map[string]int // number of the slide's part in the document, by its name in the archive
}

func readPptx(a *archive, doc *Document) error {
	doc.Kind = "pptx"
	name := a.main("ppt/presentation.xml")
	root, err := a.tree(name)
	if err != nil {
		return err
	}
	a.properties(doc, "docProps/core.xml")
	rels := a.relations(name)
	number := 0
	places := map[string]int{}
	for _, s := range root.first("sldIdLst").all("sldId") {
		if r, ok := rels[relationID(s)]; ok && a.has(r.target) {
			places[r.target] = len(places) + 1
		}
	}
	for _, s := range root.first("sldIdLst").all("sldId") {
		number++
		r, ok := rels[relationID(s)]
		if !ok || !a.has(r.target) {
			doc.Damaged = true
			doc.warn("slide %d is missing from the file", number)
			continue
		}
		slide := a.optional(r.target)
		p := &pptx{a: a, doc: doc, rels: a.linked(r.target, slide), places: places}
		doc.Parts = append(doc.Parts, p.slide(slide, number))
	}
	return nil
}

// relationID is the attribute r:id, which has the same local name as the plain id.
func relationID(n *node) string {
	id := ""
	if n == nil {
		return id
	}
	for _, a := range n.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
		if a.Name.Local == "id" {
			id = a.Value
		}
	}
	return id
}

// shape is something on a slide, with where it stands.
type shape struct {
	x, y  int64
	title bool
	text  string
}

func (p *pptx) slide(root *node, number int) Part {
	label := "Slide " + strconv.Itoa(number)
	var shapes []shape
	p.shapes(root.first("spTree"), &shapes, 0, 0, 0)
	// People read from top to bottom and from left to right; shapes whose tops differ by less than half an inch are in a row.
	const row = 914400 / 2
	slices.SortStableFunc(shapes, func(a, b shape) int {
		if a.title != b.title {
			if a.title {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.y/row, b.y/row), cmp.Compare(a.x, b.x))
	})
	var b blocks
	for _, s := range shapes {
		if s.title && !strings.Contains(label, ":") {
			label += ": " + s.text
			continue
		}
		if s.title {
			s.text = paragraph(escape(s.text))
		}
		b.add(s.text)
	}
	if root.child("sld").attr("show") == "0" {
		label += " (hidden)"
	}
	for _, r := range p.rels {
		if r.kind == "notesSlide" {
			b.add(p.notes(p.a.optional(r.target)))
		}
	}
	return Part{Label: label, text: b.String()}
}

// marginal are the placeholders that repeat on each slide.
var marginal = map[string]bool{"sldNum": true, "dt": true, "ftr": true, "hdr": true}

// shapes collects the shapes of a group, which may move its own by dx and dy.
func (p *pptx) shapes(n *node, list *[]shape, dx, dy int64, depth int) {
	if n == nil || depth > 20 {
		return
	}
	for _, k := range n.kids {
		s := shape{x: dx, y: dy}
		if off := k.first("off"); off != nil {
			x, _ := strconv.ParseInt(off.attr("x"), 10, 64)
			y, _ := strconv.ParseInt(off.attr("y"), 10, 64)
			s.x, s.y = x+dx, y+dy
		}
		switch k.name {
		case "sp", "cxnSp":
			kind := k.child("nvSpPr", "nvPr", "ph").attr("type")
			if marginal[kind] {
				continue
			}
			s.title = kind == "title" || kind == "ctrTitle"
			s.text = p.text(k.child("txBody"), true)
			if s.title {
				s.text = strings.Join(strings.Fields(spaced(k.child("txBody"))), " ")
			}
		case "pic":
			s.text = p.picture(k)
		case "graphicFrame":
			s.text = p.graphic(k)
		case "grpSp":
			p.shapes(k, list, dx, dy, depth+1)
			continue
		case "AlternateContent":
			p.shapes(choice(k), list, dx, dy, depth+1)
			continue
		}
		if strings.TrimSpace(s.text) != "" {
			*list = append(*list, s)
		}
	}
}

func (p *pptx) picture(k *node) string {
	r, ok := p.rels[k.first("blip").attr("embed")]
	if !ok || r.external || !p.a.has(r.target) {
		return ""
	}
	return p.doc.picture(r.target, k.first("cNvPr").attr("descr"), p.a.limits)
}

// graphic is a table, a chart or a diagram.
func (p *pptx) graphic(k *node) string {
	if t := k.first("tbl"); t != nil {
		var rows [][]string
		for _, tr := range t.all("tr") {
			var row []string
			for _, tc := range tr.all("tc") {
				text := ""
				if tc.attr("hMerge") != "1" && tc.attr("vMerge") != "1" {
					text = p.text(tc.child("txBody"), false)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
		return table(rows)
	}
	if c := k.first("chart"); c != nil {
		if r, ok := p.rels[relationID(c)]; ok {
			return chart(p.a.optional(r.target))
		}
	}
	if rel := k.first("relIds"); rel != nil {
		if r, ok := p.rels[rel.attr("dm")]; ok {
			return smartArt(p.a.optional(r.target))
		}
	}
	return ""
}

// text is a body of text. With items, a body of several paragraphs is a list, as slides mean it.
func (p *pptx) text(body *node, items bool) string {
	if body == nil {
		return ""
	}
	var lines []slideLine
	for _, k := range body.kids {
		if k.name != "p" {
			continue
		}
		text := strings.Trim(join(p.spans(k)), " \\\n")
		if text == "" {
			continue
		}
		pr := k.child("pPr")
		level, _ := strconv.Atoi(pr.attr("lvl")) // absent: 0
		lines = append(lines, slideLine{min(max(level, 0), 8), text, pr.child("buNone") != nil, pr.child("buAutoNum") != nil, pr.child("buAutoNum").attr("startAt")})
	}
	var b blocks
	var numbers [9]int
	for _, l := range lines {
		if !items || len(lines) < 2 || l.plain {
			b.add(paragraph(l.text))
			continue
		}
		clear(numbers[l.level+1:])
		marker := "-"
		if v, err := strconv.Atoi(l.start); err == nil && numbers[l.level] == 0 && v > 0 && v < 1e9 {
			numbers[l.level] = v - 1
		}
		if numbers[l.level]++; l.numbered {
			marker = strconv.Itoa(numbers[l.level]) + "."
		} else {
			numbers[l.level] = 0
		}
		b.item(l.level, marker, oneLine(l.text))
	}
	return b.String()
}

// spaced is the text below a node with blanks where paragraphs and lines end.
func spaced(n *node) string {
	var b strings.Builder
	for _, p := range n.all("p") {
		for _, k := range p.kids {
			text := clean(k.child("t").flat())
			switch at := scriptOf(k.child("rPr").attr("baseline")); {
			case at > 0:
				text = script.Raised(b.String(), text)
			case at < 0:
				text = script.Lowered(b.String(), text)
			}
			b.WriteString(text)
			if k.name == "br" {
				b.WriteByte(' ')
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// slideLine is a paragraph of a body of text.
type slideLine struct {
	level           int
	text            string
	plain, numbered bool
	start           string // the first number, if it is not 1
}

func (p *pptx) spans(n *node) []span {
	var list []span
	for _, k := range n.kids {
		switch k.name {
		case "r", "fld":
			pr := k.child("rPr")
			s := span{bold: pr.attr("b") == "1", italic: pr.attr("i") == "1", strike: strings.HasSuffix(pr.attr("strike"), "Strike") && pr.attr("strike") != "noStrike"}
			if r, ok := p.rels[pr.child("hlinkClick").attr("id")]; ok && r.external {
				s.link = safeLink(r.target)
			} else if place := p.places[r.target]; ok && place > 0 {
				s.link = partLink(place)
			}
			s.script = scriptOf(pr.attr("baseline"))
			s.text = escape(k.child("t").flat())
			list = append(list, s)
		case "br":
			list = append(list, span{text: "\\\n", raw: true})
		}
	}
	return list
}

// notes returns the speaker's notes of a slide. Some programs have them in a box that is no placeholder.
func (p *pptx) notes(root *node) string {
	var b blocks
	for _, sp := range root.all("sp") {
		if !marginal[sp.child("nvSpPr", "nvPr", "ph").attr("type")] {
			b.add(p.text(sp.child("txBody"), false))
		}
	}
	if text := b.String(); text != "" {
		return quote("[!note] Speaker notes\n" + text)
	}
	return ""
}
