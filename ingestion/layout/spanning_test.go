package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// The text of a cell over several rows is in the first of them, wherever it is printed. A value that happens to be alone stays in its row.
func TestText_putsSpanningCellsIntoTheirFirstRow(t *testing.T) {
	t.Parallel()
	for name, spanning := range map[string]bool{"over three rows": true, "in one row": false} {
		page := layout.Page{Width: 600, Height: 800}
		for c, name := range []string{"Series", "Model", "Net", "Gross", "Note"} {
			page.Lines = append(page.Lines, at(60+100*float64(c), 80, 10, name))
		}
		page.Rules = append(page.Rules, layout.Box{X0: 55, Y0: 95, X1: 520, Y1: 95.5})
		for r := range 6 {
			y := 100 + 20*float64(r)
			if r%3 == 1 {
				page.Lines = append(page.Lines, at(60, y, 10, "Group "+string(rune('A'+r/3))), at(460, y, 10, "in stock"))
			}
			for c, text := range []string{fmt.Sprintf("Model %d", r), fmt.Sprintf("%d.00", 100+r), fmt.Sprintf("%d.50", 200+r)} {
				page.Lines = append(page.Lines, at(160+100*float64(c), y, 10, text))
			}
			rule := layout.Box{X0: 155, Y0: y + 15, X1: 420, Y1: y + 15.5}
			if !spanning || r%3 == 2 {
				rule.X0, rule.X1 = 55, 520
			}
			page.Rules = append(page.Rules, rule)
		}
		_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
		for row, group := range map[int]string{0: "A", 3: "B"} {
			if !spanning {
				row++
			}
			if want := fmt.Sprintf("| Group %s | Model %d | %d.00 | %d.50 | in stock |", group, row, 100+row, 200+row); !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", name, want, got)
			}
		}
	}
}
