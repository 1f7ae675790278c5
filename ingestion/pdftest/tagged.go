package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// Element is a part of a document's structure: with others in it, or with the text of one line.
type Element struct {
	Role string // as P, H1, Table, TR or TD
	Span int    // columns that a cell covers; 0 is one
	Text string
	X, Y float64 // of the text's baseline, in points from the upper left corner
	Kids []Element
}

// Tagged makes a PDF of one A4 page whose structure is elements. The page draws the text from the top down, whatever its order in the structure.
func Tagged(elements ...Element) []byte {
	var w writer
	t := tagging{w: &w, catalog: w.reserve(), page: w.reserve(), info: w.reserve(), font: w.reserve(), content: w.reserve(), root: w.reserve(), parents: w.reserve()}
	kids := make([]int, len(elements))
	for i, e := range elements {
		kids[i] = t.put(e, t.root)
	}
	pages := w.reserve()
	w.put(t.catalog, fmt.Sprintf("<< /Type /Catalog /Pages %s /MarkInfo << /Marked true >> /StructTreeRoot %s >>", ref(pages), ref(t.root)))
	w.put(pages, fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count 1 >>", ref(t.page)))
	w.put(t.page, fmt.Sprintf("<< /Type /Page /Parent %s /MediaBox [0 0 %d %d] /StructParents 0 /Contents %s /Resources << /Font << /F1 %s >> >> >>",
		ref(pages), a4Width, a4Height, ref(t.content), ref(t.font)))
	w.put(t.info, "<< >>")
	w.put(t.font, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	w.putStream(t.content, "", []byte(strings.Join(t.drawn, "")))
	w.put(t.root, fmt.Sprintf("<< /Type /StructTreeRoot /K [%s] /ParentTree %s >>", refs(kids), ref(t.parents)))
	w.put(t.parents, fmt.Sprintf("<< /Nums [0 [%s]] >>", refs(t.owners)))
	var out bytes.Buffer
	w.write(&out, t.catalog, t.info)
	return out.Bytes()
}

// tagging is a tagged document that is being made.
type tagging struct {
	w                                                 *writer
	catalog, page, info, font, content, root, parents int
	drawn                                             []string // operators, one piece of marked content each
	owners                                            []int    // the element of each piece
}

// put writes an element and what is in it, and returns its object.
func (t *tagging) put(e Element, parent int) int {
	n := t.w.reserve()
	var kids []string
	if e.Text != "" {
		id := len(t.owners)
		t.owners = append(t.owners, n)
		t.drawn = append(t.drawn, fmt.Sprintf("/%s << /MCID %d >> BDC BT /F1 10 Tf %.2f %.2f Td %s Tj ET EMC\n", e.Role, id, e.X, float64(a4Height)-e.Y, literal(e.Text)))
		kids = append(kids, fmt.Sprint(id))
	}
	for _, kid := range e.Kids {
		kids = append(kids, ref(t.put(kid, n)))
	}
	span := ""
	if e.Span > 1 {
		span = fmt.Sprintf(" /A << /O /Table /ColSpan %d >>", e.Span)
	}
	t.w.put(n, fmt.Sprintf("<< /Type /StructElem /S /%s /P %s /Pg %s /K [%s]%s >>", e.Role, ref(parent), ref(t.page), strings.Join(kids, " "), span))
	return n
}
