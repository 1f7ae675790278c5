package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
)

// A page in a language with Latin letters that is not installed is read with confidence, and wrongly. The doubt names the package.
func TestWorker_namesLanguagesOfLatinLetters(t *testing.T) {
	t.Parallel()
	report, err := sandbox.Self(t.Context(), program(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for language, lines := range map[string][]string{
		"nor": {"Kjære Åse, båten på brygga må tømmes før påske.", "Vær så snill å betale 350 kroner til kassereren.", "Hilsen Øyvind på Nærøy, som også søker en ny årer."},
		"swe": {"Hej Åsa, båten måste vara tömd före påsk. Vänligen", "betala 350 kronor till kassören på onsdag."},
		"pol": {"Szanowna Pani, proszę zapłacić 350 złotych do środy.", "Łódź musi być pusta przed świętami. Dziękuję i pozdrawiam."},
		"tur": {"Sayın Müşterimiz, ödemenizi çarşamba gününe kadar", "yapınız. Toplam ücret 350 liradır. Güneşli günler dileğiyle."},
		"por": {"Prezada Senhora, não é possível a devolução após três", "semanas. A situação será avaliada pela direção.", "Atenção: João está de férias até março."},
		"spa": {"El niño necesita la mañana libre el día 3 de año nuevo.", "¿Podría enviarnos también la contraseña? Gracias."},
		"nld": {"De boot moet voor Pasen leeg zijn. Wij verzoeken u", "vriendelijk om 350 euro aan de penningmeester te betalen."},
	} {
		if slices.Contains(report.Languages, language) {
			continue
		}
		got := read(t, encoded(t, pdftest.Drawing(1500, 400, 200, lines...)))
		if advice := "tesseract-ocr-" + language; !strings.Contains(doubt.Words(got.Doubts), advice) {
			t.Errorf("%s: the doubts %v do not name %s: %q", language, got.Doubts, advice, got.Text)
		}
	}
}

// Names, terms and addresses on a page of the right language raise no doubt about the language.
func TestWorker_knowsTheLanguageOfNames(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"names":   {"Members: Kari Nordmann, Ole Bakke, Anna Kowalska, Giuseppe Verdi,", "Inger Hagerup, Selma Lund, Knut Hamsun, Olav Duun, Hans Berg"},
		"letter":  {"The boat must be empty before Easter. Please pay 350 kroner", "to Olav Duun at the Brygga in Bergen, who looks for new oars."},
		"invoice": {"Invoice 4711, Storgata 14, 0155 Oslo, Bank NO93 8601 1117", "12 x Staedtler pencils, blue 3.50 42.00", "4 x Leuchtturm notebooks, ruled 12.90 51.60"},
		"prose":   prose,
	} {
		got := read(t, encoded(t, pdftest.Drawing(1800, 900, 200, lines...)))
		if strings.Contains(doubt.Words(got.Doubts), "tesseract") || len(got.Words) < 12 {
			t.Errorf("%s: %v, %d words", name, got.Doubts, len(got.Words))
		}
	}
	s, _ := opened(t, encoded(t, pdftest.Drawing(1500, 400, 200, "Kjære Åse, båten på brygga må tømmes før påske.", "Vær så snill å betale 350 kroner til kassereren.")), extract.KindImage)
	languages := []string{"eng"}
	if report, err := sandbox.Self(t.Context(), program(t), nil); err == nil && slices.Contains(report.Languages, "deu") {
		languages = append(languages, "deu")
	}
	got := ask(t, s, extract.PageRequest{N: 1, OCR: true, Languages: languages}).OCR
	if !strings.Contains(doubt.Words(got.Doubts), "tesseract-ocr-nor") {
		t.Errorf("languages %v: doubts %v", languages, got.Doubts)
	}
}
