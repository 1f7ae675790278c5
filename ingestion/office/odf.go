package office

import (
	"errors"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// odf reads a text, presentation or spreadsheet of OpenDocument (ISO/IEC 26300).
type odf struct {
	a        *archive
	doc      *Document
	styles   map[string]odfStyle
	numbered map[string]map[int]int // the first number of list levels that have numbers, by list style
	last     map[string]int         // the last number of the first level, by list style, for lists that continue
	notes    []string
	cells    int
	anchors  map[string]string // link to the heading, by bookmark and by the heading's own text
}

type odfStyle struct {
	bold, italic, strike bool
	script               string // text-position: super, sub, or a share of the height
	display              string // none: it is hidden
	font                 string
	parent               string // as is the name, with _20_ for a blank
}

func readODF(a *archive, doc *Document) error {
	if a.optional("META-INF/manifest.xml").first("encryption-data") != nil {
		return ErrEncrypted
	}
	root, err := a.tree("content.xml")
	if err != nil {
		return err
	}
	a.properties(doc, "meta.xml")
	o := &odf{a: a, doc: doc, styles: map[string]odfStyle{}, numbered: map[string]map[int]int{}, last: map[string]int{}, cells: a.limits.Cells, anchors: map[string]string{}}
	for _, source := range []*node{a.optional("styles.xml"), root} {
		o.readStyles(source)
	}
	body := root.first("body")
	if body == nil {
		return errors.New("the part content.xml is damaged: it has no body")
	}
	for _, h := range body.all("h") {
		to := webpage.Anchor(h.flat())
		o.anchors[strings.TrimSpace(h.flat())+"|outline"] = to
		for _, name := range []string{"bookmark", "bookmark-start"} {
			for _, m := range h.all(name) {
				o.anchors[m.attr("name")] = to
			}
		}
	}
	class, content := odfContent(root, body)
	switch class {
	case "text":
		doc.Kind = "odt"
		var b blocks
		o.blocks(content, &b, 0)
		o.edges(a.optional("styles.xml"), &b)
		o.footnotes(&b)
		doc.Parts = []Part{{text: b.String()}}
	case "presentation":
		doc.Kind = "odp"
		for i, page := range content.all("page") {
			o.page(page, "Slide "+strconv.Itoa(i+1))
		}
	case "drawing":
		doc.Kind = "odg"
		for i, page := range content.all("page") {
			o.page(page, "Page "+strconv.Itoa(i+1))
		}
	case "spreadsheet":
		doc.Kind = "ods"
		for _, t := range content.kids {
			if t.name == "table" {
				var b blocks
				b.add(sheetTables(o.rows(t, 0)))
				o.blocks(t.child("shapes"), &b, 0) // what floats over the sheet
				doc.Parts = append(doc.Parts, Part{Label: t.attr("name"), text: b.String()})
			}
		}
	default:
		return ErrUnknown
	}
	if len(doc.Parts) == 0 { // programs save one at least
		return errors.New("the part content.xml is damaged: it has no page or sheet")
	}
	return nil
}

// odfContent returns what kind of document it is, and where its content is. The formats of OpenOffice 1 name the kind at the root and
// have the content in the body itself.
func odfContent(root, body *node) (class string, content *node) {
	for _, class := range []string{"text", "presentation", "drawing", "spreadsheet"} {
		if content := body.child(class); content != nil {
			return class, content
		}
	}
	return root.first("document-content").attr("class"), body
}

func (o *odf) readStyles(root *node) {
	for _, s := range root.all("style") {
		pr := s.child("text-properties")
		o.styles[s.attr("name")] = odfStyle{
			bold:   pr.attr("font-weight") == "bold" || pr.attr("font-weight") > "500" && len(pr.attr("font-weight")) == 3,
			italic: pr.attr("font-style") == "italic" || pr.attr("font-style") == "oblique",
			strike: pr.attr("text-line-through-style") != "" && pr.attr("text-line-through-style") != "none",
			script: pr.attr("text-position"), display: pr.attr("display"), font: pr.attr("font-name"),
			parent: s.attr("parent-style-name"),
		}
	}
	for _, l := range root.all("list-style") {
		levels := map[int]int{}
		for _, k := range l.kids {
			if n, err := strconv.Atoi(k.attr("level")); err == nil && k.name == "list-level-style-number" && k.attr("num-format") != "" {
				levels[n] = startOf(k, 1)
			}
		}
		o.numbered[l.attr("name")] = levels
	}
}

// blocks adds the contents of a body, a section, a cell or a frame.
func (o *odf) blocks(n *node, b *blocks, depth int) {
	if n == nil || depth > 40 {
		return
	}
	for _, k := range n.kids {
		switch k.name {
		case "h":
			level, _ := strconv.Atoi(k.attr("outline-level"))
			if text := o.inline(k, b); text != "" {
				b.add(strings.Repeat("#", min(max(level, 1), 6)) + " " + oneLine(text))
			}
		case "p":
			if depth == 0 && o.named(k.attr("style-name"), "preformatted", "source_20_code", "sourcecode") {
				b.code(o.lines(k))
			} else if text := o.inline(k, b); text != "" {
				b.add(o.plain(k.attr("style-name"), text))
			}
		case "list":
			o.list(k, b, 1, k.attr("style-name"))
		case "table":
			b.add(table(o.rows(k, depth)))
		case "frame", "custom-shape", "text-box", "g", "a":
			o.frame(k, b, depth)
		case "section", "index-body":
			if k.attr("display") == "none" || k.attr("is-hidden") == "true" {
				continue
			}
			o.blocks(k, b, depth+1)
		}
	}
}

// plain is a paragraph by the name of its style: a title, a quotation, or text.
func (o *odf) plain(style, text string) string {
	for depth := 0; style != "" && depth < 8; depth++ {
		switch style {
		case "Title":
			return "# " + oneLine(text)
		case "Quotations", "Quote", "Block_20_Text":
			return quote(paragraph(text))
		}
		style = o.styles[style].parent
	}
	return paragraph(text)
}

// named reports whether a style, or one that it is based on, has a name with one of these prefixes.
func (o *odf) named(style string, prefixes ...string) bool {
	for depth := 0; style != "" && depth < 8; depth++ {
		for _, p := range prefixes {
			if strings.HasPrefix(strings.ToLower(style), p) {
				return true
			}
		}
		style = o.styles[style].parent
	}
	return false
}

// lines is a paragraph's text as it stands, with its line breaks and tabs.
func (o *odf) lines(n *node) string {
	var b strings.Builder
	for _, k := range n.kids {
		switch k.name {
		case "":
			b.WriteString(strings.ReplaceAll(k.text, "\n", " "))
		case "s":
			count, err := strconv.Atoi(k.attr("c"))
			if err != nil || count < 1 || count > 1000 {
				count = 1
			}
			b.WriteString(strings.Repeat(" ", count))
		case "tab":
			b.WriteByte('\t')
		case "line-break":
			b.WriteByte('\n')
		default:
			b.WriteString(o.lines(k))
		}
	}
	return b.String()
}

// startOf is the number that a list or an item begins with.
func startOf(n *node, otherwise int) int {
	if v, err := strconv.Atoi(n.attr("start-value")); err == nil && v >= 0 && v < 1e9 {
		return v
	}
	return otherwise
}

// list adds a list's items; level counts from 1.
func (o *odf) list(n *node, b *blocks, level int, style string) {
	if level > 9 {
		return
	}
	start, isNumbered := o.numbered[style][level]
	number := start - 1
	if level == 1 && (n.attr("continue-numbering") == "true" || n.attr("continue-list") != "") {
		number = max(number, o.last[style])
	}
	for _, item := range n.kids {
		if item.name != "list-item" && item.name != "list-header" {
			continue
		}
		number = startOf(item, number+1) - 1
		first := true
		for _, k := range item.kids {
			switch k.name {
			case "p", "h":
				text := o.inline(k, b)
				if text == "" {
					continue
				}
				if !first {
					b.item(level, "", text)
					continue
				}
				marker := "-"
				if isNumbered {
					number++
					if level == 1 {
						o.last[style] = number
					}
					marker = strconv.Itoa(number) + "."
				}
				first = false
				b.item(level-1, marker, text)
			case "list":
				inner := k.attr("style-name")
				if inner == "" {
					inner = style
				}
				o.list(k, b, level+1, inner)
			}
		}
	}
}

// page adds a slide, or a page of a drawing.
func (o *odf) page(page *node, label string) {
	var b blocks
	for _, k := range page.kids {
		switch {
		case k.name == "notes":
			var text blocks
			for _, f := range k.kids {
				if class := f.attr("class"); class == "" || class == "notes" {
					o.blocks(&node{kids: []*node{f}}, &text, 1)
				}
			}
			if t := text.String(); t != "" {
				b.add(quote("[!note] Speaker notes\n" + t))
			}
		case k.attr("class") == "title" && !strings.Contains(label, ":"):
			if t := strings.TrimSpace(strings.Join(strings.Fields(k.flat()), " ")); t != "" {
				label += ": " + t
			}
		default:
			o.blocks(&node{kids: []*node{k}}, &b, 0)
		}
	}
	o.footnotes(&b)
	o.doc.Parts = append(o.doc.Parts, Part{Label: label, text: b.String()})
}
