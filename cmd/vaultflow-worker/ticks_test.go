package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Boxes to tick that are drawn are written where they are, however they were ticked. Squares with a number in them, colours of a legend, and
// boxes without text are none.
func TestWorker_readsDrawnBoxes(t *testing.T) {
	t.Parallel()
	const cross, check = "2 2 m 8 8 l 2 8 m 8 2 l S", "2 5 m 4 2 l 8 8 l S"
	box := func(x, y float64, tick string) string {
		return fmt.Sprintf("q 1 0 0 1 %g %g cm 0 0 10 10 re S %s Q ", x, y, tick)
	}
	put := func(x, y float64, text string) string {
		return fmt.Sprintf("BT /F1 11 Tf %g %g Td (%s) Tj ET ", x, y+1, text)
	}
	operators := put(72, 700, "Marital status of the applicant, as on the day of the application:") +
		box(72, 670, "") + put(90, 670, "single") + box(72, 650, cross) + put(90, 650, "married") + box(72, 630, "") + put(90, 630, "widowed") +
		put(72, 600, "Newsletter") + box(160, 600, check) + put(175, 600, "yes") + box(240, 600, "") + put(255, 600, "no") +
		box(72, 560, "") + put(74, 560, "X") + put(90, 560, "I agree to the terms.") +
		box(72, 520, "") + put(74, 520, "7") + put(90, 520, "Step seven of it") +
		"0.2 0.4 0.9 rg 72 480 10 10 re B 0 g " + put(90, 480, "Sales of the north") + box(72, 460, "") + put(90, 460, "Sales of the south") +
		box(300, 660, "") + put(315, 660, "12") +
		box(300, 300, cross) + box(72, 400, "") + box(82, 400, "") + box(92, 400, "") + put(106, 400, "Number of the card")
	s, _ := opened(t, pdftest.New().BlankPage().Operators(operators).Bytes(), extract.KindPDF)
	got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown
	for _, want := range []string{"- [ ] single", "- [x] married", "- [ ] widowed", "[x] yes", "[ ] no", "- [x] I agree to the terms."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(got, "[x]") + strings.Count(got, "[ ]"); n != 6 {
		t.Errorf("%d boxes in\n%s", n, got)
	}
}
