package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fonts"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// warmed gives a folder with PDFium's machine code, made once for all tests.
var warmed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vaultflow-pdfium")
	if err != nil {
		return "", err
	}
	scratch.Lock()
	scratch.cache = dir
	scratch.Unlock()
	path, _ := built()
	return dir, sandbox.Config{Worker: path, Cache: dir}.Warm(context.Background())
})

// openedBy opens a PDF with more than its kind.
func openedBy(t testing.TB, data []byte, o extract.Open) (*sandbox.Session, extract.Document, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document.pdf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o.Kind = extract.KindPDF
	s, doc, err := program(t).Start(context.Background(), f, o)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, doc, err
}

func mustOpen(t testing.TB, data []byte, o extract.Open) (*sandbox.Session, extract.Document) {
	t.Helper()
	s, doc, err := openedBy(t, data, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, doc
}

// seenAs counts the pixels of a rectangle that are as like says. The rectangle is in points from the lower left corner of
// the page; the picture has 144 dpi.
func seenAs(t testing.TB, page extract.Page, x0, y0, x1, y1 float64, like func(r, g, b uint32) bool) int {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(page.Image.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("VAULTFLOW_TEST_PICTURES"); dir != "" { // for those who want to look at them
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_")+".png"), page.Image.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for y := int((page.HeightPt - y1) * 2); y < int((page.HeightPt-y0)*2); y++ {
		for x := int(x0 * 2); x < int(x1*2); x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); like(r>>8, g>>8, b>>8) {
				n++
			}
		}
	}
	return n
}

func dark(r, g, b uint32) bool   { return r < 100 && g < 100 && b < 100 }
func red(r, g, b uint32) bool    { return r > 180 && g < 90 && b < 90 }
func blue(r, g, b uint32) bool   { return b > 180 && r < 90 && g < 90 }
func yellow(r, g, b uint32) bool { return r > 220 && g > 220 && b < 90 }

var picture144 = extract.PageRequest{N: 1, Image: true, DPI: 144, Format: "png"}

// Without a folder for its machine code PDFium takes longer to start, and does the same.
func TestPDFium_startsWithoutItsCache(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("PDFium takes seconds of two processors to start so; this is among the tests that take minutes")
	}
	c := program(t)
	c.Cache = ""
	s, doc, err := start(t, c, filledForm(), extract.KindPDF)
	if err != nil || !doc.Forms {
		t.Fatalf("%+v, %v", doc, err)
	}
	if text := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Besides; !strings.Contains(text, "Ada Lovelace") {
		t.Errorf("beside the text stands %q", text)
	}
}

func filledForm() []byte {
	return pdftest.New().TextPage(pdftest.Text("Application for a library card")...).Field(pdftest.TextField("Full name", "Ada Lovelace")).
		Field(pdftest.CheckBox("Accepts the terms", true)).Field(pdftest.CheckBox("Wants letters", false)).Field(pdftest.Choice("Branch", "Harbour", "Centre", "Harbour")).
		TextPage(pdftest.Text("A page without fields")...).Bytes()
}

func TestPDFium_showsFormValues(t *testing.T) {
	t.Parallel()
	s, doc := mustOpen(t, filledForm(), extract.Open{})
	if doc.Renderer != "mupdf" || doc.Reason != "" {
		t.Errorf("the document is drawn by %s (%s)", doc.Renderer, doc.Reason)
	}
	want := "**Form fields**\n\n- Full name: Ada Lovelace\n- [x] Accepts the terms\n- [ ] Wants letters\n- Branch: Harbour"
	text := ask(t, s, extract.PageRequest{N: 1, Text: true})
	if text.Text.Besides != want || text.Text.Markdown != "Application for a library card" {
		t.Errorf("beside the text %q stands:\n%s\nwant:\n%s", text.Text.Markdown, text.Text.Besides, want)
	}
	page := ask(t, s, picture144)
	if page.Renderer != "pdfium" || page.Reason != "form: 4 fields" {
		t.Errorf("drawn by %q, %q", page.Renderer, page.Reason)
	}
	top := 421.0 // of the first field; the others follow 30 points below one another
	if n := seenAs(t, page, 72, top-20, 372, top, dark); n < 200 {
		t.Errorf("%d dark pixels where the name stands", n)
	}
	if n := seenAs(t, page, 76, top-30-16, 88, top-30-4, dark); n < 500 {
		t.Errorf("%d dark pixels in the box that is ticked", n)
	}
	if n := seenAs(t, page, 76, top-60-16, 88, top-60-4, dark); n > 0 {
		t.Errorf("%d dark pixels in the box that is not ticked", n)
	}
	if n := seenAs(t, page, 72, top-90-20, 372, top-90, dark); n < 100 {
		t.Errorf("%d dark pixels where the choice stands", n)
	}
	if other := ask(t, s, extract.PageRequest{N: 2, Text: true, Image: true, DPI: 144}); other.Renderer != "" || other.Text.Besides != "" {
		t.Errorf("the page without fields is drawn by %q, beside it stands %q", other.Renderer, other.Text.Besides)
	}
}

func TestPDFium_leavesEmptyFormsAlone(t *testing.T) {
	t.Parallel()
	s, _ := mustOpen(t, pdftest.New().TextPage(pdftest.Text("Nobody has filled this in")...).Field(pdftest.TextField("Name", "")).Field(pdftest.CheckBox("Yes", false)).Bytes(), extract.Open{})
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); page.Text.Besides != "" {
		t.Errorf("an empty form says %q", page.Text.Besides)
	}
}

func TestPDFium_obeysTheSetting(t *testing.T) {
	t.Parallel()
	s, _ := mustOpen(t, filledForm(), extract.Open{Renderer: extract.RenderMuPDF})
	page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Format: "png"})
	if page.Renderer != "" || seenAs(t, page, 72, 401, 372, 421, dark) != 0 || !strings.Contains(page.Text.Besides, "Ada Lovelace") {
		t.Errorf("with mupdf the page is drawn by %q, beside it stands %q", page.Renderer, page.Text.Besides)
	}
	s, doc := mustOpen(t, filledForm(), extract.Open{Renderer: extract.RenderPDFium})
	if doc.Renderer != "pdfium" || !strings.HasPrefix(doc.Reason, "setting: ") {
		t.Errorf("with pdfium the document is drawn by %q, %q", doc.Renderer, doc.Reason)
	}
	page = ask(t, s, extract.PageRequest{N: 2, Text: true, Image: true, DPI: 144, Format: "png"})
	if page.Renderer != "" || page.Text.Markdown != "A page without fields" || seenAs(t, page, 72, 740, 372, 770, dark) < 200 {
		t.Errorf("with pdfium the page says %q, drawn by %q", page.Text.Markdown, page.Renderer)
	}
}

func TestPDFium_showsAnnotations(t *testing.T) {
	t.Parallel()
	data := pdftest.New().TextPage(pdftest.Text("The rent is 900 crowns a month.", "Paid at the end of each month.")...).
		Annotate(pdftest.Highlight(1, 170, "Since when?\rAsk *Bob*.", "Eve")).Annotate(pdftest.Stamp("RECEIVED 3 MAY")).Annotate(pdftest.FreeText("Not agreed", "Bob")).Annotate(pdftest.StickyNote("See page 2", "")).
		Annotate(pdftest.HiddenNote("nobody sees this")).Bytes()
	s, _ := mustOpen(t, data, extract.Open{})
	want := "> [!note] Highlight, Eve\n> “The rent is 900 crowns a month.”\n>\n> Since when?\n> Ask \\*Bob\\*.\n\n" +
		"> [!note] Stamp\n> RECEIVED 3 MAY\n\n> [!note] Text, Bob\n> Not agreed\n\n> [!note] Note\n> See page 2"
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); page.Text.Besides != want {
		t.Errorf("beside the text stands:\n%s\nwant:\n%s", page.Text.Besides, want)
	}
	page := ask(t, s, picture144)
	if page.Renderer != "pdfium" || page.Reason != "annotations: 4" {
		t.Errorf("drawn by %q, %q", page.Renderer, page.Reason)
	}
	line := 842 - 72 - 11*1.4 // of the highlight
	if n, m := seenAs(t, page, 72, line-3, 242, line+10, yellow), seenAs(t, page, 72, line-3, 242, line+10, dark); n < 3000 || m < 200 {
		t.Errorf("%d yellow and %d dark pixels in the highlight", n, m)
	}
	if n := seenAs(t, page, 200, 200, 400, 240, red); n < 1000 {
		t.Errorf("%d red pixels in the stamp", n)
	}
	if n := seenAs(t, page, 100, 300, 400, 320, blue); n < 80 {
		t.Errorf("%d blue pixels in the remark", n)
	}
	if n := seenAs(t, page, 500, 600, 520, 620, dark); n > 0 {
		t.Errorf("%d dark pixels of a hidden note", n)
	}
}

func TestPDFium_placesValuesOnTurnedPages(t *testing.T) {
	t.Parallel()
	data := pdftest.New().TextPage(pdftest.Text("Turned")...).Annotate(pdftest.Stamp("SIDEWAYS")).Rotated(90).Bytes()
	s, _ := mustOpen(t, data, extract.Open{})
	page := ask(t, s, picture144)
	if page.WidthPt != 842 || page.HeightPt != 595 {
		t.Fatalf("page of %g × %g pt", page.WidthPt, page.HeightPt)
	}
	// Turned clockwise by 90°, (x, y) of the page is displayed at (y, 595-x) from the lower left corner.
	if n := seenAs(t, page, 200, 595-400, 240, 595-200, red); n < 1000 {
		t.Errorf("%d red pixels where the stamp should be", n)
	}
}

func TestPDFium_showsWideTextWithoutItsFont(t *testing.T) {
	t.Parallel()
	if missing := fonts.Missing(fonts.Folders()); len(missing) > 0 {
		t.Fatalf("no font for %s is installed: run `make deps`", strings.Join(missing, ", "))
	}
	s, _ := mustOpen(t, pdftest.New().WideText("日本語の文書です").Bytes(), extract.Open{})
	page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Format: "png"})
	if page.Renderer != "pdfium" || !strings.HasPrefix(page.Reason, "fonts: ") {
		t.Errorf("drawn by %q, %q", page.Renderer, page.Reason)
	}
	if !strings.Contains(page.Text.Plain, "日本語の文書です") {
		t.Errorf("text %q", page.Text.Plain)
	}
	if n := seenAs(t, page, 72, 690, 272, 725, dark); n < 1000 {
		t.Errorf("%d dark pixels where the text stands", n)
	}
}

func TestPDFium_takesOverWhereMuPDFFails(t *testing.T) {
	t.Parallel()
	data := pdftest.New().TextPage(pdftest.Heading("Minutes"), pdftest.Line{Text: "Read by the other renderer."}).Bytes()
	s, _ := mustOpen(t, data, extract.Open{})
	page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Other: true, Format: "png"})
	if page.Renderer != "pdfium" || !strings.HasPrefix(page.Reason, "mupdf_failed: ") {
		t.Errorf("drawn by %q, %q", page.Renderer, page.Reason)
	}
	if want := "# Minutes\n\nRead by the other renderer."; page.Text.Markdown != want {
		t.Errorf("text:\n%s\nwant:\n%s", page.Text.Markdown, want)
	}
	if len(page.Text.Doubts) != 1 || page.Text.Doubts[0].Code != doubt.Table {
		t.Errorf("doubts %+v, want one about tables, whose rules only MuPDF sees", page.Text.Doubts)
	}
	if e := page.Text.Evidence; e.Chars < 20 || e.Unmapped+e.Pictures != 0 {
		t.Errorf("evidence %+v", e)
	}
	if n := seenAs(t, page, 72, 700, 400, 770, dark); n < 500 {
		t.Errorf("%d dark pixels", n)
	}
}

// Without any font for its text a page stays empty, and says so. The fonts are hidden in a name space of mounts.
func TestPDFium_saysThatThereIsNoFont(t *testing.T) {
	t.Parallel()
	c := program(t)
	script := filepath.Join(t.TempDir(), "vaultflow-worker")
	const hide = "mount -t tmpfs none /usr/share/fonts && if [ -d /usr/local/share/fonts ]; then mount -t tmpfs none /usr/local/share/fonts; fi"
	if out, err := exec.Command("unshare", "-m", "sh", "-c", hide).CombinedOutput(); err != nil { //nolint:noctx // it ends by itself
		t.Skipf("the fonts cannot be hidden here: %v: %s", err, out)
	}
	text := fmt.Sprintf("#!/bin/sh\nexec unshare -m sh -c '%s && exec \"$0\" \"$@\"' '%s' \"$@\"\n", hide, c.Worker)
	programtest.Write(t, script, []byte(text))
	c.Worker = script
	s, _, err := start(t, c, pdftest.New().WideText("日本語の文書です").Bytes(), extract.KindPDF)
	if err != nil {
		t.Fatal(err)
	}
	page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Format: "png"})
	if page.Code != extract.NoFont || !strings.HasPrefix(page.Reason, "no_font: ") || !strings.Contains(page.Text.Plain, "日本語の文書です") {
		t.Errorf("drawn by %q, %q, text %q; %d dark pixels", page.Renderer, page.Reason, page.Text.Plain, seenAs(t, page, 72, 690, 272, 725, dark))
	}
}

func TestPDFium_opensWhatMuPDFCannot(t *testing.T) {
	t.Parallel()
	s, doc := mustOpen(t, pdftest.New().Info("Report", "").TextPage(pdftest.Text("One page")...).Bytes(), extract.Open{WithoutMuPDF: true})
	if doc.Renderer != "pdfium" || doc.Pages != 1 || doc.Title != "Report" || !strings.HasPrefix(doc.Reason, "cannot_open: ") {
		t.Errorf("opened as %+v", doc)
	}
	page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Format: "png"})
	if !strings.Contains(page.Text.Markdown, "One page") || seenAs(t, page, 72, 740, 372, 770, dark) < 50 {
		t.Errorf("the page says %q", page.Text.Markdown)
	}
	_, _, err := openedBy(t, pdftest.Rubbish(), extract.Open{})
	if e, ok := errors.AsType[*extract.Error](err); !ok || e.Code != failure.Corrupt {
		t.Errorf("rubbish: %v", err)
	}
}
