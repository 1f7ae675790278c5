package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// Which text a page gets: that of its layer or that of its picture, by the order of the strategies, by redo, and by what
// either of them holds.
func TestExtract_strategies(t *testing.T) {
	t.Parallel()
	const layerText, read = "A long text layer of an ordinary page.", "Read text."
	digital := extract.Evidence{Chars: 33, Fonts: 1}
	old := extract.Evidence{Chars: 33, Invisible: 33, Pictures: 1, PictureCover: 1}
	cases := []struct {
		name       string
		strategies []string
		redo       bool
		evidence   extract.Evidence
		read       string
		want       string // source
		reason     string
	}{
		{"the layer is enough", nil, false, digital, read, manifest.TextLayer, "text_layer"},
		{"text only", []string{config.StrategyPDFText}, false, extract.Evidence{Pictures: 1, PictureCover: 1}, read, manifest.TextLayer, "no_text"},
		{"recognition only", []string{config.StrategyPDFOCR}, false, digital, read, manifest.TextOCR, "ocr_first"},
		{"recognition only, nothing found", []string{config.StrategyPDFOCR}, false, digital, "", manifest.TextNone, "ocr_first"},
		{"recognition first", []string{config.StrategyPDFOCR, config.StrategyPDFText}, false, digital, read, manifest.TextOCR, "ocr_first"},
		{"recognition first, nothing found", []string{config.StrategyPDFOCR, config.StrategyPDFText}, false, digital, "", manifest.TextLayer, "ocr_first"},
		{"old layer", nil, false, old, read, manifest.TextLayer, "old_ocr_layer"},
		{"old layer, redo", nil, true, old, read, manifest.TextOCR, "redo"},
		{"old layer, redo, nothing found", nil, true, old, "", manifest.TextLayer, "redo"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: layerText, Plain: layerText, Evidence: c.evidence}
				}
				if r.OCR {
					p.OCR = &extract.PageOCR{Text: c.read, Confidence: 90, Engine: "fake 1", Width: 1, Height: 1}
				}
				return p, nil
			}
			j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
			j.Settings.PDF.Strategies, j.Settings.OCR.Redo = c.strategies, c.redo
			made, _ := b.mustRun(j)
			m, _ := b.im.manifest(made.Bundle)
			got := m.Pages[0]
			if got.Text.Source != c.want || !strings.HasPrefix(got.OCR.Reason, c.reason+":") {
				t.Fatalf("text %+v, decision %+v; want %s for %s", got.Text, got.OCR, c.want, c.reason)
			}
			text := map[string]string{manifest.TextLayer: layerText + "\n", manifest.TextOCR: read + "\n"}[c.want]
			if text != "" && b.read(made.Bundle+"/"+got.Text.Path) != text {
				t.Errorf("the text is %q, want %q", b.read(made.Bundle+"/"+got.Text.Path), text)
			}
		})
	}
}
