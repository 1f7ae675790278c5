package main

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Numbers in a line that runs from right to left may be misplaced. The page says so; a page without any is not doubtful.
func TestText_doubtsNumbersInArabic(t *testing.T) {
	t.Parallel()
	codes := map[byte]string{'A': "لا", 'B': "س", 'C': "م", ' ': " ", '1': "1", '2': "2"}
	for text, want := range map[string]bool{"12 CAB": true, "CAB BAC": false} {
		s, _ := opened(t, pdftest.New().Codes(codes).PlacedPage([]pdftest.Placed{{Text: text, X: 72, Y: 100, Coded: true}}, nil).Bytes(), extract.KindPDF)
		got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text
		if doubt.Has(got.Doubts, doubt.Order) != want {
			t.Errorf("%q: %+v\n%s", text, got.Doubts, got.Markdown)
		}
	}
}
