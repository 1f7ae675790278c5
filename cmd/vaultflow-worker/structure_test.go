package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// paragraph is a tagged paragraph of several lines.
func paragraph(x, y float64, lines ...string) pdftest.Element {
	e := pdftest.Element{Role: "P"}
	for i, text := range lines {
		e.Kids = append(e.Kids, pdftest.Element{Role: "Span", Text: text, X: x, Y: y + 12*float64(i)})
	}
	return e
}

func row(y float64, cells ...pdftest.Element) pdftest.Element {
	for i := range cells {
		cells[i].Y = y
	}
	return pdftest.Element{Role: "TR", Kids: cells}
}

func td(x float64, text string) pdftest.Element {
	return pdftest.Element{Role: "TD", Text: text, X: x}
}

// textOf reads the first page of a document.
func textOf(t *testing.T, data []byte) string {
	t.Helper()
	s, _ := mustOpen(t, data, extract.Open{})
	got, err := s.Page(context.Background(), extract.PageRequest{N: 1, Text: true})
	if err != nil {
		t.Fatal(err)
	}
	return got.Text.Markdown
}

// A box beside the text, a table without rules and a heading in ordinary type can only be told by the document's own structure.
func TestText_followsTheStructureOfADocument(t *testing.T) {
	t.Parallel()
	data := pdftest.Tagged(
		pdftest.Element{Role: "H2", Text: "Terms", X: 60, Y: 60},
		paragraph(60, 90, "The first paragraph begins here, and", "it ends with the third line beside", "the box that is read after it."),
		paragraph(60, 126, "A second one follows without any space."),
		pdftest.Element{Role: "Table", Kids: []pdftest.Element{
			row(90, pdftest.Element{Role: "TH", Span: 2, Text: "Edgar", X: 330}),
			row(102, td(330, "Reign"), td(400, "959 to 975")),
			row(114, td(330, "Born"), td(400, "943")),
			row(126, td(330, "Issue"), td(400, "Edward"), td(460, "Edith")),
			row(138, td(330, "House"), td(460, "Wessex")),
		}},
	)
	want := `## Terms

The first paragraph begins here, and it ends with the third line beside the box that is read after it.

A second one follows without any space.

| Edgar |  |  |
| --- | --- | --- |
| Reign | 959 to 975 |  |
| Born | 943 |  |
| Issue | Edward | Edith |
| House |  | Wessex |
`
	if got := textOf(t, data); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A structure that leaves text out, or that jumps up and down its column, is not followed: nothing is lost.
func TestText_distrustsAStructureThatNobodyWouldRead(t *testing.T) {
	t.Parallel()
	var up, all []pdftest.Element
	for i := range 12 {
		line := pdftest.Element{Role: "P", Text: fmt.Sprintf("line %d of a page that is tagged from its foot", i), X: 60, Y: 100 + 14*float64(i)}
		all = append(all, line)
		up = append([]pdftest.Element{line}, up...)
	}
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("line %d of a page that is tagged from its foot", i))
	}
	for name, elements := range map[string][]pdftest.Element{"upwards": up, "downwards": all} {
		if got := strings.Join(strings.Fields(textOf(t, pdftest.Tagged(elements...))), " "); got != strings.Join(want, " ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
