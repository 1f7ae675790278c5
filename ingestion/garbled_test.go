package ingestion

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// A text layer that is no language is compared with what the page shows. Lists of names are not, and texts in languages that nobody
// prose is a page's text, and shifted what its layer has if a font names each letter by the next one.
const prose = "We terminate the contract number 55812 on 31 December. Please return the keys and the card to the office in the second floor before noon. The deposit of 900 euros will be paid back within six weeks."

var shifted = strings.Map(func(r rune) rune {
	if r >= 'a' && r < 'z' || r >= 'A' && r < 'Z' {
		return r + 1
	}
	return r
}, prose)

// knows stay.
func TestExtract_garbledLayers(t *testing.T) {
	t.Parallel()
	names := "Kari Nordmann, Ole Bakke, Anna Kowalska, Giuseppe Verdi, Inger Hagerup, Selma Lagerlund, Knut Pedersen, Olav Duun, Hans Berg, Ada Holm, Ellen Marsh, Nils Strand"
	for name, c := range map[string]struct {
		layer, read string
		strategies  []string
		source      string // of the text
		code, doubt string
	}{
		"other letters":      {shifted, prose, nil, manifest.TextOCR, "garbled", "other letters than the page"},
		"both are strange":   {shifted, strings.ToUpper(shifted[40:]) + "qqqq", nil, manifest.TextLayer, "text_layer", ""},
		"nobody knows":       {shifted, strings.Repeat("Qwx zzk prrt ", 9), nil, manifest.TextLayer, "garbled", "reads others"},
		"not read":           {shifted, "", nil, manifest.TextLayer, "garbled", "nothing to compare"},
		"without a strategy": {shifted, prose, []string{config.StrategyPDFText}, manifest.TextLayer, "garbled", "nothing to compare"},
		"drawn letters":      {strings.Repeat("¡¢£ ¤¥¦§ ", 20), "Title of 1987", nil, manifest.TextOCR, "garbled", "other letters than the page"},
		"names":              {names, "never asked", nil, manifest.TextLayer, "text_layer", ""},
		"prose":              {prose, "never asked", nil, manifest.TextLayer, "text_layer", ""},
		"codes":              {strings.Repeat("R4-220 K81 12.5 A7 ", 20), "never asked", nil, manifest.TextLayer, "text_layer", ""},
		"another script":     {strings.Repeat("Уважаемая Елена просим оплатить счёт ", 8), "never asked", nil, manifest.TextLayer, "text_layer", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: c.layer, Plain: c.layer, Evidence: extract.Evidence{Chars: len(c.layer), Fonts: 1}}
					if name == "drawn letters" {
						p.Text.Evidence.Drawn = len(c.layer)
					}
				}
				if r.OCR {
					if c.read == "never asked" {
						return p, errors.New("recognition was asked for")
					}
					p.OCR = &extract.PageOCR{Text: c.read, Confidence: 90, Engine: "fake 1", Width: 1, Height: 1}
				}
				return p, nil
			}
			j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
			j.Settings.PDF.Strategies = c.strategies
			made, _ := b.mustRun(j)
			m, _ := b.im.manifest(made.Bundle)
			got := m.Pages[0]
			if got.Text.Source != c.source || got.OCR.Code != c.code || got.OCR.Decided != (c.source == manifest.TextOCR) || got.Status != manifest.PageDone {
				t.Errorf("text %+v, recognition %+v, %s", got.Text, got.OCR, got.Status)
			}
			if said := doubt.Words(got.Doubts); !strings.Contains(said, c.doubt) || c.doubt == "" && said != "" {
				t.Errorf("doubts %q, want %q", said, c.doubt)
			}
		})
	}
}

// Text that only a picture of the page shows is added to its layer; what was not read is said.
func TestExtract_textInPictures(t *testing.T) {
	t.Parallel()
	const layer, form = "Anna Schmidt", "Surname and name"
	for name, c := range map[string]struct {
		strategies  []string
		turned      int
		fails       bool
		source      string
		want, doubt string
	}{
		"merged":             {nil, 0, false, manifest.TextOCR, form + " " + layer + "\n", ""},
		"another way up":     {nil, 90, false, manifest.TextOCR, layer + "\n\n" + form + "\n", "another way up"},
		"recognition fails":  {nil, 0, true, manifest.TextLayer, layer + "\n", "was not read"},
		"without a strategy": {[]string{config.StrategyPDFText}, 0, false, manifest.TextLayer, layer + "\n", "was not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: layer, Plain: layer, Evidence: extract.Evidence{Chars: 100, Pictures: 1, PictureCover: 1, Unread: 5}}
				}
				switch {
				case r.OCR && c.fails:
					return p, &extract.Error{Code: failure.Unsupported, Message: "no language", Page: 1}
				case r.OCR:
					p.OCR = &extract.PageOCR{Text: form, Confidence: 90, Engine: "fake 1", Width: 1, Height: 1, Rotation: c.turned}
					if r.Merge && c.turned == 0 {
						p.Text.Markdown = form + " " + layer
					}
				}
				return p, nil
			}
			j := b.drop("imp-1", "Import/form.pdf", pdfBytes)
			j.Settings.PDF.Strategies = c.strategies
			made, _ := b.mustRun(j)
			m, _ := b.im.manifest(made.Bundle)
			got := m.Pages[0]
			if text := b.read(made.Bundle + "/" + got.Text.Path); text != c.want || got.Text.Source != c.source || got.OCR.Decided != (c.source == manifest.TextOCR) {
				t.Errorf("%q from %s, %+v; want %q", text, got.Text.Source, got.OCR, c.want)
			}
			if said := doubt.Words(got.Doubts); !strings.Contains(said, c.doubt) || c.doubt == "" && said != "" {
				t.Errorf("doubts %q, want %q", said, c.doubt)
			}
		})
	}
}

// A page of which text recognition was ended from outside lacks something, and is made again.
func TestExtract_endedRecognition(t *testing.T) {
	t.Parallel()
	for name, evidence := range map[string]extract.Evidence{
		"text in pictures": {Chars: 100, Pictures: 1, PictureCover: 1, Unread: 5},
		"other letters":    {Chars: 200, Fonts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				if r.OCR {
					return extract.Page{}, errEnded
				}
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: shifted, Plain: shifted, Evidence: evidence}
				}
				return p, nil
			}
			made, _ := b.mustRun(b.drop("imp-1", "Import/form.pdf", pdfBytes))
			m, _ := b.im.manifest(made.Bundle)
			if got := m.Pages[0]; got.Status != manifest.PagePartial || !strings.Contains(got.Lacks, "put aside") {
				t.Errorf("%s, lacks %q: %s", got.Status, got.Lacks, got.Error)
			}
		})
	}
}

// A layer that an OCR program wrote is compared with the picture of some pages; if that has other words, no page of the document keeps it.
func TestExtract_misreadLayers(t *testing.T) {
	t.Parallel()
	const shown = "The tenant pays 850 euro per month on the third day of each month to the landlord"
	for name, c := range map[string]struct {
		layer      string
		confidence float64
		want       string
		asked      int
	}{
		"right":           {strings.Replace(shown, "landlord", "1and1ord", 1), 90, "old_ocr_layer", 3},
		"of another page": {"Minutes of the meeting of the swimming club with all its many helpers and guests", 90, "misread_layer", 6},
		"badly read":      {"Tlie tcnant pavs 8S0 cur0 pcr montli 0n tlie tliird dav 0f eacli m0ntli", 90, "misread_layer", 6},
		"hardly readable": {"Minutes of the meeting of the swimming club with all its many helpers and guests", 50, "old_ocr_layer", 3},
		"few words":       {"Minutes of a meeting", 90, "old_ocr_layer", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 5})
			var asked atomic.Int32
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: c.layer, Plain: c.layer, Evidence: extract.Evidence{Chars: 90, Invisible: 90, Pictures: 1, PictureCover: 1}}
				}
				if r.OCR {
					asked.Add(1)
					p.OCR = &extract.PageOCR{Text: shown, Confidence: c.confidence, Engine: "fake 1", Width: 1, Height: 1}
				}
				return p, nil
			}
			made, _ := b.mustRun(b.drop("imp-1", "Import/old.pdf", pdfBytes))
			m, _ := b.im.manifest(made.Bundle)
			for _, p := range m.Pages {
				if p.OCR.Code != c.want || p.OCR.Decided != (p.Text.Source == manifest.TextOCR) || p.OCR.Decided != (c.want == "misread_layer") {
					t.Errorf("page %d: %+v, text %+v", p.N, p.OCR, p.Text)
				}
			}
			if int(asked.Load()) != c.asked {
				t.Errorf("recognised %d times, want %d", asked.Load(), c.asked)
			}
		})
	}
}

// A layer of which some characters are unknown gives way to what the picture shows, unless little can be recognised there.
func TestExtract_unmappedLayers(t *testing.T) {
	t.Parallel()
	layer := strings.Repeat("α ∀ β ∃ γ ⊂ \uFFFD ", 30)
	for name, c := range map[string]struct{ read, source, doubt string }{
		"read":        {strings.Repeat("alpha beta gamma ", 30), manifest.TextOCR, ""},
		"little read": {"Tne 8v1xk Bpo@v", manifest.TextLayer, "little could be recognised"},
		"not read":    {"", manifest.TextLayer, "little could be recognised"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				p := goodPage(r)
				if r.Text {
					p.Text = &extract.PageText{Markdown: layer, Plain: layer, Evidence: extract.Evidence{Chars: 210, Unmapped: 30, Fonts: 1}}
				}
				if r.OCR {
					p.OCR = &extract.PageOCR{Text: c.read, Confidence: 90, Engine: "fake 1", Width: 1, Height: 1}
				}
				return p, nil
			}
			made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
			m, _ := b.im.manifest(made.Bundle)
			got := m.Pages[0]
			if said := doubt.Words(got.Doubts); got.Text.Source != c.source || got.Status != manifest.PageDone || !strings.Contains(said, c.doubt) || c.doubt == "" && said != "" {
				t.Errorf("text %+v, %s, doubts %q; want text from %s, doubt %q", got.Text, got.Status, said, c.source, c.doubt)
			}
		})
	}
}
