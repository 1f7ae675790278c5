package office

import (
	"testing"

	"golang.org/x/tools/txtar"
)

// A letterhead has the sender's account at the edge of its pages. Numbers of pages, and what is there twice, are left out.
func TestRead_edgesOfDocx(t *testing.T) {
	t.Parallel()
	const refs = `<headerReference type="default" id="h1"/><footerReference type="default" id="f1"/>`
	const box = `<AlternateContent><Choice><drawing><txbxContent><p><r><t>In a box</t></r></p></txbxContent></drawing></Choice></AlternateContent>`
	files := append(document(`<p><pPr><sectPr>`+refs+`</sectPr></pPr><r><t>Dear Ada,</t></r></p><sectPr>`+refs+`<footerReference type="first" id="gone"/></sectPr>`),
		txtar.File{Name: "word/_rels/document.xml.rels", Data: []byte(`<Relationships><Relationship Id="h1" Type="t/header" Target="header1.xml"/><Relationship Id="f1" Type="t/footer" Target="footer1.xml"/></Relationships>`)},
		txtar.File{Name: "word/header1.xml", Data: []byte(`<hdr><p><r><t>Holm AS</t></r><r><tab/><t>Quay 4</t></r><r>` + box + `</r></p></hdr>`)},
		txtar.File{Name: "word/footer1.xml", Data: []byte(`<ftr><p><r><t>Account </t></r><del><r><t>1</t></r></del><r><t>1503*22*33445</t></r></p><p><r><t>Page </t></r><fldSimple instr=" PAGE "><r><t>1</t></r></fldSimple></p></ftr>`)})
	if got, want := textOf(t, files), "Dear Ada,\n\n*At the edge of the pages:* Holm AS Quay 4 · In a box · Account 1503\\*22\\*33445\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRead_edgesOfODT(t *testing.T) {
	t.Parallel()
	files := []txtar.File{
		{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")},
		{Name: "content.xml", Data: []byte(`<document-content><body><text><p>Dear Ada,</p></text></body></document-content>`)},
		{Name: "styles.xml", Data: []byte(`<document-styles><master-styles><master-page><header><p>Holm AS</p></header><footer><p>Account 1503</p><p>Page <page-number>1</page-number></p></footer><header-left><p>Holm AS</p></header-left></master-page></master-styles></document-styles>`)},
	}
	if got, want := textOf(t, files), "Dear Ada,\n\n*At the edge of the pages:* Holm AS · Account 1503\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
