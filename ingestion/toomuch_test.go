package ingestion

import (
	"errors"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// A worker that sends more text for a page than any page has is believed no further: the document ends there.
func TestExtract_endsWithAWorkerThatSendsTooMuch(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		return extract.Page{}, &extract.Error{Code: failure.TooMuch, Page: r.N, Message: "25 MB came"}
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Route = filetype.Classify("", j.Source, pdfBytes, nil, 0)
	_, err := b.im.Extract(t.Context(), j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != failure.TooLarge || e.Transient || !strings.Contains(e.Message, "25 MB came") || e.Remedy == "" {
		t.Errorf("got %v, want the end of the document with what to do", err)
	}
	if n := len(b.worker.requests); n > j.settings().Sessions {
		t.Errorf("%d requests, want no page after the first of each session", n)
	}
}
