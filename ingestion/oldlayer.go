package ingestion

import (
	"context"
	"sync"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// oldLayer is whether the layer that an OCR program once wrote into a document has the words of its pages. Samples decide for all its pages:
// a layer can be shifted by a page, or misread.
type oldLayer struct {
	pages int
	mu    sync.Mutex // guards what follows
	known bool
	bad   bool
}

// misread compares the page at hand, the middle and the last page with what the worker recognises there. The first caller does it; the
// others wait.
func (m *pageMaker) misread(ctx context.Context) (bool, error) {
	l := &m.w.layer
	if !m.w.set.HasPDF(config.StrategyPDFOCR) {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known {
		return l.bad, nil
	}
	for i, n := range []int{m.page.N, (l.pages + 1) / 2, l.pages} {
		if l.bad || n < 1 || i > 0 && n == m.page.N || i == 2 && n == (l.pages+1)/2 {
			continue
		}
		set := m.w.set
		got, err := m.s.Page(ctx, extract.PageRequest{N: n, Text: true, OCR: true, OCRDPI: set.OCR.DPI, Languages: set.OCR.Languages, MaxPixels: set.PDF.MaxPixels})
		if err := m.short("its text layer could not be compared with its picture", err); err != nil {
			return false, err
		}
		if got.Text != nil && got.OCR != nil && choose.WrittenByOCR(choose.OCR(got.Text.Evidence, false).Code) {
			l.bad = got.OCR.Confidence >= readWell && doubt.OtherWords(got.Text.Plain, got.OCR.Text)
		}
	}
	l.known = true
	return l.bad, nil
}
