package office

import "testing"

// Boxes that are ticked, and the signs of formulas, are in fonts of signs.
func TestRead_fontsOfSigns(t *testing.T) {
	t.Parallel()
	const body = `<p><r><sym font="Wingdings" char="F0FE"/><t> Yes </t><sym font="Wingdings" char="F0A8"/><t> No </t></r>` +
		`<r><rPr><rFonts ascii="Wingdings 2"/></rPr><t>R</t></r><r><t xml:space="preserve"> Seen, </t></r>` +
		`<r><rPr><rFonts ascii="Symbol"/></rPr><t>  </t></r><r><t xml:space="preserve"> 2, </t><sym font="Odd Signs" char="F041"/><sym font="Wingdings" char="F099"/><sym font="Arial" char="00A9"/></r></p>`
	doc, err := read(packed(t, document(body)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Markdown(byName(doc)), "☑ Yes ☐ No ☑ Seen, α ≥ √ 2, ��©\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
