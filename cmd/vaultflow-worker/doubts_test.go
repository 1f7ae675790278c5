package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Two columns that the file has bottom up have another order for each reader, and the page is doubtful. One that the file has in order
// is not, nor is a page of paragraphs, for which PDFium is not asked.
func TestText_doubtsWhatReadersOrderDifferently(t *testing.T) {
	t.Parallel()
	column := func(x float64, name string) (lines []pdftest.Placed) {
		for i := range 24 {
			lines = append(lines, pdftest.Placed{Text: fmt.Sprintf("%s%c%c reports on the harbour %c%c%s", name, 'a'+i, 'z'-i, 'a'+i, 'b'+i, name), X: x, Y: 80 + 13*float64(i)})
		}
		return lines
	}
	straight := append(column(60, "left"), column(320, "right")...)
	var reversed []pdftest.Placed
	for i := range straight {
		reversed = append(reversed, straight[len(straight)-1-i])
	}
	s, _ := mustOpen(t, pdftest.New().PlacedPage(straight, nil).PlacedPage(reversed, nil).TextPage(pdftest.Text("A plain paragraph.")...).Bytes(), extract.Open{})
	for n, want := range map[int]bool{1: false, 2: true, 3: false} {
		got, err := s.Page(context.Background(), extract.PageRequest{N: n, Text: true})
		if err != nil {
			t.Fatal(err)
		}
		if doubt.Has(got.Text.Doubts, doubt.Order) != want || doubt.Has(got.Text.Doubts, doubt.Readers) {
			t.Errorf("page %d: %+v\n%s", n, got.Text.Doubts, got.Text.Markdown)
		}
		if n < 3 && strings.Index(got.Text.Plain, "xyleft") > strings.Index(got.Text.Plain, "rightaz") {
			t.Errorf("page %d is not read by columns:\n%s", n, got.Text.Plain)
		}
	}
	got, err := s.Page(context.Background(), extract.PageRequest{N: 1, Text: true, Letters: true})
	if err != nil || len(got.Text.Letters) != 2 || !strings.Contains(got.Text.Letters[0], "xyright") || !strings.Contains(got.Text.Letters[1], "xyright") {
		t.Errorf("letters %q, %v", got.Text.Letters, err)
	}
}
