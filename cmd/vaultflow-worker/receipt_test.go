package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// receipt is what a till prints: a narrow page, names on the left and amounts on the right.
func receipt() *pdftest.Builder {
	var placed []pdftest.Placed
	y := 30.0
	for _, row := range [][2]string{
		{"CORNER SHOP"},
		{"12 High Street"},
		{"Tel 0123 456789"},
		{},
		{"Bread wholemeal", "2.40"},
		{"Milk 2.5%", "1.10"},
		{"2 x Butter 1.85", "3.70"},
		{"Apples 0.860 kg x 2.90", "2.49"},
		{},
		{"TOTAL EUR", "9.69"},
		{"CASH", "10.00"},
		{"CHANGE", "0.31"},
		{},
		{"VAT 7%    0.63"},
		{"Thank you, come again!"},
	} {
		placed = append(placed, pdftest.Placed{Text: row[0], X: 15, Y: y, Size: 8}, pdftest.Placed{Text: row[1], X: 190 - pdftest.NumberWidth(row[1], 8), Y: y, Size: 8})
		y += 12
	}
	return pdftest.New().PageSize(205, 410).PlacedPage(placed, nil)
}

func TestWorker_readsReceipts(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, receipt().Bytes(), extract.KindPDF)
	got := ask(t, s, extract.PageRequest{N: 1, Text: true, OCR: true, OCRDPI: 300})
	want := "CORNER SHOP\n12 High Street\nTel 0123 456789\n\n" +
		"|  |  |\n| --- | --- |\n| Bread wholemeal | 2.40 |\n| Milk 2.5% | 1.10 |\n| 2 x Butter 1.85 | 3.70 |\n| Apples 0.860 kg x 2.90 | 2.49 |\n\n" +
		"|  |  |\n| --- | --: |\n| TOTAL EUR | 9.69 |\n| CASH | 10.00 |\n| CHANGE | 0.31 |\n\n" +
		"VAT 7% 0.63\nThank you, come again!"
	if got.Text.Markdown != want {
		t.Errorf("text layer:\n%s\nwant\n%s", got.Text.Markdown, want)
	}
	if plain := got.Text.Plain; !strings.Contains(plain, "\n\nBread wholemeal\t2.40\n") {
		t.Errorf("plain text:\n%s", plain)
	}
	t.Log(got.OCR.Text)
	inTurn(t, got.OCR.Text, "|", "High Street\n", "\n\nBread wholemeal 2.40\n", "Milk 2.5% 1.10\n", "2.49\n", "TOTAL EUR 9.69\n", "0.31\n")
}
