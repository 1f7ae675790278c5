package layout_test

import (
	"fmt"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// The text that recognition put below a scan is set in a font of its own, which is wider here and there than the letters of the picture.
func TestText_readsColumnsWhoseLinesReachIntoOneAnother(t *testing.T) {
	t.Parallel()
	for columns := 2; columns <= 3; columns++ {
		for _, shift := range []float64{0, 3} { // how much lower the lines of the next column are
			t.Run(fmt.Sprint(columns, shift), func(t *testing.T) {
				t.Parallel()
				var lines []layout.Line
				var want []string
				for c := range columns {
					set := column(60+170*float64(c), 80+shift*float64(c), 24, string(rune('a'+c)))
					for i := range set {
						set[i].Box.X1 = set[i].Box.X0 + []float64{150, 163, 158, 181, 155, 169}[i%6]
					}
					lines, want = append(lines, set...), append(want, set[0].Text[:3], set[12].Text[:3], set[23].Text[:3])
				}
				got := text(lines...)
				inTurn(t, got, want...)
				inTurn(t, text(byRow(lines)...), want[0], want[2], want[3], want[5])
			})
		}
	}
}
