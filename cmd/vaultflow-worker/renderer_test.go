package main

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
)

// Both renderers keep the same contract; see worker/pdf.Renderer. MuPDF is asked for alone, and PDFium by taking MuPDF away.
func TestRenderer_contract(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]extract.Open{
		extract.RenderMuPDF:  {Renderer: extract.RenderMuPDF},
		extract.RenderPDFium: {WithoutMuPDF: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exerciseRenderer(t, name, func(data []byte) (*sandbox.Session, extract.Document, error) { return openedBy(t, data, o) })
		})
	}
}

// exerciseRenderer checks what a renderer promises about any document.
func exerciseRenderer(t *testing.T, name string, open func(data []byte) (*sandbox.Session, extract.Document, error)) {
	t.Helper()
	must := func(t *testing.T, data []byte) (*sandbox.Session, extract.Document) {
		t.Helper()
		s, doc, err := open(data)
		if err != nil {
			t.Fatal(err)
		}
		return s, doc
	}
	t.Run("describes the document", func(t *testing.T) {
		t.Parallel()
		_, doc := must(t, pdftest.New().Info("Prüfung", "A. Author").TextPage(pdftest.Text("one")...).BlankPage().Outline("Start", 1).Outline("End", 2).Bytes())
		if doc.Pages != 2 || doc.Title != "Prüfung" || doc.Author != "A. Author" || doc.Created != "2026-01-02T03:04:05Z" || doc.Renderer != name || doc.Version == "" {
			t.Errorf("document: %+v", doc)
		}
		if len(doc.Outline) != 2 || doc.Outline[1] != (extract.OutlineItem{Level: 1, Title: "End", Page: 2}) {
			t.Errorf("outline: %+v", doc.Outline)
		}
	})
	t.Run("reads lines, pictures and links", func(t *testing.T) {
		t.Parallel()
		s, _ := must(t, linkedPages().ScanPage(scanLines...).Bytes())
		if got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text; got.Markdown != linkedText || got.Evidence.Chars != 96 || got.Evidence.Pictures != 0 {
			t.Errorf("evidence %+v, text\n%s\nwant\n%s", got.Evidence, got.Markdown, linkedText)
		}
		if e := ask(t, s, extract.PageRequest{N: 3, Text: true}).Text.Evidence; e.Chars != 0 || e.Pictures != 1 || e.PictureCover < 0.98 {
			t.Errorf("of a scan: %+v", e)
		}
	})
	t.Run("reads nothing on an empty page", func(t *testing.T) {
		t.Parallel()
		s, _ := must(t, pdftest.New().BlankPage().Bytes())
		got := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true})
		if got.Text.Plain != "" || got.Text.Evidence.Ink == nil || got.Text.Evidence.Ink.All != 0 {
			t.Errorf("text %q, ink %+v", got.Text.Plain, got.Text.Evidence.Ink)
		}
	})
	t.Run("draws a page alike whatever it drew before", func(t *testing.T) {
		t.Parallel()
		second := extract.PageRequest{N: 2, Image: true, DPI: 150, Format: "png"}
		alone, _ := must(t, tiled())
		want := ask(t, alone, second).Image.Bytes
		after, _ := must(t, tiled())
		ask(t, after, extract.PageRequest{N: 1, Image: true, DPI: 150})
		if !bytes.Equal(ask(t, after, second).Image.Bytes, want) {
			t.Error("the second page is another one after the first")
		}
	})
	t.Run("cuts the same part whatever it drew between", func(t *testing.T) {
		t.Parallel()
		s, _ := must(t, pdftest.New().ScanPage(scanLines...).Bytes())
		part := extract.PageRequest{N: 1, Image: true, DPI: 150, Format: "png", Rect: &content.Rect{X1: 50, Y1: 50, X2: 400, Y2: 700}}
		want := ask(t, s, part).Image.Bytes
		part.Text = true // whether there is ink is seen on a small picture
		if !bytes.Equal(ask(t, s, part).Image.Bytes, want) {
			t.Error("the part is another one after its page was drawn again")
		}
	})
	t.Run("draws pages as they are displayed", func(t *testing.T) {
		t.Parallel()
		for rotate, want := range map[int]struct {
			width, height float64
			colours       string
		}{
			0: {200, 150, "red green blue grey"}, 90: {150, 200, "blue red grey green"},
			180: {200, 150, "grey blue green red"}, 270: {150, 200, "green grey red blue"},
		} {
			s, _ := must(t, crossed(rotate))
			page := ask(t, s, extract.PageRequest{N: 1, Image: true, DPI: 144, Format: "png"})
			if page.WidthPt != want.width || page.HeightPt != want.height {
				t.Errorf("turned by %d: %g × %g pt, want %g × %g", rotate, page.WidthPt, page.HeightPt, want.width, want.height)
			}
			if math.Abs(float64(page.Image.Width)-2*want.width) > 1 || math.Abs(float64(page.Image.Height)-2*want.height) > 1 {
				t.Errorf("turned by %d: %d × %d pixels at 144 dpi", rotate, page.Image.Width, page.Image.Height)
			}
			whole := ask(t, s, extract.PageRequest{N: 1, Image: true, DPI: 144, Rect: &content.Rect{X1: 100, Y1: 100, X2: 300, Y2: 200}}).Image
			if got := colours(t, whole); got != want.colours {
				t.Errorf("turned by %d: quarters are %s, want %s", rotate, got, want.colours)
			}
		}
	})
	t.Run("keeps a picture within its limits", func(t *testing.T) {
		t.Parallel()
		s, _ := must(t, pdftest.GiantPage())
		if got := ask(t, s, extract.PageRequest{N: 1, Image: true, MaxSide: 500, MaxPixels: 200_000}).Image; max(got.Width, got.Height) > 500 || got.Width*got.Height > 200_000 {
			t.Errorf("picture of %d × %d", got.Width, got.Height)
		}
	})
	t.Run("refuses what is no document", func(t *testing.T) {
		t.Parallel()
		_, doc, err := open(pdftest.Rubbish())
		if e, ok := errors.AsType[*extract.Error](err); !ok || e.Code != failure.Corrupt {
			t.Errorf("opened as %+v, %v", doc, err)
		}
	})
}
