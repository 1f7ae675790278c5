package layout_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// A receipt whose prices add up to none of its totals was misread somewhere. Reductions count, and taxes may come before the last total.
func TestReceiptText_addsUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows  [][2]string
		wrong bool
	}{
		"fits":            {[][2]string{{"Bread", "2.40"}, {"Milk", "1.10"}, {"Coupon", "-0.50"}, {"TOTAL EUR", "3.00"}, {"CASH", "5.00"}}, false},
		"a digit":         {[][2]string{{"Bread", "2.40"}, {"Milk", "1.40"}, {"Coupon", "-0.50"}, {"TOTAL EUR", "3.00"}, {"CASH", "5.00"}}, true},
		"a lost price":    {[][2]string{{"Brot", "2,40"}, {"Milch", "@,10"}, {"Pfand", "0,25 B"}, {"Summe", "3,75"}, {"BAR", "5,00"}}, true},
		"a lost total":    {[][2]string{{"Bread", "2.40"}, {"Milk", "1.10"}, {"Salt", "0.50"}, {"TOTAL", "4.Q0"}, {"CASH", "5.00"}}, true},
		"taxes":           {[][2]string{{"Bread", "2.40"}, {"Milk", "1.10"}, {"Subtotal", "3.50"}, {"Tax", "0.35"}, {"Total", "3.85"}}, false},
		"without a total": {[][2]string{{"Bread", "2.40"}, {"Milk", "1.10"}, {"Salt", "0.50"}}, false},
	} {
		var lines []layout.Line
		for i, row := range c.rows {
			y := 20 * float64(i)
			lines = append(lines, layout.Line{Text: row[0], Size: 10, Box: layout.Box{X0: 10, Y0: y, X1: 90, Y1: y + 10}}, layout.Line{Text: row[1], Size: 10, Box: layout.Box{X0: 170, Y0: y, X1: 200, Y1: y + 10}})
		}
		if _, wrong, ok := layout.ReceiptText(lines); !ok || wrong != c.wrong {
			t.Errorf("%s: a receipt %v, wrong %v", name, ok, wrong)
		}
	}
}
