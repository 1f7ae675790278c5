package export

import "testing"

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
