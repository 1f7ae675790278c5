package ingestion

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// Doubts reach manifest, note and summary. Those about a text layer go with it when recognition replaces it, and a page on which
// nothing was found is never silent.
func TestImport_showsDoubts(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 6})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		switch {
		case r.Text && r.N == 1:
			p.Text.Doubts = []doubt.Doubt{{Code: doubt.Table, Words: "a table's rows\n[[could]] not be told apart"}}
			p.Text.Edges = []string{"Downloaded\nfrom a library", "", "5/3/26, 10:12"}
		case r.Text && r.N == 3:
			p.Text.Doubts, p.Text.Edges = []doubt.Doubt{{Code: doubt.Order, Words: "lines overlap"}}, []string{"gone with the layer"}
		case r.Text && r.N == 4:
			p.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1, Ink: &extract.Ink{All: 0.1, Inner: 0.1}}}
		case r.Text && r.N == 6:
			p.Text = layer("12") // its number
			p.Text.Evidence = extract.Evidence{Chars: 2, MarginChars: 2, PictureCover: 1, Pictures: 1}
		case r.OCR && r.N == 6:
			p.OCR.Text = "."
		case r.OCR && r.N == 4:
			p.OCR.Text, p.OCR.Words = "", nil
		case r.Text && r.N == 5:
			p.Text = &extract.PageText{Evidence: extract.Evidence{Ink: &extract.Ink{}}} // blank
		}
		return p, nil
	}
	b.vault.Put(".obsidian/types.json", `{"types":{"doubtful_pages":"multitext"}}`)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	made, _ := b.mustRun(j)
	m, err := manifest.Parse([]byte(b.read(made.Bundle + "/manifest.json")))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 4, 6}; !cmp.Equal(m.Doubtful(), want) || m.Pages[0].Doubts[0].Code != doubt.Table || m.Pages[3].Doubts[0].Code != doubt.Empty {
		t.Errorf("doubtful pages %v, want %v: %+v", m.Doubtful(), want, m.Pages)
	}
	note := b.read(made.Note)
	for _, want := range []string{
		"\ndoubtful_pages: [1, 4, 6]\n",
		"> - tables on page 1 may have wrong rows or columns: compare them with the picture\n",
		"> - no text was found on page 4, although something is drawn there\n", // page 6 has a number
		"> - text on page 6 is probably missing, because hardly any could be recognised: compare it with the picture\n",
		"^p1\n\n> [!warning] The text of this page is doubtful: a table's rows could not be told apart. Compare it with the picture.\n\n*At the edge of the page:* Downloaded from a library · 5/3/26, 10:12\n\n",
	} {
		if !strings.Contains(note, want) {
			t.Errorf("the note lacks %q:\n%s", want, note)
		}
	}
	if strings.Contains(note, "lines overlap") || strings.Contains(note, "gone with the layer") {
		t.Error("the note has doubts about, or the edge of, a text layer that was replaced")
	}
}

// A picture with much text that could not be read says so. One with a few letters that leaves look like has no text.
func TestImport_pictureThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, doubtful := range map[string]bool{strings.Repeat("qz vjx ", 20): true, "jl il": false, "": false} {
		b := newBench(t, extract.Document{Pages: 1})
		b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
			p := goodPage(r)
			if r.OCR {
				p.OCR.Text, p.OCR.Confidence = text, 31
				p.OCR.Doubts = []doubt.Doubt{{Code: doubt.Recognition, Words: "recognised with 31 % confidence"}}
			}
			return p, nil
		}
		made, _ := b.mustRun(b.drop("imp-1", "Import/scan.png", dot(9)))
		if m := b.manifestOf(made); (len(m.Doubtful()) > 0) != doubtful {
			t.Errorf("%q: %+v", text, m.Pages[0].Doubts)
		}
		if got := strings.Contains(b.read(made.Note), "text was found with only 31 % confidence and is left out; check ingestion.ocr.languages"); got != doubtful {
			t.Errorf("%q: doubtful %v\n%s", text, got, b.read(made.Note))
		}
	}
}
