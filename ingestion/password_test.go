package ingestion

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

func TestExtract_triesPasswordsAndTellsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	b.im.Passwords = func(Job) []string { return []string{"from settings"} }
	b.worker.open = func(int) error {
		if slices.Contains(b.worker.opened.Passwords, "open sesame") {
			return nil
		}
		return &extract.Error{Code: failure.NeedsPassword, Message: "it is locked"}
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	_, _, err := b.run(j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != failure.NeedsPassword || e.Transient || !strings.Contains(e.Remedy, ".password") {
		t.Fatalf("without its password: %#v", err)
	}
	if !slices.Equal(b.worker.opened.Passwords, []string{"from settings"}) {
		t.Errorf("%d passwords were tried", len(b.worker.opened.Passwords))
	}
	b.drop("x", "Import/q3.pdf.password", []byte("wrong\r\nopen sesame\n"))
	made, _ := b.mustRun(j)
	if want := []string{"from settings", "wrong", "open sesame"}; !slices.Equal(b.worker.opened.Passwords[:3], want) {
		t.Errorf("tried %d passwords, want those of the settings before those of the file", len(b.worker.opened.Passwords))
	}
	for _, name := range []string{manifest.File, "q3.md"} {
		if text := b.read(made.Bundle + "/" + name); strings.Contains(text, "sesame") || strings.Contains(text, "from settings") {
			t.Errorf("%s tells a password", name)
		}
	}
	if !b.im.exists("Import/q3.pdf.password") {
		t.Error("the file of passwords was taken away")
	}
}

func TestExtract_keepsWhatStandsBesideThePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2, Renderer: "mupdf"})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		if r.Text {
			p.Text.Besides = "**Form fields**\n\n- Name: Ada"
			if r.N == 2 {
				p.Text.Markdown, p.Text.Plain, p.Text.Evidence = "", "", extract.Evidence{}
			}
		}
		if r.Image {
			p.Renderer, p.Reason = "pdfium", "form: 1 fields"
		}
		if r.OCR {
			p.OCR.Text, p.OCR.Words = "", nil
		}
		return p, nil
	}
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	m, _ := b.im.manifest(made.Bundle)
	if m.Pages[0].Text.Source != manifest.TextLayer || m.Pages[1].Text.Source != manifest.TextForm {
		t.Errorf("sources %s and %s", m.Pages[0].Text.Source, m.Pages[1].Text.Source)
	}
	for _, p := range m.Pages {
		if text := b.read(made.Bundle + "/" + p.Text.Path); !strings.HasSuffix(text, "**Form fields**\n\n- Name: Ada\n") || p.N == 1 && strings.HasPrefix(text, "**Form") {
			t.Errorf("page %d says:\n%s", p.N, text)
		}
		if p.Render == nil || p.Render.Renderer != "pdfium" || p.Render.Reason != "form: 1 fields" {
			t.Errorf("page %d was drawn by %+v", p.N, p.Render)
		}
	}
}

func TestExtract_opensWithoutMuPDFAfterADeath(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	b.worker.open = func(int) error {
		if b.worker.opened.WithoutMuPDF {
			return nil
		}
		return &extract.Error{Code: failure.Corrupt, Message: "the document cannot be opened", Aborted: true}
	}
	b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	b = newBench(t, extract.Document{Pages: 1})
	b.worker.open = func(int) error { return &extract.Error{Code: failure.Corrupt, Message: "both gave up"} }
	if _, _, err := b.run(b.drop("imp-1", "Import/q3.pdf", pdfBytes)); err == nil || b.worker.opened.WithoutMuPDF {
		t.Errorf("%v, without MuPDF: %v", err, b.worker.opened.WithoutMuPDF)
	}
}
