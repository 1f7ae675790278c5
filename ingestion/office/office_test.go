package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"golang.org/x/tools/txtar"
)

// packed makes a ZIP file of the members.
func packed(tb testing.TB, files []txtar.File) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte, l Limits) (*Document, error) {
	return Read(bytes.NewReader(data), int64(len(data)), l)
}

// byName gives a picture its base name.
func byName(d *Document) func(int, string) string {
	return func(i int, alt string) string { return "![" + alt + "](" + d.Pictures[i].Name + ")" }
}

// TestRead_golden reads each testdata/KIND_*.txtar: its members are a file's parts, want.md is its Markdown.
func TestRead_golden(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 6 {
		t.Fatalf("found %d files: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var parts []txtar.File
			want := map[string]string{}
			for _, f := range ar.Files {
				if strings.HasPrefix(f.Name, "want.") {
					want[f.Name] = string(f.Data)
				} else {
					parts = append(parts, f)
				}
			}
			doc, err := read(packed(t, parts), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txtar"), "_"); doc.Kind != kind {
				t.Errorf("kind %q, want %q", doc.Kind, kind)
			}
			if diff := cmp.Diff(want["want.md"], doc.Markdown(byName(doc))); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.TrimSpace(want["want.warnings"]), strings.Join(doc.Warnings, "\n")); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			for i, p := range doc.Pictures {
				if data, err := doc.Data(i, 1<<10); err != nil || string(data) != "not really a picture\n" {
					t.Errorf("picture %s: %q, %v", p.Name, data, err)
				}
			}
		})
	}
}

func TestRead_spreadsheet(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	date, err := book.NewStyle(&excelize.Style{NumFmt: 14})
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{
		book.SetCellValue("Sheet1", "A1", "Name | sort"), book.SetCellValue("Sheet1", "B1", "When"),
		book.SetCellValue("Sheet1", "A2", "Pear"), book.SetCellValue("Sheet1", "B2", 46347), book.SetCellStyle("Sheet1", "B2", "B2", date),
		book.SetCellHyperLink("Sheet1", "A2", "https://example.org/pear", "External"),
		book.SetSheetVisible("Sheet1", true),
	}
	if _, err := book.NewSheet("Hidden"); err != nil {
		t.Fatal(err)
	}
	steps = append(steps, book.SetCellValue("Hidden", "C3", true), book.SetSheetVisible("Hidden", false))
	var b bytes.Buffer
	if err := errors.Join(append(steps, book.Write(&b))...); err != nil {
		t.Fatal(err)
	}
	doc, err := read(b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := "## Sheet1\n\n| Name \\| sort | When |\n| --- | --- |\n| [Pear](https://example.org/pear) | 11-21-26 |\n\n## Hidden (hidden)\n\nTRUE\n"
	if diff := cmp.Diff(want, doc.Markdown(byName(doc))); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc, err := read(b.Bytes(), Limits{Cells: 3}); err != nil || len(doc.Warnings) == 0 {
		t.Errorf("with 3 cells: %v, warnings %v", err, doc.Warnings)
	}
}

// As in docx, nothing that the program hides is in the text.
func TestRead_hiddenTextOfODT(t *testing.T) {
	t.Parallel()
	doc, err := read(packed(t, []txtar.File{
		{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")},
		{Name: "content.xml", Data: []byte(`<document-content><automatic-styles>
<style name="H"><text-properties display="none"/></style><style name="I" parent-style-name="H"/><style name="V" parent-style-name="H"><text-properties display="true"/></style></automatic-styles>
<body><text><p>One <span style-name="I">NO </span>two <span style-name="V">three</span><hidden-text is-hidden="true">NO</hidden-text></p>
<p style-name="H">NO</p><p>NO<hidden-paragraph is-hidden="true"/></p><section display="none"><p>NO</p></section><section><p>Four</p></section></text></body></document-content>`)},
	}), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Markdown(byName(doc)), "One two three\n\nFour\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A table in a cell keeps its text and order, and the columns of the outer one.
func TestRead_tableInCell(t *testing.T) {
	t.Parallel()
	p := func(text string) string { return "<p><r><t>" + text + "</t></r></p>" }
	tbl := func(cells ...string) string {
		return "<tbl><tr><tc>" + strings.Join(cells[:2], "</tc><tc>") + "</tc></tr><tr><tc>" + strings.Join(cells[2:], "</tc><tc>") + "</tc></tr></tbl>"
	}
	body := tbl(p("Item"), p("Sum"), p("Wood | oak")+tbl(p("a|b"), p("c"), "", p("x")+tbl(p("1"), p("2"), p("3"), ""))+p("after"), p("10"))
	odt := strings.NewReplacer("<r><t>", "", "</t></r>", "", "tbl>", "table>", "<tr>", "<table-row>", "</tr>", "</table-row>", "<tc>", "<table-cell>", "</tc>", "</table-cell>").Replace(body)
	want := "| Item | Sum |\n| --- | --- |\n| Wood \\| oak<br>a\\|b · c<br> · x<br>1 · 2<br>3<br>after | 10 |\n"
	for name, files := range map[string][]txtar.File{
		"docx": document(body),
		"odt": {
			{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")},
			{Name: "content.xml", Data: []byte(`<document-content><body><text>` + odt + `</text></body></document-content>`)},
		},
	} {
		doc, err := read(packed(t, files), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Markdown(byName(doc)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	code := table([][]string{{"`a|b`", "c"}, {"---", "d"}})
	if want := "| `a\\|b` | c |\n| --- | --- |\n| --- | d |"; code != want {
		t.Errorf("got\n%s\nwant\n%s", code, want)
	}
}

// Excel keeps 15 digits of a number; other programs write all, and an account is not another one.
func TestRead_longNumbers(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	plain, err := book.NewStyle(&excelize.Style{NumFmt: 1})
	if err != nil {
		t.Fatal(err)
	}
	grouped, err := book.NewStyle(&excelize.Style{NumFmt: 4})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(book.SetCellValue("Sheet1", "A1", 1234567890123456), book.SetCellStyle("Sheet1", "A1", "A1", plain),
		book.SetCellValue("Sheet1", "A2", -1234567890123456), book.SetCellStyle("Sheet1", "A2", "A2", grouped),
		book.SetCellValue("Sheet1", "A3", 1234567890123456), book.SetCellValue("Sheet1", "A4", "1234567890123456"), book.Write(&b)); err != nil {
		t.Fatal(err)
	}
	doc, err := read(b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := doc.Markdown(byName(doc))
	if strings.Count(got, "1234567890123456") != 3 || !strings.Contains(got, "-1,234,567,890,123,456.00") {
		t.Errorf("numbers of 16 digits became\n%s", got)
	}
}

// Fonts are made unreadable in books that anybody may read; chapters are not.
func TestRead_protectedBook(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]error{"O%20E/b.xhtml": ErrProtected, "O%20E/font.otf": nil} {
		files := []txtar.File{
			{Name: "mimetype", Data: []byte("application/epub+zip")},
			{Name: "META-INF/container.xml", Data: []byte(`<container><rootfiles><rootfile full-path="O E/c.opf"/></rootfiles></container>`)},
			{Name: "META-INF/encryption.xml", Data: []byte(`<encryption><EncryptedData><EncryptionMethod Algorithm="a"/><CipherData><CipherReference URI="` + part + `"/></CipherData></EncryptedData></encryption>`)},
			{Name: "O E/c.opf", Data: []byte(`<package><metadata/><manifest><item id="b" href="b.xhtml"/></manifest><spine><itemref idref="b"/></spine></package>`)},
			{Name: "O E/b.xhtml", Data: []byte(`<html><body><p>A chapter</p></body></html>`)},
		}
		if _, err := read(packed(t, files), Limits{}); !errors.Is(err, want) {
			t.Errorf("encrypted %s: %v, want %v", part, err, want)
		}
	}
}

func document(body string) []txtar.File {
	return []txtar.File{{Name: "word/document.xml", Data: []byte(`<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`)}}
}

// textOf reads a file of these parts.
func textOf(t *testing.T, files []txtar.File) string {
	t.Helper()
	doc, err := read(packed(t, files), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Markdown(byName(doc))
}

// A text box stays when the end of its paragraph was deleted: it moves to the next paragraph.
func TestRead_boxBeforeADeletedMark(t *testing.T) {
	t.Parallel()
	const mark = `<pPr><rPr><del/></rPr></pPr>`
	box := func(text string) string {
		return `<r><pict><textbox><txbxContent><p><r><t>` + text + `</t></r></p></txbxContent></textbox></pict></r>`
	}
	if got, want := textOf(t, document(`<p>`+mark+box("In a box")+`</p><p>`+mark+`<del>`+box("gone")+`</del></p><p><r><t>Text</t></r></p>`)), "In a box\n\nText\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRead_refuses(t *testing.T) {
	t.Parallel()
	bomb := document(strings.Repeat("<w:p/>", 1<<20))
	for name, test := range map[string]struct {
		data   []byte
		limits Limits
		want   string
	}{
		"no archive":         {[]byte("not a zip"), Limits{}, "archive"},
		"old or encrypted":   {[]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1and more"), Limits{}, ErrEncrypted.Error()},
		"another archive":    {packed(t, []txtar.File{{Name: "a.txt"}}), Limits{}, ErrUnknown.Error()},
		"broken XML":         {packed(t, document("<w:p")), Limits{}, "XML is broken"},
		"a part too large":   {packed(t, bomb), Limits{Part: 1 << 20}, "larger than"},
		"deep nesting":       {packed(t, document(strings.Repeat("<w:sdt><w:sdtContent>", 400))), Limits{}, "nested too deep"},
		"torn":               {packed(t, bomb)[:200], Limits{}, "archive"},
		"book without parts": {packed(t, []txtar.File{{Name: "META-INF/container.xml", Data: []byte("<container/>")}}), Limits{}, "is not named"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(test.data, test.limits); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestData_isBounded(t *testing.T) {
	t.Parallel()
	files := append(document(`<w:p><w:r><w:drawing><a:blip xmlns:a="a" r:embed="x" xmlns:r="r"/></w:drawing></w:r></w:p>`),
		txtar.File{Name: "word/_rels/document.xml.rels", Data: []byte(`<Relationships><Relationship Id="x" Type="t/image" Target="media/big.png"/></Relationships>`)},
		txtar.File{Name: "word/media/big.png", Data: make([]byte, 1<<20)})
	doc, err := read(packed(t, files), Limits{})
	if err != nil || len(doc.Pictures) != 1 {
		t.Fatalf("%v, %v", doc, err)
	}
	if _, err := doc.Data(0, 1000); err == nil {
		t.Error("a picture above the limit was read")
	}
}

// FuzzRead looks for files that end the program, and for Markdown that holds our own marks.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed(f, ar.Files))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := open(bytes.NewReader(data), int64(len(data)), Limits{Part: 1 << 20, Total: 4 << 20, Cells: 10_000, Pictures: 10})
		if err != nil {
			return
		}
		if strings.Contains(everything(doc), pictureMark) {
			t.Error("a mark of ours is left")
		}
	})
}

// everything is the whole text with its pictures.
func everything(doc *Document) string { return doc.Markdown(func(int, string) string { return "x" }) }
