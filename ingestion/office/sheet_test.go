package office

import (
	"bytes"
	"encoding/base64"
	"errors"
	_ "image/png" // for excelize, which looks at pictures
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"golang.org/x/tools/txtar"
)

// TestRead_generatedSpreadsheet reads back what a spreadsheet may hold besides values: merged cells, lines, bars, the
// saved value of a formula, links inside and outside, pictures in the order of their cells.
func TestRead_generatedSpreadsheet(t *testing.T) {
	t.Parallel()
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	book := excelize.NewFile()
	if _, err := book.NewSheet("The 'other' one"); err != nil {
		t.Fatal(err)
	}
	picture := func(cell, alt string, data []byte) error {
		return book.AddPictureFromBytes("Sheet1", cell, &excelize.Picture{Extension: ".png", File: data, Format: &excelize.GraphicOptions{AltText: alt}})
	}
	var b bytes.Buffer
	if err := errors.Join(
		book.SetCellValue("Sheet1", "A1", "Wide | bar"), book.MergeCell("Sheet1", "A1", "B1"), book.SetCellValue("Sheet1", "C1", "two\nlines"),
		book.SetCellValue("Sheet1", "A2", "there"), book.SetCellHyperLink("Sheet1", "A2", "'The ''other'' one'!A1", "Location"),
		book.SetCellValue("Sheet1", "B2", 42), book.SetCellFormula("Sheet1", "B2", "=6*7"),
		book.SetCellValue("Sheet1", "C2", "*not bold*"),
		book.SetCellValue("The 'other' one", "A1", "x"),
		picture("E9", "second", append(bytes.Clone(dot), 0)), picture("A5", "first [one]", dot),
		book.Write(&b),
	); err != nil {
		t.Fatal(err)
	}
	doc, err := read(b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `## Sheet1

| Wide \| bar |  | two<br>lines |
| --- | --- | --- |
| [there](#^p2) | 42 | \*not bold\* |

![first (one)](image2.png)

![second](image1.png)

## The 'other' one

x
`
	if diff := cmp.Diff(want, doc.Markdown(byName(doc))); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if data, err := doc.Data(0, 1<<10); err != nil || !bytes.Equal(data, dot) {
		t.Errorf("the first picture has %d bytes, %v", len(data), err)
	}
}

func TestSheetTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows [][]string
		want string
	}{
		"two tables, one below the other": {
			[][]string{{"Name", "Sum"}, {"Ada", "3"}, {}, {"Town", "Year"}, {"Oslo", "1999"}},
			"| Name | Sum |\n| --- | --- |\n| Ada | 3 |\n\n| Town | Year |\n| --- | --- |\n| Oslo | 1999 |",
		},
		"two tables, side by side": {
			[][]string{{"Name", "Sum", "", "Town", "Year"}, {"Ada", "3", "", "Oslo", "1999"}, {"Bo", "4"}},
			"| Name | Sum |\n| --- | --- |\n| Ada | 3 |\n| Bo | 4 |\n\n| Town | Year |\n| --- | --- |\n| Oslo | 1999 |",
		},
		"a total below an empty row": {
			[][]string{{"Name", "Sum"}, {"Ada", "3"}, {}, {"Total", "3"}},
			"| Name | Sum |\n| --- | --- |\n| Ada | 3 |\n| Total | 3 |",
		},
		"a title above": {
			[][]string{{"Budget 2026"}, {}, {"in euros"}, {"Name", "Sum"}, {"Ada", "3"}},
			"Budget 2026\n\nin euros\n\n| Name | Sum |\n| --- | --- |\n| Ada | 3 |",
		},
		"cells beyond empty rows and columns": {
			[][]string{{}, {"", "", "Name", "Sum"}, {"", "", "Ada", "3"}},
			"| Name | Sum |\n| --- | --- |\n| Ada | 3 |",
		},
		"a receipt": {
			[][]string{{"Corner shop"}, {"- bread 2.40"}, {"milk 1.10"}, {}, {"Total 3.50"}},
			"Corner shop\\\n\\- bread 2.40\\\nmilk 1.10\n\nTotal 3.50",
		},
		"holes in a table": {
			[][]string{{"Name", "Sum", "Due"}, {"Ada", "", "May"}, {"", "4", ""}},
			"| Name | Sum | Due |\n| --- | --- | --- |\n| Ada |  | May |\n|  | 4 |  |",
		},
	} {
		if diff := cmp.Diff(c.want, sheetTables(c.rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A program that only writes files computes nothing: its formulas stand where their results would. A formula whose result is an empty
// text has one.
func TestRead_formulasWithoutResults(t *testing.T) {
	t.Parallel()
	const start = `<?xml version="1.0" encoding="UTF-8"?>`
	doc, err := read(packed(t, []txtar.File{
		{Name: "[Content_Types].xml", Data: []byte(start + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`)},
		{Name: "_rels/.rels", Data: []byte(start + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`)},
		{Name: "xl/_rels/workbook.xml.rels", Data: []byte(start + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`)},
		{Name: "xl/workbook.xml", Data: []byte(start + `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
			`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Budget" sheetId="1" r:id="rId1"/></sheets></workbook>`)},
		{Name: "xl/worksheets/sheet1.xml", Data: []byte(start + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` +
			`<row r="1"><c r="A1" t="inlineStr"><is><t>Item</t></is></c><c r="B1" t="inlineStr"><is><t>Amount</t></is></c><c r="C1" t="inlineStr"><is><t>Note</t></is></c></row>` +
			`<row r="2"><c r="A2" t="inlineStr"><is><t>Rent</t></is></c><c r="B2"><v>100</v></c><c r="C2" t="str"><f>IF(B2&gt;200,"high","")</f><v></v></c></row>` +
			`<row r="3"><c r="A3" t="inlineStr"><is><t>Total</t></is></c><c r="B3"><f>SUM(B2:B2)</f><v></v></c><c r="C3" t="inlineStr"><is><t>all</t></is></c></row></sheetData></worksheet>`)},
	}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if text := doc.Parts[0].text; !strings.Contains(text, "| Rent | 100 |  |\n| Total | =SUM(B2:B2) | all |") || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "no saved result for 1 of its formulas") {
		t.Errorf("warnings %q\n%s", doc.Warnings, text)
	}
}

// What lies over a sheet is read: charts by their titles, and the texts of boxes.
func TestRead_drawingsOverSheets(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	title := func(s string) []excelize.RichTextRun { return []excelize.RichTextRun{{Text: s}} }
	steps := []error{
		book.SetCellValue("Sheet1", "A1", "Jan"), book.SetCellValue("Sheet1", "B1", 7),
		book.AddChart("Sheet1", "D2", &excelize.Chart{Type: excelize.Col, Title: excelize.ChartTitle{Paragraph: title("Loaves sold")}, YAxis: excelize.ChartAxis{Title: excelize.ChartTitle{Paragraph: title("Pieces")}}, Series: []excelize.ChartSeries{{Categories: "Sheet1!$A$1", Values: "Sheet1!$B$1"}}}),
		book.AddShape("Sheet1", &excelize.Shape{Cell: "D30", Type: "rect", Paragraph: title("Mind the gap")}),
	}
	var b bytes.Buffer
	if err := errors.Join(append(steps, book.Write(&b))...); err != nil {
		t.Fatal(err)
	}
	doc, err := read(b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	hasInOrder(t, doc.Markdown(byName(doc)), "| Jan | 7 |", "Chart: Loaves sold, Pieces", "Mind the gap")
}

// Speaker notes are read from whatever box has them, without the number of the page.
func TestSlide_notesWithoutPlaceholder(t *testing.T) {
	t.Parallel()
	root, err := parse([]byte(`<notes><sp><nvSpPr><nvPr><ph type="sldNum"/></nvPr></nvSpPr><txBody><p><r><t>7</t></r></p></txBody></sp><sp><nvSpPr><nvPr/></nvSpPr><txBody><p><r><t>Smile</t></r></p></txBody></sp></notes>`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (&pptx{}).notes(root), "> [!note] Speaker notes\n> Smile"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
