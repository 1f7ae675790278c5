package main

import (
	"fmt"
	"image"
	_ "image/png" // pictures of pages
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// imported imports a PDF with the command and gives the bundle's manifest.
func imported(t *testing.T, b *bench, name string, data []byte) manifest.Manifest {
	t.Helper()
	file := filepath.Join(b.dir, name+".pdf")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, "import", file)
	m, err := manifest.Parse([]byte(bundled(t, b, name, "manifest.json")))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func bundled(t *testing.T, b *bench, name, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, "vault", "Imported", name, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Each page of a mixed document is decided about by itself, and the manifest says why.
func TestImport_decidesForEachPage(t *testing.T) {
	t.Parallel()
	scan := []string{"Invoice number 4711", "from March 2026"}
	data := pdftest.New().PageSize(595, 300).
		TextPage(pdftest.Text("A page of real text, as a word processor prints it.", "It has more than one line.")...).
		ScanPage(scan...).
		OutlinePage("Letters that are shapes").
		BlankPage().
		StampedScanPage("received 3 March", scan...).
		InvisibleTextScan([]string{"an old layer of text"}, scan...).Bytes()
	b := libraryBench(t, "[text]", "")
	m := imported(t, b, "Mixed", data)
	if len(m.Pages) != 6 {
		t.Fatalf("%d pages", len(m.Pages))
	}
	for i, want := range []struct{ reason, evidence, source, text string }{
		{"text_layer", "62 characters", manifest.TextLayer, "A page of real text"},
		{"no_text", "pictures cover 100 %", manifest.TextOCR, "Invoice number 4711"},
		{"outlines", "ink on ", manifest.TextOCR, "Letters that are shapes"},
		{"blank", "ink on 0.000 %", manifest.TextNone, ""},
		{"stamp_on_scan", "0 characters outside the margin, pictures cover 100 %", manifest.TextOCR, "Invoice number 4711"},
		{"old_ocr_layer", "100 % of 16 characters are invisible", manifest.TextLayer, "an old layer of text"},
	} {
		p := m.Pages[i]
		t.Logf("page %d, text from %s: %s", p.N, p.Text.Source, p.OCR.Reason)
		if !strings.HasPrefix(p.OCR.Reason, want.reason+": ") || !strings.Contains(p.OCR.Reason, want.evidence) || p.Text.Source != want.source {
			t.Errorf("page %d: text from %s, %s; want %+v", i+1, p.Text.Source, p.OCR.Reason, want)
		}
		if p.OCR.Decided != (want.source == manifest.TextOCR) || p.Image == nil {
			t.Errorf("page %d: %+v, picture %v", i+1, p.OCR, p.Image)
		}
		if want.text != "" && !strings.Contains(bundled(t, b, "Mixed", p.Text.Path), want.text) {
			t.Errorf("page %d does not say %q:\n%s", i+1, want.text, bundled(t, b, "Mixed", p.Text.Path))
		}
	}
}

// What was filled in, marked and stamped stands in the text, and in the picture where it is drawn.
func TestImport_showsValuesMarksAndStamps(t *testing.T) {
	t.Parallel()
	data := pdftest.New().Language("en-GB").RomanLabels(2).
		TextPage(pdftest.Text("Application for a card")...).Field(pdftest.TextField("Full name", "Ada Lovelace")).Field(pdftest.CheckBox("Accepts the terms", true)).
		TextPage(pdftest.Text("Marked words stand here.", "Others do not.")...).Annotate(pdftest.Highlight(1, 130, "check this", "Ben")).
		TextPage(pdftest.Text("An invoice", "See page one.")...).Annotate(pdftest.StampDrawn("PAID 3 March", "")).
		Link(pdftest.Rule{X0: 72, Y0: 88, X1: 150, Y1: 108}, 1, "").Bytes()
	b := libraryBench(t, "[text]", "")
	m := imported(t, b, "Form", data)
	if got := m.Pages[0].Label + m.Pages[1].Label + m.Pages[2].Label; got != "iii1" || m.Document.Language != "en-GB" {
		t.Errorf("labels %q, language %q", got, m.Document.Language)
	}
	for i, want := range []struct {
		texts    []string
		area     image.Rectangle // of the picture, where the value is drawn
		like     func(r, g, b uint32) bool
		atLeast  int
		renderer string
	}{
		{[]string{"- Full name: Ada Lovelace", "- [x] Accepts the terms"}, image.Rect(150, 878, 775, 920), func(r, g, b uint32) bool { return r < 100 && g < 100 && b < 100 }, 150, "form"},
		{[]string{"> [!note] Highlight, Ben", "“Marked words stand here.”", "> check this"}, image.Rect(150, 150, 421, 190), func(r, g, b uint32) bool { return r > 220 && g > 220 && b < 90 }, 2000, "annotations"},
		{[]string{"> [!note] Stamp\n> PAID 3 March", "[See page one.](#^p1)"}, image.Rect(416, 1254, 834, 1338), func(r, g, b uint32) bool { return r > 180 && g < 110 && b < 110 }, 800, "annotations"},
	} {
		p := m.Pages[i]
		text := bundled(t, b, "Form", p.Text.Path)
		for _, s := range want.texts {
			if !strings.Contains(text, s) {
				t.Errorf("page %d does not say %q:\n%s", i+1, s, text)
			}
		}
		if p.Render == nil || p.Render.Renderer != "pdfium" || !strings.HasPrefix(p.Render.Reason, want.renderer) {
			t.Errorf("page %d is drawn by %+v", i+1, p.Render)
		}
		img, _, err := image.Decode(strings.NewReader(bundled(t, b, "Form", p.Image.Path)))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for y := want.area.Min.Y; y < want.area.Max.Y; y++ {
			for x := want.area.Min.X; x < want.area.Max.X; x++ {
				if r, g, b, _ := img.At(x, y).RGBA(); want.like(r>>8, g>>8, b>>8) {
					found++
				}
			}
		}
		if t.Logf("page %d: %d pixels where the value stands", i+1, found); found < want.atLeast {
			t.Errorf("page %d: %d pixels where the value stands, in %v of %v", i+1, found, want.area, fmt.Sprint(img.Bounds()))
		}
	}
	if note := bundled(t, b, "Form", "Form.md"); !strings.Contains(note, "[See page one.](#^p1)") || !strings.Contains(note, " ^p1\n") {
		t.Errorf("the note's link does not lead to the page's block:\n%s", note)
	}
}
