package main

import "testing"

func TestErrorRate(t *testing.T) {
	for _, c := range []struct {
		want, got string
		rate      float64
	}{
		{"one two\nthree", "**one** two three", 0},
		{"it's – so", "it’s - so", 0},
		{"abcdefghij", "abcdefghix", .1},
		{"abcdefghij", "", 1},
		{"ab", "abcdefghij", 1},
	} {
		if got := errorRate(c.want, c.got); !close2(got, c.rate) {
			t.Errorf("%q for %q: %v, want %v", c.got, c.want, got, c.rate)
		}
	}
	if m := median([]float64{.3, .1, .2, .8}); !close2(m, .25) {
		t.Errorf("median %v", m)
	}
}
