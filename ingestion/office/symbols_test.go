package office

import (
	"testing"

	"golang.org/x/tools/txtar"
)

// Boxes that are ticked, and the signs of formulas, are in fonts of signs.
func TestRead_fontsOfSigns(t *testing.T) {
	t.Parallel()
	const body = `<p><r><sym font="Wingdings" char="F0FE"/><t> Yes </t><sym font="Wingdings" char="F0A8"/><t> No </t></r>` +
		`<r><rPr><rFonts ascii="Wingdings 2"/></rPr><t>R</t></r><r><t xml:space="preserve"> Seen, </t></r>` +
		`<r><rPr><rFonts ascii="Symbol"/></rPr><t>  </t></r><r><t xml:space="preserve"> 2, </t><sym font="Odd Signs" char="F041"/><sym font="Wingdings" char="F099"/><sym font="Arial" char="00A9"/></r></p>`
	if got, want := textOf(t, document(body)), "☑ Yes ☐ No ☑ Seen, α ≥ √ 2, ��©\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was ticked and chosen in a form is in its text, and so is a word with its reading above it.
func TestRead_answersOfForms(t *testing.T) {
	t.Parallel()
	field := func(data string) string {
		return `<r><fldChar fldCharType="begin"><ffData>` + data + `</ffData></fldChar></r><r><instrText>FORM</instrText></r><r><fldChar fldCharType="end"/></r>`
	}
	const towns = `<listEntry val="Bergen"/><listEntry val="Oslo"/>`
	body := `<p>` + field(`<checkBox><default val="0"/><checked/></checkBox>`) + `<r><t xml:space="preserve"> yes </t></r>` + field(`<checkBox><default val="1"/><checked val="0"/></checkBox>`) + `<r><t xml:space="preserve"> no </t></r>` +
		field(`<checkBox><default val="1"/></checkBox>`) + `<r><t xml:space="preserve"> both, </t></r>` + field(`<ddList><result val="1"/>`+towns+`</ddList>`) + `<r><t xml:space="preserve"> or </t></r>` + field(`<ddList>`+towns+`</ddList>`) +
		`<r><t xml:space="preserve"> or </t></r>` + field(`<ddList><result val="7"/>`+towns+`</ddList>`) + `<r><ruby><rt><r><t>kanji</t></r></rt><rubyBase><r><t>漢字</t></r></rubyBase></ruby></r></p>`
	if got, want := textOf(t, document(body)), "☒ yes ☐ no ☒ both, Oslo or Bergen or 漢字(kanji)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRead_answersOfFormsInODF(t *testing.T) {
	t.Parallel()
	const text = `<p>Tea <fieldmark type="x.FORMCHECKBOX"><param name="Checkbox_Checked" value="true"/></fieldmark>, cake <fieldmark type="x.FORMCHECKBOX"/>, in <fieldmark type="x.FORMDROPDOWN"><param name="Dropdown_ListEntry" value="Bergen"/><param name="Dropdown_ListEntry" value="Oslo"/><param name="Dropdown_Selected" value="1"/></fieldmark>, <span style-name="T1"></span> seen</p>`
	files := []txtar.File{
		{Name: "mimetype", Data: []byte("application/vnd.oasis.opendocument.text")},
		{Name: "content.xml", Data: []byte(`<document-content><automatic-styles><style name="T1"><text-properties font-name="Wingdings"/></style></automatic-styles><body><text>` + text + `</text></body></document-content>`)},
	}
	if got, want := textOf(t, files), "Tea ☒, cake ☐, in Oslo, ☑ seen\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
