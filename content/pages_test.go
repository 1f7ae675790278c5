package content

import (
	"slices"
	"testing"
)

func TestPageNumbers(t *testing.T) {
	t.Parallel()
	for words, c := range map[string]struct {
		of   int
		want []int
		bad  bool
	}{
		"":         {},
		"1-3,7":    {of: 9, want: []int{1, 2, 3, 7}},
		"7, 1-3":   {of: 9, want: []int{1, 2, 3, 7}}, // a file that holds some pages has them in the document's order
		"2-4,3,4":  {want: []int{2, 3, 4}},
		"9-10":     {of: 9, bad: true},
		"0-2":      {bad: true},
		"4-2":      {bad: true},
		"one":      {bad: true},
		"1-":       {bad: true},
		"1-999999": {bad: true},
	} {
		got, err := Document{PageRange: words, Pages: c.of}.PageNumbers()
		if !slices.Equal(got, c.want) || (err != nil) != c.bad {
			t.Errorf("%q of %d: %v, %v; want %v", words, c.of, got, err, c.want)
		}
	}
	if all, err := (Document{Pages: 3}).PageNumbers(); !slices.Equal(all, []int{1, 2, 3}) || err != nil {
		t.Errorf("a whole document: %v, %v", all, err)
	}
}

func TestPageRange(t *testing.T) {
	t.Parallel()
	for want, pages := range map[string][]int{"": nil, "5": {5}, "1-4,7": {1, 2, 3, 4, 7}, "7,1-2": {7, 1, 2}} {
		if got := PageRange(pages); got != want {
			t.Errorf("%v: %q, want %q", pages, got, want)
		}
	}
}

func TestPageList(t *testing.T) {
	t.Parallel()
	for want, pages := range map[string][]int{"page 4": {4}, "pages 1–3, 7": {1, 2, 3, 7}, "pages 2, 4–5": {2, 4, 5}} {
		if got := PageList(pages); got != want {
			t.Errorf("%v: got %q, want %q", pages, got, want)
		}
	}
}
