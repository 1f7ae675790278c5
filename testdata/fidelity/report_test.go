package main

import (
	"slices"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	var r report
	r.add(seen, "icdar: rows right", ours, .8, 10)
	r.add(unseen, "icdar: rows right", ours, .7, 12)
	r.add(seen, "olmocr: all", ours, .5, 3)
	r.add(seen, "olmocr: all", "mutool", .5, 3)
	r.add(seen, "photos: share above .1, not doubtful", ours, .1, 3)
	var b strings.Builder
	r.markdown(&b, []half{seen, unseen})
	for _, line := range []string{
		"| icdar | n, seen | vaultflow | n, unseen | vaultflow |",
		"| rows right | 10 | 0.800 | 12 | 0.700 |",
		"| all | 3 | 0.500 | 0.500 | 0 |  |  |",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	want := []string{
		"icdar: rows right (unseen half): 0.700 is not between 0.75 and 1",
		"olmocr: all (seen half): 0.500 is not above the 0.500 of mutool",
		"photos: share above .1, not doubtful (seen half): 0.100 is not between 0 and 0",
	}
	if got := r.missed(); !slices.Equal(got, want) {
		t.Errorf("missed: %q", got)
	}
}
