package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// iworkReader returns the reader of a document of Pages, Numbers or Keynote, or nil. Until 2013 its content is XML; since then it is in
// archives of objects. A document that was kept as a folder has these in a ZIP of their own.
func iworkReader(a *archive) func(*archive, *Document) error {
	switch {
	case a.has("index.apxl"):
		return func(a *archive, doc *Document) error { return readOldIWork(a, doc, "index.apxl") }
	case a.has("index.xml"):
		return func(a *archive, doc *Document) error { return readOldIWork(a, doc, "index.xml") }
	case a.has("Index/Document.iwa"):
		return readIWork
	}
	for name := range a.files {
		if path.Base(name) == "index.zip" {
			return func(a *archive, doc *Document) error { return readIWorkFolder(a, doc, name) }
		}
	}
	return nil
}

// passwordParts are in protected documents.
var passwordParts = []string{".iwph", ".iwpv2"}

// readIWorkFolder reads a document whose objects are in an archive in the archive.
func readIWorkFolder(a *archive, doc *Document, name string) error {
	data, err := a.read(name)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read the part %s: %w", name, err)
	}
	inner := newArchive(z, bytes.NewReader(data), int64(len(data)), a.limits)
	inner.broken = a.broken
	for part, f := range a.files { // beside it are the previews
		if rel := strings.TrimPrefix(part, strings.TrimSuffix(name, "index.zip")); inner.files[rel] == nil {
			inner.files[rel] = f
		}
	}
	if !inner.has("Index/Document.iwa") && inner.has("Document.iwa") {
		for part, f := range inner.files {
			inner.files["index/"+part] = f
		}
	}
	if !inner.has("Index/Document.iwa") {
		return ErrUnknown
	}
	doc.open = inner.readLimited
	return readIWork(inner, doc)
}

// iworkPreview takes over the previews: a PDF of all pages if there is one, else a picture of the first.
func iworkPreview(a *archive, doc *Document) string {
	if a.has("QuickLook/Preview.pdf") {
		doc.Preview = "QuickLook/Preview.pdf"
		return ""
	}
	return a.preview(doc)
}

// readOldIWork reads a document of iWork '09 and before.
func readOldIWork(a *archive, doc *Document, name string) error {
	root, err := a.tree(name)
	if errors.Is(err, zip.ErrAlgorithm) { // so are the parts of a document with a password
		return ErrEncrypted
	}
	if err != nil {
		return err
	}
	for _, key := range []struct {
		name string
		to   *string
	}{{"title", &doc.Title}, {"authors", &doc.Author}} {
		*key.to = strings.TrimSpace(root.first("metadata").first(key.name).first("string").attr("string"))
	}
	preview := iworkPreview(a, doc)
	slides, sheets := root.first("slide-list").all("slide"), root.all("workspace")
	switch {
	case len(slides) > 0:
		doc.Kind = "keynote"
		for i, slide := range slides {
			doc.Parts = append(doc.Parts, oldSlide(slide, i+1))
		}
	case len(sheets) > 0:
		doc.Kind = "numbers"
		for i, sheet := range sheets {
			var old oldIWork
			old.inside = true
			old.content(sheet, 0)
			doc.Parts = append(doc.Parts, Part{Label: or(sheet.attr("workspace-name"), "Sheet "+strconv.Itoa(i+1)), text: old.b.String()})
		}
	default:
		doc.Kind = "pages"
		var old oldIWork
		old.content(root, 0)
		for _, other := range append(old.boxes, old.footnotes...) {
			inner := oldIWork{inside: true}
			inner.content(other, 0)
			old.b.add(inner.b.String())
		}
		doc.Parts = []Part{{text: old.b.String()}}
	}
	doc.begin(preview)
	return nil
}

// begin puts a preview before the first part.
func (d *Document) begin(preview string) {
	if preview == "" {
		return
	}
	if len(d.Parts) == 0 {
		d.Parts = []Part{{}}
	}
	d.Parts[0].text = strings.TrimSpace(preview + "\n\n" + d.Parts[0].text)
}

func oldSlide(slide *node, number int) Part {
	label := "Slide " + strconv.Itoa(number)
	old := oldIWork{inside: true}
	for _, k := range slide.elements() {
		if title := strings.Join(strings.Fields(flatOf(k.all("p"))), " "); k.name == "title-placeholder" && title != "" {
			label += ": " + title
			continue
		}
		if k.name == "notes" {
			notes := oldIWork{inside: true}
			notes.content(k, 0)
			if text := notes.b.String(); text != "" {
				old.b.add(quote("[!note] Speaker notes\n" + text))
			}
			continue
		}
		old.content(&node{kids: []*node{k}}, 0)
	}
	if pages := slide.first("title-placeholder"); pages != nil && !strings.Contains(label, ":") {
		if title := strings.Join(strings.Fields(flatOf(pages.all("p"))), " "); title != "" {
			label += ": " + title
		}
	}
	return Part{Label: label, text: old.b.String()}
}

func flatOf(list []*node) string {
	var b strings.Builder
	for _, n := range list {
		b.WriteString(n.flat() + " ")
	}
	return b.String()
}

// oldIWork gathers paragraphs and tables in the order of the XML. In a text document, boxes and footnotes stand before the text in the
// file; they are kept for after it.
type oldIWork struct {
	b                blocks
	inside           bool // what is not the document's text counts too
	boxes, footnotes []*node
}

// leftOut are elements with text that is not the document's own: templates, styles, headers and footers, titles that are read apart.
var leftOut = map[string]bool{
	"title-placeholder": true, "stylesheet": true, "theme-list": true, "master-slides": true, "headers": true, "footers": true, "prototype-drawables": true, "chart-info": true,
	"section-prototypes": true, "metadata": true, "ghost-text": true, "annotations": true, "change-tracking": true, "version-history": true,
}

func (o *oldIWork) content(n *node, depth int) {
	if n == nil || depth > maxDepth {
		return
	}
	for _, k := range n.kids {
		switch {
		case leftOut[k.name]:
		case k.name == "text-storage" && k.attr("kind") == "footnote" && !o.inside:
			o.footnotes = append(o.footnotes, k)
		case k.name == "drawables" && !o.inside:
			o.boxes = append(o.boxes, k)
		case k.name == "p":
			if text := strings.TrimSpace(oldText(k)); text != "" {
				o.b.add(paragraph(escape(text)))
			}
			for _, attached := range k.all("attachment") {
				o.content(attached, depth+1)
			}
		case k.name == "tabular-model":
			o.table(k)
		default:
			o.content(k, depth+1)
		}
	}
}

// oldText is the text of a paragraph.
func oldText(n *node) string {
	var b strings.Builder
	for _, k := range n.kids {
		switch k.name {
		case "":
			b.WriteString(strings.Join(strings.Split(k.text, "\n"), " "))
		case "tab":
			b.WriteByte('\t')
		case "lnbr":
			b.WriteByte('\n')
		case "ghost-text", "attachment", "stylesheet":
		default:
			b.WriteString(oldText(k))
		}
	}
	return b.String()
}

// table adds a table: its grid lists the cells row by row.
func (o *oldIWork) table(n *node) {
	if name := strings.TrimSpace(n.attr("name")); name != "" && n.attr("name-is-visible") != "false" {
		o.b.add("### " + escape(clean(name)))
	}
	grid := n.first("grid")
	columns, err := strconv.Atoi(grid.attr("numcols"))
	if err != nil || columns < 1 || columns > maxColumns {
		columns = maxColumns
	}
	var rows [][]string
	column := -1
	for _, c := range n.first("datasource").elements() {
		// A cell has its distance in columns from the one before, modulo 256; without it, it is the next.
		step, err := strconv.Atoi(c.attr("ct"))
		if err != nil {
			step = 1
		}
		if step > maxColumns/2 {
			step -= maxColumns
		}
		if column += step; step <= 0 || column >= columns || len(rows) == 0 {
			if len(rows) >= maxRows {
				break
			}
			rows = append(rows, nil)
			column = min(max(column, 0), columns) % columns
		}
		row := &rows[len(rows)-1]
		for len(*row) < column {
			*row = append(*row, "")
		}
		*row = append(*row, escape(oldCell(c)))
	}
	o.b.add(table(rows))
}

// appleEpoch is where Apple's programs count seconds from.
var appleEpoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// appleDate writes a date, with its time if it has one.
func appleDate(seconds float64) string {
	if math.IsNaN(seconds) || math.Abs(seconds) > 1e11 {
		return ""
	}
	t := appleEpoch.Add(time.Duration(seconds) * time.Second)
	if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05")
}

// oldCell is the text of a cell: a text, a number, a date, the choice of a menu, a result of a formula.
func oldCell(c *node) string {
	if v := c.attr("v"); v != "" {
		return short(v)
	}
	if v := c.attr("cell-date"); v != "" {
		return appleDate(number(v))
	}
	if chosen := c.child("proxied-cell-ref").attr("IDREF"); chosen != "" {
		for _, choice := range c.first("menu-choices").elements() {
			if choice.attr("ID") == chosen {
				return oldCell(choice)
			}
		}
	}
	for _, name := range []string{"ct", "rn", "rs", "rt", "rd", "rb"} {
		found := c.first(name)
		if v := found.attr("cell-date"); v != "" {
			return appleDate(number(v))
		}
		if v := or(found.attr("s"), found.attr("v")); v != "" && name != "rs" {
			return short(v)
		}
	}
	return strings.TrimSpace(flatOf(c.all("p")))
}

// short writes a number of the file without the noise of binary fractions.
func short(v string) string {
	if f, err := strconv.ParseFloat(v, 64); err == nil && strings.Contains(v, ".") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return v
}
