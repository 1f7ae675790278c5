package layout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// A page that is made to be slow is read: what grows with a higher power of its lines would take hours, and the test runs into the
// time limit of all tests.
func TestText_boundsHostilePages(t *testing.T) {
	t.Parallel()
	const n = 6_000
	for name, place := range map[string]func(i int) (x, y float64){
		"one row":     func(i int) (x, y float64) { return float64(i % 600), 100 },
		"two columns": func(i int) (x, y float64) { return 60 + 300*float64(i%2), float64(i) * 0.06 },
		"stairs":      func(i int) (x, y float64) { return float64(i*7%560) + 0.01*float64(i), float64(i) * 0.07 },
		"far apart":   func(i int) (x, y float64) { return 60 + 300*float64(i%2), float64(i/2) * 40 },
	} {
		var lines []layout.Line
		for i := range n {
			x, y := place(i)
			lines = append(lines, at(x, y, 2+float64(i%3), fmt.Sprintf("words of line %d here", i)))
		}
		begun := time.Now()
		text(lines...)
		t.Log(name, time.Since(begun))
	}
}
