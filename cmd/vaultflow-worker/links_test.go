package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// linkedPages is a document with links of all kinds. Lines of pdftest stand 15.4 points below one another.
func linkedPages() *pdftest.Builder {
	place := func(line int, x0, x1 float64) pdftest.Rule {
		base := 72 + 15.4*float64(line)
		return pdftest.Rule{X0: x0, Y0: base - 10, X1: x1, Y1: base + 3}
	}
	return pdftest.New().TextPage(pdftest.Text(
		"Read the report on our site.", "The second page tells more.", "Run this program now.", "Open that file now.", "Write to the board.",
	)...).
		Link(place(1, 116, 150), 0, "https://example.org/report (final).pdf?x=1").
		Link(place(2, 94, 158), 2, "").
		Link(place(3, 72, 94), 0, "javascript:app.alert(1)").
		Link(place(4, 72, 100), 0, "file:///etc/passwd").
		Link(place(5, 72, 170), 0, "mailto:board@example.org").
		TextPage(pdftest.Text("More is told here.")...)
}

const linkedText = "Read the [report](https://example.org/report%20%28final%29.pdf?x=1) on our site.\nThe [second page](#^p2) tells more.\n" +
	"Run this program now.\nOpen that file now.\n[Write to the board.](mailto:board@example.org)"

func TestWorker_writesLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		open extract.Open
	}{
		"mupdf":    {linkedPages().Bytes(), extract.Open{}},
		"pdfium":   {linkedPages().Bytes(), extract.Open{WithoutMuPDF: true}},
		"password": {linkedPages().UserPassword("x").Bytes(), extract.Open{Passwords: []string{"x"}}},
	} {
		s, _ := mustOpen(t, c.data, c.open)
		if got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text; got.Markdown != linkedText || strings.Contains(got.Plain, "http") {
			t.Errorf("%s:\n%s\nwant\n%s", name, got.Markdown, linkedText)
		}
		if got := ask(t, s, extract.PageRequest{N: 2, Text: true, Image: true}); got.Text.Markdown != "More is told here." || got.Renderer != "" {
			t.Errorf("%s: page 2 by %q: %s", name, got.Renderer, got.Text.Markdown)
		}
	}
}

// What the catalog says: the language, the labels of pages, the outline, which PDFium reads for itself too.
func TestWorker_readsTheCatalog(t *testing.T) {
	t.Parallel()
	made := func() *pdftest.Builder {
		return pdftest.New().TextPage(pdftest.Text("one")...).TextPage(pdftest.Text("two")...).TextPage(pdftest.Text("three")...).
			Language("de-CH").RomanLabels(2).Outline("Anfang", 1).Outline("Ende", 3)
	}
	for name, c := range map[string]struct {
		data []byte
		open extract.Open
	}{
		"mupdf":    {made().Bytes(), extract.Open{}},
		"pdfium":   {made().Bytes(), extract.Open{WithoutMuPDF: true}},
		"password": {made().UserPassword("x").Bytes(), extract.Open{Passwords: []string{"x"}}},
	} {
		s, doc := mustOpen(t, c.data, c.open)
		if want := fmt.Sprint([]extract.OutlineItem{{Level: 1, Title: "Anfang", Page: 1}, {Level: 1, Title: "Ende", Page: 3}}); doc.Language != "de-CH" || fmt.Sprint(doc.Outline) != want {
			t.Errorf("%s: language %q, outline %v", name, doc.Language, doc.Outline)
		}
		for n, want := range []string{"i", "ii", "1"} {
			if got := ask(t, s, extract.PageRequest{N: n + 1, Text: true}).Label; got != want {
				t.Errorf("%s: page %d is labelled %q, want %q", name, n+1, got, want)
			}
		}
	}
	s, doc := mustOpen(t, pdftest.New().TextPage(pdftest.Text("one")...).Language("no language").Bytes(), extract.Open{})
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); doc.Language != "" || page.Label != "" {
		t.Errorf("language %q, label %q where the catalog tells none", doc.Language, page.Label)
	}
}

// The text within a stamp's look is said, unless the annotation says it itself; neither the page's own text nor that of other annotations
// is taken for it.
func TestPDFium_readsWhatIsDrawnInStamps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data *pdftest.Builder
		want string
	}{
		"drawn alone": {pdftest.New().StampedScanPage("", "scan").Annotate(pdftest.StampDrawn("PAID 3 March 2026", "")), "> [!note] Stamp\n> PAID 3 March 2026"},
		"beside its comment": {
			pdftest.New().TextPage(pdftest.Text("An invoice of the year")...).Annotate(pdftest.StickyNote("Look here", "Ben")).Annotate(pdftest.StampDrawn("Approved by Eve", "see minutes")).Field(pdftest.TextField("Name", "Ada")),
			"**Form fields**\n\n- Name: Ada\n\n> [!note] Note, Ben\n> Look here\n\n> [!note] Stamp\n> Approved by Eve\n>\n> see minutes",
		},
		"said already": {pdftest.New().TextPage(pdftest.Text("An invoice")...).Annotate(pdftest.Stamp("COPY")), "> [!note] Stamp\n> COPY"},
	} {
		s, _ := mustOpen(t, c.data.Bytes(), extract.Open{})
		if got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Besides; got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if page := ask(t, s, picture144); seenAs(t, page, 200, 200, 400, 240, red) < 500 {
			t.Errorf("%s: the stamp is not in the picture that follows", name)
		}
	}
}
