package sandbox

import (
	"strings"
	"testing"
)

// Only Tesseract's codes have packages: nobody can install tesseract-ocr-german.
func TestLanguageFix(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"deu": "install tesseract-ocr-deu ", "chi_sim": "install tesseract-ocr-chi-sim ", "german": "such as deu for German", "de": "such as deu for German", "Deutsch": "such as deu for German",
	} {
		if got := languageFix(language); !strings.Contains(got, want) {
			t.Errorf("%s: %s", language, got)
		}
	}
}
