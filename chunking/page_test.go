package chunking_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
)

func TestPage(t *testing.T) {
	t.Parallel()
	rect := func(n ...float64) *[4]float64 { return (*[4]float64)(n) }
	for _, c := range []struct {
		fragment string
		page     int
		rect     *[4]float64
	}{
		{"page=3", 3, nil},
		{"PAGE= 3 ", 3, nil},
		{"page=3#height=400", 3, nil},
		{"height=400", 0, nil},
		{"", 0, nil},
		{"Heading", 0, nil},
		{"page=3&selection=4,0,5,12", 3, nil},
		{"page=8&rect=1,2,3,4", 8, rect(1, 2, 3, 4)},
		{"rect=1,2,3,4&page=8", 8, rect(1, 2, 3, 4)},
		{"page=8#rect= 10.5, 20 ,300,400.25", 8, rect(10.5, 20, 300, 400.25)},
		{"page=8&rect=300,400,10,20", 8, rect(10, 20, 300, 400)},
		{"page=8&rect=-5,-6,3,4", 8, rect(-5, -6, 3, 4)},
		{"rect=1,2,3,4", 1, rect(1, 2, 3, 4)},
		{"page=8&rect=1,2,3,4&color=red", 8, rect(1, 2, 3, 4)},
		{"page=2&page=9", 2, nil},
		{"page=1000000", 1000000, nil},
	} {
		page, got, ok := chunking.Page(c.fragment)
		if diff := cmp.Diff(c.rect, got); !ok || page != c.page || diff != "" {
			t.Errorf("%q: got %d, %v, want %d %s", c.fragment, page, ok, c.page, diff)
		}
	}
	for _, fragment := range []string{
		"page=0", "page=-1", "page=", "page=x", "page=3.5", "page=1000001", "page=99999999999999999999",
		"page=8&rect=", "page=8&rect=1,2,3", "page=8&rect=1,2,3,4,5", "page=8&rect=a,b,c,d", "page=8&rect=NaN,2,3,4",
		"page=8&rect=0,0,Inf,4", "page=8&rect=1e300,2,3,4", "page=8&rect=1,2,1,4", "page=8&rect=1,2,3,2.5",
	} {
		if page, rect, ok := chunking.Page(fragment); ok || page != 0 || rect != nil {
			t.Errorf("%q: got %d, %v, %v, want nothing", fragment, page, rect, ok)
		}
	}
}
