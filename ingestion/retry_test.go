package ingestion

import (
	"errors"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// Workers that sample the document die of page 3, whatever page's text they are asked for: the others keep their text.
func TestExtract_aPageThatEndsEverySample(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 4})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.Text && (!b.worker.opened.Alone || r.N == 3) {
			return extract.Page{}, &extract.Error{Code: failure.Crashed, Message: "killed"}
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Sessions = 1
	made, _ := b.mustRun(j)
	m, _ := b.im.manifest(made.Bundle)
	for _, p := range m.Pages {
		if layer := p.Text != nil && p.Text.Source == manifest.TextLayer; layer != (p.N != 3) {
			t.Errorf("page %d: text %+v, error %q", p.N, p.Text, p.Error)
		}
	}
	if len(m.Pages) != 4 || b.worker.starts > 4 {
		t.Errorf("%d pages by %d sessions", len(m.Pages), b.worker.starts)
	}
}

// A session dies on page 2, and the machine is too busy for another one: the import waits, page 1 is not made again.
func TestExtract_reopeningWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	busy := true
	b.worker.open = func(n int) error {
		if n > 1 && busy {
			return &extract.Error{Code: failure.Timeout, Message: "took longer than 30s"}
		}
		return nil
	}
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.N == 2 && busy {
			return extract.Page{}, &extract.Error{Code: failure.Crashed, Message: "killed"}
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Sessions = 1
	_, _, err := b.run(j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || !e.Transient || e.Code != failure.Timeout || e.Remedy == "" {
		t.Fatalf("got %#v", err)
	}
	filed, err := b.im.File(t.Context(), j, Ending{State: StateFailed, Code: e.Code, Message: e.Error(), Transient: e.Transient})
	if err != nil || filed.Name != j.Source || b.read(j.Source) != string(pdfBytes) {
		t.Errorf("filed %+v, %v", filed, err)
	}
	busy, b.worker.requests = false, nil
	made, _ := b.mustRun(j)
	for _, r := range b.worker.requests {
		if r.N == 1 {
			t.Fatal("page 1 had a record and was asked for again")
		}
	}
	if m, _ := b.im.manifest(made.Bundle); len(m.Pages) != 3 || len(m.Import.Warnings) != 0 {
		t.Errorf("%d pages, warnings %q", len(m.Pages), m.Import.Warnings)
	}
}
