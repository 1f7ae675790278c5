package allowance

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
)

// TestAdmit: what read_chunks returns keeps max_total_mb too, and a picture without room is replaced by its text.
func TestAdmit(t *testing.T) {
	t.Parallel()
	a := &Allowance{Result: 9, Step: 9, Bytes: 100, Weigh: func(i content.Image) int64 { return i.Size }}
	got := a.Admit([]content.Block{content.Image{Name: "a.png", Size: 60}, content.Image{Name: "b.png", Size: 60, Fallback: "TOTAL 12.50"}, content.Image{Name: "a.png", Size: 60}})
	a.Take(got)
	if got[0].Type() != content.TypeImage || !strings.Contains(got[1].Text(), "TOTAL 12.50\n[no picture of b.png: max_total_mb reached]") || !strings.Contains(got[2].Text(), "before") {
		t.Errorf("got %v", got)
	}
	if room, bounded := a.Room(); room != 40 || !bounded || a.Given() != 1 || len(a.Added()) != 1 {
		t.Errorf("%d bytes left, %d given", room, a.Given())
	}
}
