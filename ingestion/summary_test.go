package ingestion

import (
	"strings"
	"testing"
)

func TestPageWarnings_missingFonts(t *testing.T) {
	t.Parallel()
	with := func(n int, reason string) Page {
		return Page{N: n, Status: PageDone, Render: &PageRender{Renderer: "pdfium", Reason: reason}}
	}
	got := pageWarnings([]Page{with(1, "fonts: text without its fonts"), with(2, "no_font: text without its fonts"), with(3, "no_font: the same"), {N: 4, Status: PageDone}})
	if len(got) != 1 || !strings.HasPrefix(got[0], "the pictures of pages 2–3 lack Chinese") || !strings.Contains(got[0], "fonts-droid-fallback") {
		t.Errorf("warnings %q", got)
	}
	if got := pageWarnings([]Page{with(1, "fonts: drawn")}); len(got) != 0 {
		t.Errorf("warnings %q where all is drawn", got)
	}
}

// A document of scans is in the language that it was read in, when somebody chose that.
func TestRecognisedIn(t *testing.T) {
	t.Parallel()
	read := func(confidence float64) Page {
		return Page{Text: &PageText{Source: TextOCR}, OCR: &PageOCR{Confidence: confidence}}
	}
	layer := Page{Text: &PageText{Source: TextLayer}}
	for name, c := range map[string]struct {
		languages []string
		pages     []Page
		want      string
	}{
		"chosen":         {[]string{"deu"}, []Page{read(90), {Text: &PageText{Source: TextNone}}}, "de"},
		"default":        {[]string{"eng"}, []Page{read(90)}, ""},
		"two":            {[]string{"deu", "fra"}, []Page{read(90)}, ""},
		"badly read":     {[]string{"deu"}, []Page{read(90), read(30)}, ""},
		"other text":     {[]string{"deu"}, []Page{read(90), layer}, ""},
		"nothing read":   {[]string{"deu"}, []Page{{Text: &PageText{Source: TextNone}}, {}}, ""},
		"of Tesseract's": {[]string{"chi_sim"}, []Page{read(90)}, ""},
	} {
		w := publishing{&work{set: Settings{OCR: OCRSettings{Languages: c.languages, MinConfidence: 60}}}}
		if got := w.recognisedIn(c.pages); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
