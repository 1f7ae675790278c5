package office

import (
	"bytes"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/tools/txtar"
)

// Raised digits may not join the number before them, in any format.
func TestRead_scripts(t *testing.T) {
	t.Parallel()
	run := func(text, align string) string {
		return `<w:r><w:rPr>` + align + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
	}
	const up, down = `<w:vertAlign w:val="superscript"/>`, `<w:vertAlign w:val="subscript"/>`
	docx := document(`<w:p>` + run("Pressure 10", "") + run("-", up) + run("5", up) + run(" Pa, cost 120", "<w:b/>") + run("1", up) + run(", CO", "") + run("2", down) + run(", 7", "") + run("9", `<w:rStyle w:val="High"/>`) + run(", 5", "") + run("*", up) + run(" n", "") + run("b", up) + `</w:p>`)
	docx = append(docx, txtar.File{Name: "word/styles.xml", Data: []byte(`<w:styles xmlns:w="w"><w:style w:type="character" w:styleId="High"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style></w:styles>`)})
	odt := []txtar.File{{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")}, {Name: "content.xml", Data: []byte(`<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s"><office:automatic-styles>
<style:style style:name="U"><style:text-properties style:text-position="super 58%"/></style:style><style:style style:name="V" style:parent-style-name="U"/>
<style:style style:name="D"><style:text-properties style:text-position="-33% 58%"/></style:style><style:style style:name="N"><style:text-properties style:text-position="0% 100%"/></style:style></office:automatic-styles>
<office:body><office:text><text:p>Pressure 10<text:span text:style-name="U">5</text:span> Pa and 10<text:span text:style-name="V">-23</text:span> mol, CO<text:span text:style-name="D">2</text:span>, 4<text:span text:style-name="N">2</text:span></text:p></office:text></office:body></office:document-content>`)}}
	pptx := []txtar.File{
		{Name: "ppt/presentation.xml", Data: []byte(`<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>`)},
		{Name: "ppt/_rels/presentation.xml.rels", Data: []byte(`<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`)},
		{Name: "ppt/slides/slide1.xml", Data: []byte(`<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>5 km</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r><a:r><a:t>, H</a:t></a:r><a:r><a:rPr baseline="-25000"/><a:t>2</a:t></a:r><a:r><a:t>O</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`)},
	}
	book := excelize.NewFile()
	if err := book.SetCellRichText("Sheet1", "A1", []excelize.RichTextRun{{Text: "10"}, {Text: "5", Font: &excelize.Font{VertAlign: "superscript"}}}); err != nil {
		t.Fatal(err)
	}
	if err := book.SetCellValue("Sheet1", "B1", 105); err != nil {
		t.Fatal(err)
	}
	var sheet bytes.Buffer
	if err := book.Write(&sheet); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"docx": {packed(t, docx), "Pressure 10⁻⁵ **Pa, cost 120**¹, CO₂, 7⁹, 5\\* n^(b)"},
		"odt":  {packed(t, odt), "Pressure 10⁵ Pa and 10⁻²³ mol, CO₂, 42"},
		"pptx": {packed(t, pptx), "5 km², H₂O"},
		"xlsx": {sheet.Bytes(), "| 10⁵ | 105 |"},
	} {
		doc, err := read(test.data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := everything(doc); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q is not in\n%s", name, test.want, got)
		}
	}
}
