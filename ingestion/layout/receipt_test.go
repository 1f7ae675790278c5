package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// till sets rows on a narrow page, with prices that end at its right.
func till(font string, rows ...[2]string) string {
	var lines []layout.Line
	for i, row := range rows {
		for j, text := range row {
			if text == "" {
				continue
			}
			l := at(15, 30+12*float64(i), 8, text)
			if l.Font = font; j == 1 {
				l.Box.X0, l.Box.X1 = 190-(l.Box.X1-l.Box.X0), 190
			}
			lines = append(lines, l)
		}
	}
	page := layout.Page{Width: 205, Height: 410, Lines: lines}
	_, markdown := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	return markdown
}

func TestText_keepsTheLinesOfReceipts(t *testing.T) {
	t.Parallel()
	got := till("", [2]string{"KIOSK AT THE STATION"}, [2]string{"- platform 1 -"}, [2]string{"1. Lane"}, [2]string{"Apples"}, [2]string{"0.860 kg x 2.90", "2.49"}, [2]string{"Returned bottles"}, [2]string{"3 x 0.25", "-0.75"},
		[2]string{"Tea", "€2.00 A"}, [2]string{"TOTAL", "3.74"}, [2]string{"Paid by card, with thanks"}, [2]string{}, [2]string{"VAT 7%", "0.24"})
	want := "KIOSK AT THE STATION\n\\- platform 1 -\n1\\. Lane\nApples\n\n" +
		"|  |  |\n| --- | --: |\n| 0.860 kg x 2.90 | 2.49 |\n| Returned bottles |  |\n| 3 x 0.25 | -0.75 |\n| Tea | €2.00 A |\n| TOTAL | 3.74 |\n\n" +
		"Paid by card, with thanks\n\nVAT 7% 0.24"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestText_takesNarrowPagesOfTextForText(t *testing.T) {
	t.Parallel()
	var book, prices [][2]string
	for i := range 12 {
		book = append(book, [2]string{fmt.Sprintf("a line of a small book, no. %d,", i)})
		prices = append(prices, [2]string{fmt.Sprintf("a line of prose that ends in %d.50", i)})
	}
	for _, rows := range [][][2]string{book, prices, append(book, [2]string{"Price", "9.80"})} {
		if got := till("", rows...); strings.Contains(got, "\na line") {
			t.Errorf("a paragraph fell apart:\n%s", got)
		}
	}
}
