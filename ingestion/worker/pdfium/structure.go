package pdfium

import (
	"strconv"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Limits of what is read of a page's structure.
const (
	maxElements = 20_000
	deepest     = 60 // elements within elements
)

// Tags returns the pieces of a page's text in the order of the document's own structure (PDF 32000-1, §14.7), or nil if the page has none.
func Tags(d *Document, n int) []layout.Tag {
	tree, err := d.in.FPDF_StructTree_GetForPage(&requests.FPDF_StructTree_GetForPage{Page: d.page(n)})
	if err != nil {
		return nil // the binding returns an error if there is none
	}
	defer tidy(func() error {
		_, err := d.in.FPDF_StructTree_Close(&requests.FPDF_StructTree_Close{StructTree: tree.StructTree})
		return err
	})
	count, err := d.in.FPDF_StructTree_CountChildren(&requests.FPDF_StructTree_CountChildren{StructTree: tree.StructTree})
	if err != nil || count.Count == 0 {
		return nil
	}
	boxes := markedBoxes(d, n)
	if len(boxes) == 0 {
		return nil
	}
	w := walk{d: d, boxes: boxes, at: layout.Tag{Role: layout.RoleNone}}
	for i := range min(count.Count, maxElements) {
		child, err := d.in.FPDF_StructTree_GetChildAtIndex(&requests.FPDF_StructTree_GetChildAtIndex{StructTree: tree.StructTree, Index: i})
		if err == nil {
			w.element(child.StructElement, 0)
		}
	}
	return w.tags
}

// markedBoxes returns where the text of each piece of marked content is on the page as displayed.
func markedBoxes(d *Document, n int) map[int][]layout.Box {
	width, height, err := d.Size(n)
	if err != nil {
		return nil
	}
	count, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: d.page(n)})
	if err != nil {
		return nil
	}
	out := map[int][]layout.Box{}
	for i := range min(count.Count, maxObjects) {
		object, err := d.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: d.page(n), Index: i})
		if err != nil {
			continue
		}
		kind, err := d.in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_TEXT {
			continue
		}
		id, err := d.in.FPDFPageObj_GetMarkedContentID(&requests.FPDFPageObj_GetMarkedContentID{PageObject: object.PageObject})
		if err != nil || id.MarkedContentID < 0 {
			continue
		}
		bounds, err := d.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		box, err := d.displayed(n, width, height, float64(bounds.Left), float64(bounds.Top), float64(bounds.Right), float64(bounds.Bottom))
		if err == nil && box.X1 > box.X0 {
			out[id.MarkedContentID] = append(out[id.MarkedContentID], box)
		}
	}
	return out
}

// walk collects the tags of a page from its structure tree.
type walk struct {
	d        *Document
	boxes    map[int][]layout.Box
	tags     []layout.Tag
	elements int
	blocks   int
	tables   int
	at       layout.Tag      // what holds the content that is read now
	taken    map[[2]int]bool // rows and columns of the table that cells cover
}

// element reads an element and what is in it.
func (w *walk) element(e references.FPDF_STRUCTELEMENT, depth int) {
	if w.elements++; w.elements > maxElements || depth > deepest {
		return
	}
	outside, taken := w.at, w.taken
	name := ""
	if got, err := w.d.in.FPDF_StructElement_GetType(&requests.FPDF_StructElement_GetType{StructElement: e}); err == nil {
		name = got.Type
	}
	w.enter(e, name)
	count, err := w.d.in.FPDF_StructElement_CountChildren(&requests.FPDF_StructElement_CountChildren{StructElement: e})
	if err == nil {
		for i := range min(count.Count, maxElements) {
			if id, err := w.d.in.FPDF_StructElement_GetChildMarkedContentID(&requests.FPDF_StructElement_GetChildMarkedContentID{StructElement: e, Index: i}); err == nil && id.ChildMarkedContentID >= 0 {
				w.content(id.ChildMarkedContentID)
				continue
			}
			child, err := w.d.in.FPDF_StructElement_GetChildAtIndex(&requests.FPDF_StructElement_GetChildAtIndex{StructElement: e, Index: i})
			if err == nil {
				w.element(child.StructElement, depth+1)
			}
		}
	}
	if outside.Table == w.at.Table { // rows count on through the groups of a table
		outside.Row = max(outside.Row, w.at.Row)
	} else {
		w.taken = taken
	}
	w.at = outside
}

// cell places a cell: in the first column of its row that no other cell covers.
func (w *walk) cell(e references.FPDF_STRUCTELEMENT) {
	if w.taken == nil {
		return // outside of any table
	}
	row, column := w.at.Row, 1
	for w.taken[[2]int{row, column}] {
		column++
	}
	w.at.Column = column
	wide, high := w.number(e, "ColSpan"), w.number(e, "RowSpan")
	for r := range high {
		for c := range wide {
			w.taken[[2]int{row + r, column + c}] = true
		}
	}
}

// enter notes what the content of an element is part of.
func (w *walk) enter(e references.FPDF_STRUCTELEMENT, name string) {
	begin := func(role layout.Role) {
		w.blocks++
		w.at.Role, w.at.Block, w.at.Level = role, w.blocks, 0
	}
	switch name {
	case "Table":
		w.tables++
		w.at.Table, w.at.Row, w.taken = w.tables, 0, map[[2]int]bool{}
	case "TR":
		w.at.Row++
		w.at.Column = 0
	case "TD", "TH":
		begin(layout.RoleCell)
		w.cell(e)
	case "H", "H1", "H2", "H3", "H4", "H5", "H6", "Title":
		begin(layout.RoleHeading)
		w.at.Level = 1
		if level, err := strconv.Atoi(strings.TrimPrefix(name, "H")); err == nil {
			w.at.Level = level
		}
	case "LI":
		begin(layout.RoleItem)
	case "Note", "FENote":
		begin(layout.RoleNote)
	case "P", "Caption", "BlockQuote", "TOCI", "BibEntry", "Figure", "Formula", "Code":
		if w.at.Role == layout.RoleNone || w.at.Role == layout.RoleParagraph {
			begin(layout.RoleParagraph)
		}
	}
}

// content adds a piece of marked content.
func (w *walk) content(id int) {
	for _, box := range w.boxes[id] {
		tag := w.at
		tag.Box = box
		w.tags = append(w.tags, tag)
	}
	delete(w.boxes, id) // content belongs to one element
}

// maxSpan limits how many rows and columns a cell covers.
const maxSpan = 100

// number returns an attribute of an element that counts rows or columns.
func (w *walk) number(e references.FPDF_STRUCTELEMENT, name string) int {
	count, err := w.d.in.FPDF_StructElement_GetAttributeCount(&requests.FPDF_StructElement_GetAttributeCount{StructElement: e})
	if err != nil {
		return 1
	}
	for i := range min(count.Count, 20) {
		attribute, err := w.d.in.FPDF_StructElement_GetAttributeAtIndex(&requests.FPDF_StructElement_GetAttributeAtIndex{StructElement: e, Index: i})
		if err != nil {
			continue
		}
		value, err := w.d.in.FPDF_StructElement_Attr_GetValue(&requests.FPDF_StructElement_Attr_GetValue{StructElementAttribute: attribute.StructElementAttribute, Name: name})
		if err != nil {
			continue
		}
		number, err := w.d.in.FPDF_StructElement_Attr_GetNumberValue(&requests.FPDF_StructElement_Attr_GetNumberValue{StructElementAttributeValue: value.StructElementAttributeValue})
		if err == nil && number.Value >= 1 && number.Value <= maxSpan {
			return int(number.Value)
		}
	}
	return 1
}
