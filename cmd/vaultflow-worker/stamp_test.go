package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// A watermark or stamp is printed over the text. It is no heading, gives no title, and does not divide a paragraph.
func TestText_putsWatermarksBelowTheText(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]pdftest.Placed{
		"diagonal":       {Text: "CONFIDENTIAL", X: 120, Y: 590, Size: 80, Bold: true, Angle: 55},
		"below the text": {Text: "DRAFT", X: 150, Y: 760, Size: 90, Angle: 60},
		"stamp":          {Text: "PAID 9 MAY", X: 330, Y: 300, Size: 24, Bold: true, Angle: 12},
		"upright":        {Text: "SAMPLE", X: 120, Y: 420, Size: 90},
	} {
		for _, first := range []bool{true, false} {
			texts := []pdftest.Placed{{Text: "Lease of a mill", X: 60, Y: 60, Size: 16, Bold: true}}
			var want []string
			for i := range 30 {
				line := fmt.Sprintf("line %02d of the lease goes on with the mill and all of its wheels", i)
				want = append(want, line)
				texts = append(texts, pdftest.Placed{Text: line, X: 60, Y: 100 + 16*float64(i)})
			}
			if first {
				texts = append([]pdftest.Placed{mark}, texts...)
			} else {
				texts = append(texts, mark)
			}
			s, _ := mustOpen(t, pdftest.New().PlacedPage(texts, nil).Bytes(), extract.Open{})
			got, err := s.Page(context.Background(), extract.PageRequest{N: 1, Text: true})
			if err != nil {
				t.Fatal(err)
			}
			if md := got.Text.Markdown; strings.TrimSpace(md) != "# Lease of a mill\n\n"+strings.Join(want, " ")+"\n\n"+mark.Text || len(got.Text.Doubts) > 0 {
				t.Errorf("%s, first %v: %v\n%s", name, first, got.Text.Doubts, md)
			}
		}
	}
}
