package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/phototest"
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

// Tesseract takes the columns of a table for columns of text, loses its single digits, and cuts through words where spaces lie
// below each other. The rows of a picture of a table are read as rows, those of any other table as well.
func TestWorker_readsPicturesOfTablesByRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    []float64 // where columns begin, or end if it is below 0
		rows  [][]string
		want  string
		width float64
	}{
		"invoice": {
			[]float64{60, 90, -340, -430, -520},
			[][]string{
				{"Pos", "Description", "Qty", "Unit price", "Amount"},
				{"1", "Oak plank 20 x 200", "12", "45.00", "540.00"},
				{"2", "Steel beam HEB 140", "3", "310.50", "931.50"},
				{"", "galvanised, 6 m"},
				{"3", "Transport", "1", "120.00", "120.00"},
				{"", "", "", "Net", "1,591.50"},
				{"", "", "", "VAT 25 %", "397.88"},
			},
			"| Pos | Description | Qty | Unit price | Amount |\n| --- | --- | --: | --- | --: |\n| 1 | Oak plank 20 x 200 | 12 | 45.00 | 540.00 |\n| 2 | Steel beam HEB 140 galvanised, 6 m | 3 | 310.50 | 931.50 |\n" +
				"| 3 | Transport | 1 | 120.00 | 120.00 |\n|  |  |  | Net | 1,591.50 |\n|  |  |  | VAT 25 % | 397.88 |",
			595,
		},
		"prices without decimals": {
			[]float64{14, -212},
			[][]string{{"Coffee", "25"}, {"Tea", "20"}, {"Buns", "18"}, {"Ices", "35"}, {"Total", "98"}},
			"Coffee 25\nTea 20\nBuns 18\nIces 35\nTotal 98", 226,
		},
		"table without numbers": {
			[]float64{36, 216, 400},
			[][]string{{"Name", "City", "Trade"}, {"Anna Berg", "Oslo", "joiner"}, {"Bob Stone", "Bergen", "smith"}, {"Carla Rossi", "Rome", "tailor"}, {"Eve Laurent", "Paris", "baker"}},
			"| Name | City | Trade |\n| --- | --- | --- |\n| Anna Berg | Oslo | joiner |\n| Bob Stone | Bergen | smith |\n| Carla Rossi | Rome | tailor |\n| Eve Laurent | Paris | baker |", 540,
		},
		"labels far from their values": {
			[]float64{40, 420},
			[][]string{{"Order", "4711-22"}, {"Customer", "Anna Berg"}, {"Status", "shipped"}, {"Delivery", "14 March 2026"}, {"Payment", "card"}, {"Total", "EUR 120.50"}},
			"Order 4711-22\nCustomer Anna Berg\nStatus shipped\nDelivery 14 March 2026\nPayment card\nTotal EUR 120.50", 600,
		},
	} {
		var placed []pdftest.Placed
		for i, row := range c.rows {
			for j, text := range row {
				x := c.at[j]
				if x < 0 {
					x = -x - pdftest.NumberWidth(text, 9.4)
				}
				placed = append(placed, pdftest.Placed{Text: text, X: x, Y: 60 + 14*float64(i), Size: 9.4})
			}
		}
		s, _ := opened(t, pdftest.New().PageSize(c.width, 430).PlacedPage(placed, nil).Bytes(), extract.KindPDF)
		got := ask(t, s, extract.PageRequest{N: 1, OCR: true, OCRDPI: 150}).OCR
		if got.Text != c.want || len(got.Doubts) > 0 {
			t.Errorf("%s: doubts %v, read as\n%s\nwant\n%s", name, got.Doubts, got.Text, c.want)
		}
	}
}

// A receipt that lies on a table, photographed from the side and with a shadow on it, has each thing with its price on a line, and its total.
// Tesseract takes the prices for a line that runs down, and loses them. Where a price is read wrongly, the page is doubtful: its sum shows that.
func TestWorker_readsPhotographsOfReceipts(t *testing.T) {
	t.Parallel()
	for number, whole := range map[uint64]bool{7: true, 12: false} { // "8@.00"
		made, err := phototest.MakeReceipt(1, number)
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, made.JPEG)
		var lost []string
		for row := range strings.Lines(made.Text) {
			if row = strings.TrimSpace(row); strings.Contains(row, ".") && !slices.Contains(strings.Split(got.Text, "\n"), row) {
				lost = append(lost, row)
			}
		}
		if (len(lost) == 0) != whole || len(lost) > 4 || doubt.Has(got.Doubts, doubt.Table) == whole {
			t.Errorf("%d: lost rows %q, doubts %v, read as\n%s", number, lost, got.Doubts, got.Text)
		}
	}
}
