package pdf

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// A defect in finding the layout costs a page its layout, not its text.
func TestArranged_defect(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for row, cells := range [][]string{{"Kind", "2009", "2010"}, {"Rent", "120", "130"}, {"Food", "310", "290"}, {"Fuel", "90", "95"}} {
		for column, text := range cells {
			x, y := 60+100*float64(column), 60+14*float64(row)
			page.Lines = append(page.Lines, layout.Line{Text: text, Size: 10, Box: layout.Box{X0: x, Y0: y, X1: x + 25, Y1: y + 10}})
		}
	}
	out, _ := newTexts(&renderers{}, extract.Document{Pages: 2}, true).arranged(page, 2, func() *layout.Tail { panic("a defect") })
	if !strings.HasPrefix(out.Markdown, "Kind\n2009\n2010\nRent") || doubt.Words(out.Doubts) != doubt.NoLayout {
		t.Errorf("%q, %v", out.Markdown, out.Doubts)
	}
}
