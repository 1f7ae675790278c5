package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

func TestPageWarnings_missingFonts(t *testing.T) {
	t.Parallel()
	with := func(n int, code, reason string) manifest.Page {
		return manifest.Page{N: n, Status: manifest.PageDone, Render: &manifest.PageRender{Renderer: "pdfium", Code: code, Reason: reason}}
	}
	old := with(3, "", "no_font: recorded by a version without codes")
	got := pageWarnings([]manifest.Page{with(1, "fonts", "fonts: text without its fonts"), with(2, "no_font", "no_font: text without its fonts"), old, {N: 4, Status: manifest.PageDone}})
	if len(got) != 1 || !strings.HasPrefix(got[0], "the pictures of pages 2–3 lack Chinese") || !strings.Contains(got[0], "fonts-droid-fallback") {
		t.Errorf("warnings %q", got)
	}
	if got := pageWarnings([]manifest.Page{with(1, "fonts", "fonts: drawn")}); len(got) != 0 {
		t.Errorf("warnings %q where all is drawn", got)
	}
}

// Text that nobody can see is named, once for all pages; specks are not.
func TestPageWarnings_hiddenText(t *testing.T) {
	t.Parallel()
	page := func(n, hidden int) manifest.Page {
		return manifest.Page{N: n, Status: manifest.PageDone, Hidden: hidden}
	}
	got := pageWarnings([]manifest.Page{page(1, 33), page(2, 2), page(3, 400), page(4, 0)})
	if len(got) != 1 || !strings.Contains(got[0], "text on pages 1, 3 that nobody can see") {
		t.Errorf("warnings %q", got)
	}
}

// A document of scans is in the one language that it was read in.
func TestRecognisedIn(t *testing.T) {
	t.Parallel()
	read := func(confidence float64, chars int, languages ...string) manifest.Page {
		return manifest.Page{Text: &manifest.PageText{Source: manifest.TextOCR, Chars: chars}, OCR: &manifest.PageOCR{Confidence: confidence, Languages: languages}}
	}
	layer, empty := manifest.Page{Text: &manifest.PageText{Source: manifest.TextLayer}}, manifest.Page{Text: &manifest.PageText{Source: manifest.TextNone}}
	auto := []string{"auto"}
	for name, c := range map[string]struct {
		languages []string
		pages     []manifest.Page
		want      string
	}{
		"chosen":         {[]string{"deu"}, []manifest.Page{read(90, 20, "deu"), empty}, "de"},
		"found out":      {auto, []manifest.Page{read(90, 150, "deu"), read(90, 150, "deu")}, "de"},
		"hardly proven":  {auto, []manifest.Page{read(90, 20, "eng")}, ""},
		"two pages":      {auto, []manifest.Page{read(90, 500, "deu"), read(90, 500, "eng")}, ""},
		"two":            {[]string{"deu", "fra"}, []manifest.Page{read(90, 500, "deu", "fra")}, ""},
		"badly read":     {[]string{"deu"}, []manifest.Page{read(90, 500, "deu"), read(30, 500, "deu")}, ""},
		"other text":     {[]string{"deu"}, []manifest.Page{read(90, 500, "deu"), layer}, ""},
		"nothing read":   {[]string{"deu"}, []manifest.Page{empty, {}}, ""},
		"of Tesseract's": {[]string{"chi_sim"}, []manifest.Page{read(90, 500, "chi_sim")}, ""},
	} {
		w := publishing{&work{set: config.Settings{OCR: config.OCR{Languages: c.languages, MinConfidence: 60}}}}
		if got := w.recognisedIn(c.pages); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Nothing says that a page has no text above the text that it has.
func TestDoubtful_pageWithSomeText(t *testing.T) {
	t.Parallel()
	empty := []doubt.Doubt{{Code: doubt.Empty, Words: "hardly any text could be read"}}
	got := strings.Join(doubtful([]manifest.Page{
		{N: 1, Doubts: empty, Text: &manifest.PageText{Source: manifest.TextNone}}, {N: 2, Doubts: empty, Text: &manifest.PageText{Source: "ocr", Chars: 9}},
	}), "\n")
	if !strings.Contains(got, "no text was found on page 1,") || !strings.Contains(got, "text on page 2 is probably missing") {
		t.Errorf("got %q", got)
	}
}
