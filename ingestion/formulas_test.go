package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// The picture of a formula is above its text, in the page's file and in the note. What cannot be drawn, and what a worker marks without
// a place, is only text.
func TestImport_showsFormulas(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2})
	rects := []content.Rect{{X1: 10, Y1: 20, X2: 90, Y2: 40}, {X1: 10, Y1: 60, X2: 90, Y2: 80}, {X1: 10, Y1: 90, X2: 90, Y2: 99}}
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		switch {
		case r.Text && r.N == 1 && r.Formulas:
			p.Text = layer("\uFFFC\n\na ~ b\n\nwhere\n\n\uFFFC\n\nc ~ d\n\nand\n\n\uFFFC\n\ne ~ f")
			p.Text.Formulas = rects
		case r.Text:
			p.Text = layer("one\n\n\uFFFC\n\ntwo")
		case r.Rect != nil && *r.Rect == rects[1]:
			return extract.Page{}, &extract.Error{Code: failure.Corrupt, Message: "cannot be drawn", Page: 1}
		case r.Rect != nil && !r.Displayed:
			t.Error("the place of a formula is that on the page as displayed")
		}
		return p, nil
	}
	made, _ := b.mustRun(b.drop("imp-1", "Import/proof.pdf", pdfBytes))
	m, err := manifest.Parse([]byte(b.read(made.Bundle + "/manifest.json")))
	if err != nil {
		t.Fatal(err)
	}
	want := "![formula](../assets/page_0001_formula_01.png)\n\na ~ b\n\nwhere\n\nc ~ d\n\nand\n\n![formula](../assets/page_0001_formula_03.png)\n\ne ~ f\n"
	if got := b.read(made.Bundle + "/text/page_0001.txt"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := b.read(made.Bundle + "/text/page_0002.txt"); got != "one\n\ntwo\n" {
		t.Errorf("the second page is %q", got)
	}
	if len(m.Pages[0].Assets) != 2 || m.Pages[0].Status != manifest.PageDone || b.read(made.Bundle+"/assets/page_0001_formula_03.png") == "" {
		t.Errorf("the manifest has %+v", m.Pages[0])
	}
	if note := b.read(made.Note); !strings.Contains(note, "![formula](./assets/page_0001_formula_01.png)\n\na ~ b\n") {
		t.Errorf("the note:\n%s", note)
	}
}
