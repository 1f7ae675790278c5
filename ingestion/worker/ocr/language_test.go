package ocr

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// scripted is an engine that reads a page with a confidence for each language.
type scripted struct {
	text       string
	confidence map[string]float64
	lies       Orientation
	asked      []string
}

func (s *scripted) Name() string                           { return "scripted 1" }
func (s *scripted) Orient(*image.Gray) (Orientation, bool) { return s.lies, s.lies != Orientation{} }
func (s *scripted) Close()                                 {}

func (s *scripted) Recognise(_ *image.Gray, languages []string, _ Division) (words []Word, err error) {
	s.asked = append(s.asked, languages...)
	for i, word := range strings.Fields(s.text) {
		words = append(words, Word{Text: word, Confidence: s.confidence[languages[0]], Rect: image.Rect(10*i, 0, 10*i+9, 9), Block: 1, Paragraph: 1, Line: 1})
	}
	return words, nil
}

// ruled is a picture that is not blank and has no letters.
func ruled() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 400, 300))
	for i := range img.Pix[:400*290] {
		img.Pix[i] = 255
	}
	return img
}

const german = "Die Mühle stand dort, wo der Fluss einen Bogen macht, und niemand im Dorf kannte eine Zeit ohne sie. Im Winter gefror das Rad."

func TestRead_findsTheLanguage(t *testing.T) {
	t.Parallel()
	page := ruled()
	for name, c := range map[string]struct {
		engine    scripted
		ask       string
		languages string // that were used
		asked     string // of the engine, for two pages
		doubt     string
	}{
		"as it is":       {scripted{text: "The mill stood where the river bends, and nobody could remember a time without it.", confidence: map[string]float64{"eng": 95}}, "auto", "eng", "eng eng", ""},
		"another":        {scripted{text: german, confidence: map[string]float64{"eng": 85, "deu": 95}}, "auto", "deu", "eng deu deu", ""},
		"read no better": {scripted{text: german, confidence: map[string]float64{"eng": 85, "deu": 84}}, "auto", "eng", "eng deu eng deu", ""},
		"named":          {scripted{text: german, confidence: map[string]float64{"eng": 85, "deu": 95}}, "eng", "eng", "eng eng", "add that to ingestion.ocr.languages"},
		"a few words":    {scripted{text: "tam, gdzie rzeka zakręca", confidence: map[string]float64{"eng": 90}}, "auto", "eng", "eng eng", "4 words are in no dictionary of eng"},
		"script": {
			scripted{text: "R%i #x", confidence: map[string]float64{"eng": 20}, lies: Orientation{Sure: 7, Script: "Han"}}, "auto", "eng", "eng eng", "install tesseract-ocr-chi-sim",
		},
		"script, installed": {scripted{text: "a b", confidence: map[string]float64{"eng": 20, "ell": 95}, lies: Orientation{Sure: 7, Script: "Greek"}}, "auto", "ell", "eng ell ell", ""},
		"another of its signs": {
			scripted{text: "a b c d", confidence: map[string]float64{"eng": 20, "kor": 70}, lies: Orientation{Sure: 1.8, Script: "Hiragana"}}, "auto", "eng", "eng eng", "install tesseract-ocr-jpn",
		},
		"few letters":            {scripted{text: "a b c d", confidence: map[string]float64{"eng": 20, "ell": 95}}, "auto", "ell", "eng eng ell ell", ""},
		"few letters, unread":    {scripted{text: "a b c d", confidence: map[string]float64{"eng": 20, "ell": 70}}, "auto", "eng", "eng eng ell eng eng ell", ""},
		"few letters, languages": {scripted{text: "a b c d", confidence: map[string]float64{"eng": 20, "ell": 95}}, "eng", "eng", "eng eng eng eng", ""},
		"leaves":                 {scripted{text: "R%i #x", confidence: map[string]float64{"eng": 20}, lies: Orientation{Sure: 0.3, Script: "Han"}}, "auto", "eng", "eng eng", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, language := range []string{"eng", "deu", "ell", "osd"} {
				if err := os.WriteFile(filepath.Join(folder, language+".traineddata"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			engine := c.engine
			r := NewReader(folder, func(string) Engine { return &engine })
			var got *extract.PageOCR
			for range 2 {
				var err error
				if got, err = r.Read(page, []string{c.ask}); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got.Languages, []string{c.languages}) || strings.Join(engine.asked, " ") != c.asked {
				t.Errorf("read in %v, asked for %v, want %s and %s", got.Languages, engine.asked, c.languages, c.asked)
			}
			if said := doubt.Words(slices.DeleteFunc(got.Doubts, func(d doubt.Doubt) bool { return strings.HasPrefix(d.Words, "recognised with") })); !strings.Contains(said, c.doubt) || c.doubt == "" && said != "" {
				t.Errorf("doubts %q, want %q", said, c.doubt)
			}
		})
	}
}
