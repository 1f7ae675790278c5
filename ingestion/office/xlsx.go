package office

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Rows and columns of a sheet that are written; what is beyond is named in a warning.
const (
	maxRows    = 20_000
	maxColumns = 256
)

// readXlsx reads a spreadsheet with excelize, which knows number formats: a date is written as the sheet shows it. Values
// are those that the program kept which saved the file; formulas are not computed.
func readXlsx(a *archive, doc *Document) error {
	doc.Kind = "xlsx"
	a.properties(doc, "docProps/core.xml")
	if _, err := a.tree(a.main("xl/workbook.xml")); err != nil {
		return err
	}
	data, err := a.whole()
	if err != nil {
		return err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: a.limits.Total, UnzipXMLSizeLimit: a.limits.Part})
	if err != nil {
		if errors.Is(err, excelize.ErrWorkbookFileFormat) || strings.Contains(err.Error(), "encrypted") {
			return ErrEncrypted
		}
		if errors.Is(err, io.EOF) {
			return errors.New("the file is damaged: the spreadsheet cannot be read, because a part of it is empty or missing")
		}
		return fmt.Errorf("the file is damaged: the spreadsheet cannot be read: %v", err) //nolint:errorlint // an EOF is that of a part, not the archive's
	}
	defer book.Close()
	checkBook(a, doc)
	left := a.limits.Cells
	pictures, scripted := sheetDrawings(a, doc), scriptedStrings(a)
	for _, name := range book.GetSheetList() {
		part, used, err := sheet(book, name, left, scripted, doc)
		left -= used
		if err != nil {
			doc.Damaged = true
			doc.warn("sheet %q cannot be read: %v", name, err)
			continue
		}
		if visible, err := book.GetSheetVisible(name); err == nil && !visible {
			part.Label += " (hidden)"
		}
		part.text = strings.TrimSpace(part.text + "\n\n" + strings.Join(pictures[name], "\n\n"))
		doc.Parts = append(doc.Parts, part)
	}
	return nil
}

// checkBook warns about sheets, shared texts and formats that are not whole: excelize takes what it finds, without an error.
func checkBook(a *archive, doc *Document) {
	for _, r := range sorted(a.relations(a.main("xl/workbook.xml"))) {
		switch {
		case r.external:
		case a.has(r.target) && (r.kind == "worksheet" || r.kind == "sharedStrings" || r.kind == "styles"):
			a.check(r.target)
		case r.kind == "worksheet" || r.kind == "sharedStrings":
			doc.damage(r.target, errors.New("it is not in the file"))
		}
	}
}

// sheetDrawings are the marks of the pictures that float over each sheet, the titles of its charts and the texts of its boxes, by the
// sheet's name, in the order of their cells (ECMA-376, part 1, section 20.5).
func sheetDrawings(a *archive, doc *Document) map[string][]string {
	name := a.main("xl/workbook.xml")
	book := a.relations(name)
	list := map[string][]string{}
	for _, s := range a.optional(name).first("sheets").all("sheet") {
		sheet := book[relationID(s)].target
		for _, r := range sorted(a.relations(sheet)) {
			if r.kind != "drawing" || r.external {
				continue
			}
			anchors := a.optional(r.target).first("wsDr").elements()
			slices.SortStableFunc(anchors, func(x, y *node) int {
				return cmp.Or(cmp.Compare(place(x, "row"), place(y, "row")), cmp.Compare(place(x, "col"), place(y, "col")))
			})
			inside := a.relations(r.target)
			for _, anchor := range anchors {
				list[s.attr("name")] = append(list[s.attr("name")], drawn(anchor, a, inside, doc)...)
			}
		}
	}
	return list
}

// drawn returns what a drawing shows. A modern form is taken before the one for older programs, which may only say that it is one.
func drawn(n *node, a *archive, inside map[string]relation, doc *Document) (list []string) {
	switch n.name {
	case "pic":
		if to, ok := inside[n.first("blip").attr("embed")]; ok && !to.external && a.has(to.target) {
			list = append(list, doc.picture(to.target, n.first("cNvPr").attr("descr"), a.limits))
		}
		return list
	case "chart":
		if to, ok := inside[relationID(n)]; ok && !to.external {
			list = append(list, chartTitles(a.optional(to.target)))
		}
		return list
	case "txBody":
		return append(list, drawnText(n))
	}
	for _, k := range n.elements() {
		list = append(list, drawn(k, a, inside, doc)...)
		if n.name == "AlternateContent" && len(list) > 0 {
			break
		}
	}
	return list
}

// drawnText returns the paragraphs of a text box.
func drawnText(box *node) string {
	var b blocks
	for _, p := range box.all("p") {
		b.add(paragraph(escape(strings.TrimSpace(p.flat()))))
	}
	return b.String()
}

// place is the row or column where a drawing begins, from 0.
func place(anchor *node, what string) int {
	n, err := strconv.Atoi(strings.TrimSpace(anchor.child("from", what).flat()))
	if err != nil {
		return 0
	}
	return n
}

// sorted are relationships in the order of their ids.
func sorted(rels map[string]relation) []relation {
	var list []relation
	for _, id := range slices.Sorted(maps.Keys(rels)) {
		list = append(list, rels[id])
	}
	return list
}

// sheet is one sheet as a table, and how many cells it took.
func sheet(book *excelize.File, name string, left int, scripted map[string]string, doc *Document) (Part, int, error) {
	part := Part{Label: name}
	stream, err := book.Rows(name)
	if err != nil {
		return part, 0, err
	}
	defer stream.Close()
	raw := rawCells{book: book, sheet: name}
	defer raw.close()
	var rows [][]string
	used := 0
	for number := 1; stream.Next(); number++ {
		columns, err := stream.Columns()
		if err != nil {
			return part, used, err
		}
		if used += len(columns); used > left || len(rows) >= maxRows {
			doc.warn("sheet %q is longer than %d rows; the rest is not shown", name, len(rows))
			break
		}
		if len(columns) > maxColumns {
			doc.warn("sheet %q has more than %d columns; the rest is not shown", name, maxColumns)
			columns = columns[:maxColumns]
		}
		row := make([]string, len(columns))
		for i, text := range columns {
			row[i] = escape(raw.exact(number, i, text))
		}
		rows = append(rows, row)
	}
	if n := formulas(book, name, rows); n > 0 {
		doc.warn("sheet %q has no saved result for %d of its formulas, which are shown instead; open and save the file in its program, and import it again", name, n)
	}
	raise(book, name, rows, scripted)
	links(book, name, rows)
	part.text = sheetTables(rows)
	return part, used, stream.Error()
}

// keptDigits is how many digits of a number Excel keeps, and the formats of excelize show.
const keptDigits = 15

// rawCells reads the values of a sheet without their formats, from where it is first asked on: that takes as long as reading the sheet.
type rawCells struct {
	book  *excelize.File
	sheet string
	rows  *excelize.Rows
	row   int
	cells []string
}

// at returns a value, counted from 1 and 0, or "". Rows are asked for in their order.
func (r *rawCells) at(row, column int) string {
	if r.rows == nil {
		var err error
		if r.rows, err = r.book.Rows(r.sheet); err != nil {
			return ""
		}
	}
	for ; r.row < row && r.rows.Next(); r.row++ {
		var err error
		if r.cells, err = r.rows.Columns(excelize.Options{RawCellValue: true}); err != nil {
			return ""
		}
	}
	if r.row != row || column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

func (r *rawCells) close() {
	if r.rows != nil {
		_ = r.rows.Close()
	}
}

// exact writes the digits that the file has into a longer number, such as that of an account: programs other than Excel keep them.
func (r *rawCells) exact(row, column int, text string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	if len(digits) <= keptDigits {
		return text
	}
	raw := strings.TrimPrefix(r.at(row, column), "-")
	if len(raw) <= keptDigits || strings.Trim(raw, "0123456789") != "" {
		return text
	}
	if strings.Contains(text, "E+") {
		return text[:len(text)-len(strings.TrimPrefix(text, "-"))] + raw
	}
	shown, _ := strconv.ParseFloat(digits[:min(len(raw), len(digits))], 64)
	if whole, _ := strconv.ParseFloat(raw, 64); math.Abs(shown-whole) > whole*1e-14 {
		return text // a percentage, thousands, a date
	}
	next := 0
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' || next == len(raw) {
			return r
		}
		next++
		return rune(raw[next-1])
	}, text)
}

// mostAsked is how many cells of a sheet are examined for what their text does not show, because each time the sheet's list is walked.
const mostAsked = 5000

// formulas writes formulas into the cells whose results the file does not have, and counts them. Programs that only write files
// compute nothing.
func formulas(book *excelize.File, name string, rows [][]string) (n int) {
	asked := 0
	for r, row := range rows {
		for c, text := range row {
			if text != "" {
				continue
			}
			if asked++; asked > mostAsked {
				return n
			}
			at, err := excelize.CoordinatesToCellName(c+1, r+1)
			if err != nil {
				return n
			}
			// A formula whose result is an empty text has one.
			formula, err := book.GetCellFormula(name, at)
			if kind, _ := book.GetCellType(name, at); err != nil || formula == "" || kind == excelize.CellTypeFormula {
				continue
			}
			row[c] = escape("=" + strings.TrimPrefix(formula, "="))
			n++
		}
	}
	return n
}

// scriptedStrings returns the texts with raised or lowered parts that cells share, by what the text is without them
// (ECMA-376, part 1, section 18.4).
func scriptedStrings(a *archive) map[string]string {
	list := map[string]string{}
	for _, si := range a.optional("xl/sharedStrings.xml").all("si") {
		if si.first("vertAlign") == nil {
			continue
		}
		var spans []span
		for _, r := range si.kids {
			if r.name == "r" {
				spans = append(spans, span{text: escape(r.child("t").flat()), script: scriptOf(r.child("rPr", "vertAlign").attr("val"))})
			}
		}
		list[escape(si.flat())] = join(spans)
	}
	return list
}

// raise writes the texts with raised or lowered parts into their cells.
func raise(book *excelize.File, name string, rows [][]string, scripted map[string]string) {
	if len(scripted) == 0 {
		return
	}
	asked := 0
	for r, row := range rows {
		for c, text := range row {
			with, ok := scripted[text]
			if !ok {
				continue
			}
			if asked++; asked > mostAsked {
				return
			}
			at, err := excelize.CoordinatesToCellName(c+1, r+1)
			if err != nil {
				return
			}
			if kind, err := book.GetCellType(name, at); err == nil && kind == excelize.CellTypeSharedString {
				row[c] = with
			}
		}
	}
}

// links makes links of cells that have one; only the first cells are checked, because each check walks the sheet's list.
func links(book *excelize.File, name string, rows [][]string) {
	asked := 0
	for r, row := range rows {
		for c, text := range row {
			if text == "" {
				continue
			}
			if asked++; asked > mostAsked {
				return
			}
			at, err := excelize.CoordinatesToCellName(c+1, r+1)
			if err != nil {
				return
			}
			ok, to, err := book.GetCellHyperLink(name, at)
			if err != nil || !ok {
				continue
			}
			if to = or(safeLink(to), sheetLink(book, to)); to != "" {
				row[c] = "[" + text + "](" + destination(to) + ")"
			}
		}
	}
}

// sheetLink leads to the sheet that a place such as 'Second sheet'!A1 means.
func sheetLink(book *excelize.File, to string) string {
	name, _, found := strings.Cut(strings.TrimPrefix(to, "#"), "!")
	if !found {
		return ""
	}
	name = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "'"), "'"), "''", "'")
	if i := slices.Index(book.GetSheetList(), name); i >= 0 {
		return partLink(i + 1)
	}
	return ""
}

// whole returns the archive's bytes, for a library that needs them.
func (a *archive) whole() ([]byte, error) {
	if a.size > min(a.limits.Total, math.MaxInt32) {
		return nil, fmt.Errorf("the file is larger than %d MB", a.limits.Total>>20)
	}
	data, err := io.ReadAll(io.NewSectionReader(a.source, 0, a.size))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return data, nil
}
