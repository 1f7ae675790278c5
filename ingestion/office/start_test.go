package office

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Lists keep the numbers that they begin with.
func TestRead_listsThatBeginLater(t *testing.T) {
	t.Parallel()
	item := func(id, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="` + id + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	docx := append(document(item("1", "Four")+item("1", "Five")+`<w:p><w:r><w:t>Then</w:t></w:r></w:p>`+item("2", "Nine")), txtar.File{Name: "word/numbering.xml", Data: []byte(`<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num></w:numbering>`)})
	odt := []txtar.File{{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")}, {Name: "content.xml", Data: []byte(`<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s"><office:automatic-styles>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="4"/></text:list-style></office:automatic-styles>
<office:body><office:text><text:list text:style-name="L"><text:list-item><text:p>Four</text:p></text:list-item><text:list-item><text:p>Five</text:p></text:list-item></text:list><text:p>Then</text:p>
<text:list text:style-name="L" text:continue-numbering="true"><text:list-item><text:p>Six</text:p></text:list-item><text:list-item text:start-value="9"><text:p>Nine</text:p></text:list-item></text:list></office:text></office:body></office:document-content>`)}}
	for name, test := range map[string]struct {
		files []txtar.File
		want  string
	}{
		"docx": {docx, "4. Four\n5. Five\n\nThen\n\n9. Nine"},
		"odt":  {odt, "4. Four\n5. Five\n\nThen\n\n6. Six\n9. Nine"},
	} {
		doc, err := read(packed(t, test.files), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := everything(doc); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q is not in\n%s", name, test.want, got)
		}
	}
}
