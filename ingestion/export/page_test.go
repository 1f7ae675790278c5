package export

import (
	"slices"
	"strings"
	"testing"
)

func TestSavedPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		page  int
	}{
		{[]string{"Trip_files/a.png", "Trip_files/sub/frame.html", "Trip.html"}, 2},
		{[]string{"in/Reise.htm", "in/Reise-Dateien/a.png"}, 0},
		{[]string{"1234/index.rdf", "1234/index.html", "1234/index_files/a.css"}, 1},
		{[]string{"Trip.html", "Trip_files/a.png", "letter.pdf"}, -1},
		{[]string{"Trip.html", "Other_files/a.png"}, -1},
		{[]string{"Trip.html"}, -1},
		{[]string{"a.html", "b.html", "a_files/x.png"}, -1},
		{nil, -1},
	} {
		page, ok := SavedPage(c.names)
		if ok != (c.page >= 0) || ok && page != c.page {
			t.Errorf("%q: %d, %v", c.names, page, ok)
		}
	}
}

// A page tells which of its files are still to come.
func TestNamed(t *testing.T) {
	t.Parallel()
	page := `<img src="./Trip_files/the%20lake.png" srcset="Trip_files/a.png 1x, ./Trip_files/b.png 2x"><link href='Trip_files/x&amp;y.css'><style>p { background: url(Trip_files/p.png) }</style>
<img src="Trip_files/the%20lake.png"><img src="https://example.org/Trip_files/z.png"><img src="Other_files/c.png"><a href="../Trip_files/d.png"><img src="data:image/png;base64,` + strings.Repeat("A", 2*maxRef) + `" data-full="Trip_files/e.png">`
	want := []string{"in/Trip_files/the lake.png", "in/Trip_files/a.png", "in/Trip_files/b.png", "in/Trip_files/x&y.css", "in/Trip_files/p.png", "in/Trip_files/e.png"}
	if got := Named("in/Trip.html", []byte(page)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
