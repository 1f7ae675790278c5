package parts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/step/parts"
)

// book returns pages with these identities.
func book(ids ...string) []parts.Page {
	pages := make([]parts.Page, len(ids))
	for i, id := range ids {
		pages[i] = parts.Page{N: i + 1, ID: id}
	}
	return pages
}

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d", i+1)
	}
	return ids
}

func shown(list []parts.Part) string {
	var all []string
	for _, p := range list {
		all = append(all, p.Name+": "+p.Label())
	}
	return strings.Join(all, "; ")
}

// changed returns the names of the parts that have to be done again.
func changed(old, now []parts.Part) []string {
	done := map[string]string{}
	for _, p := range old {
		done[p.Name] = p.Digest()
	}
	var list []string
	for _, p := range now {
		if done[p.Name] != p.Digest() {
			list = append(list, p.Name)
		}
	}
	return list
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pages, size, overlap int
		want                 string
	}{
		{45, 20, 0, "part 01: pages 1–20; part 02: pages 21–40; part 03: pages 41–45"},
		{45, 20, 1, "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–45"},
		{20, 20, 1, "part 01: pages 1–20"},
		{21, 20, 1, "part 01: pages 1–20; part 02: pages 20–21"},
		{3, 1, 0, "part 01: page 1; part 02: page 2; part 03: page 3"},
		{0, 20, 1, ""},
	} {
		if got := shown(parts.Windows(book(numbered(c.pages)...), nil, c.size, c.overlap)); got != c.want {
			t.Errorf("%d pages in windows of %d with an overlap of %d:\n got %s\nwant %s", c.pages, c.size, c.overlap, got, c.want)
		}
	}
}

func TestWindows_keepTheirPages(t *testing.T) {
	t.Parallel()
	first := parts.Windows(book(numbered(45)...), nil, 20, 1)
	more := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("new%d", i))
		}
		return ids
	}
	for _, c := range []struct {
		name  string
		pages []string
		want  string
		again string
	}{
		{"nothing", numbered(45), "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–45", ""},
		{"one inserted", slices.Insert(numbered(45), 25, "new"), "part 01: pages 1–20; part 02: pages 20–40; part 03: pages 40–46", "part 02"},
		{"one inserted at a boundary", slices.Insert(numbered(45), 20, "new"), "part 01: pages 1–21; part 02: pages 21–40; part 03: pages 40–46", "part 01, part 02"},
		{"one inserted at the front", slices.Insert(numbered(45), 0, "new"), "part 01: pages 1–21; part 02: pages 21–40; part 03: pages 40–46", "part 01"},
		{"one changed", slices.Replace(numbered(45), 24, 25, "new"), "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–45", "part 02"},
		{"a shared one changed", slices.Replace(numbered(45), 19, 20, "new"), "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–45", "part 01, part 02"},
		{"one removed", slices.Delete(numbered(45), 24, 25), "part 01: pages 1–20; part 02: pages 20–38; part 03: pages 38–44", "part 02"},
		{"a window removed", slices.Delete(numbered(45), 20, 39), "part 01: pages 1–20; part 03: pages 20–26", "part 03"},
		{"one more at the end", append(numbered(45), "new"), "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–46", "part 03"},
		{"many more at the end", append(numbered(45), more(20)...), "part 01: pages 1–20; part 02: pages 20–39; part 03: pages 39–58; part 04: pages 58–65", "part 03, part 04"},
		{
			"many inserted", slices.Insert(numbered(45), 25, more(12)...),
			"part 01: pages 1–20; part 02: pages 20–35; part 02b: pages 35–51; part 03: pages 51–57", "part 02, part 02b",
		},
		{"another document", more(21), "part 01: pages 1–20; part 02: pages 20–21", "part 01, part 02"},
	} {
		now := parts.Windows(book(c.pages...), first, 20, 1)
		if got := shown(now); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if got := strings.Join(changed(first, now), ", "); got != c.again {
			t.Errorf("%s: asked again are %q, want %q", c.name, got, c.again)
		}
	}
}

func TestWindows_anotherSizeDividesAnew(t *testing.T) {
	t.Parallel()
	first := parts.Windows(book(numbered(45)...), nil, 20, 1)
	now := parts.Windows(book(numbered(45)...), first, 30, 0)
	if got := shown(now); got != "part 01: pages 1–30; part 02: pages 31–45" {
		t.Error(got)
	}
}

func TestWindows_identitiesOfOlderVersions(t *testing.T) {
	t.Parallel()
	first := parts.Windows(book(numbered(45)...), nil, 20, 1)
	pages := book(numbered(45)...)
	for i := range pages {
		pages[i].ID, pages[i].Former = "raster of "+pages[i].ID, pages[i].ID
	}
	known := parts.Known(first, pages)
	if again := changed(known, parts.Windows(pages, known, 20, 1)); len(again) > 0 {
		t.Errorf("asked again are %q", again)
	}
}

// Whatever happens to a document: each page is in one window of its own, in order; names are unique; a window is at most one and a
// half times its size; and one page changes at most two windows, one more page three.
func TestWindows_property(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		size := 1 + r.IntN(24)
		overlap := r.IntN(size/2 + 1)
		if size == 1 {
			overlap = 0
		}
		ids := numbered(r.IntN(200))
		for i := range ids {
			if r.IntN(8) == 0 {
				ids[i] = "blank"
			}
		}
		var now []parts.Part
		for step := range 12 {
			before := now
			most := len(ids) + 60 // everything may change
			switch edit := r.IntN(4); {
			case step == 0 || len(ids) == 0:
				ids = append(ids, fmt.Sprintf("a%d", step))
			case edit == 0:
				ids[r.IntN(len(ids))], most = fmt.Sprintf("c%d", step), 2
			case edit == 1:
				ids, most = slices.Insert(ids, r.IntN(len(ids)+1), fmt.Sprintf("i%d", step)), 3
			case edit == 2:
				at := r.IntN(len(ids))
				ids, most = slices.Delete(ids, at, at+1), 3
			default:
				at := r.IntN(len(ids) + 1)
				ids = slices.Insert(slices.Clone(ids), at, numbered(r.IntN(60))...)
			}
			now = parts.Windows(book(ids...), before, size, overlap)
			check(t, now, ids, size, overlap)
			if again := changed(before, now); 4*overlap <= size && len(again) > most {
				t.Fatalf("windows of %d with an overlap of %d, step %d: asked again are %q\n%s\n%s", size, overlap, step, again, shown(before), shown(now))
			}
		}
	}
}

func check(t *testing.T, now []parts.Part, ids []string, size, overlap int) {
	t.Helper()
	var all []string
	names := map[string]bool{}
	for i, p := range now {
		for _, page := range p.Own() {
			all = append(all, page.ID)
			if page.N != len(all) {
				t.Fatalf("%s has page %d at place %d", p.Name, page.N, len(all))
			}
		}
		if names[p.Name] {
			t.Fatalf("two windows are called %s: %s", p.Name, shown(now))
		}
		names[p.Name] = true
		if len(p.Own()) == 0 || 2*len(p.Pages) > 3*size {
			t.Fatalf("%s has %d pages, its size is %d: %s", p.Name, len(p.Pages), size, shown(now))
		}
		if i > 0 && p.Lead != min(overlap, p.Own()[0].N-1) {
			t.Fatalf("%s repeats %d pages, want %d", p.Name, p.Lead, overlap)
		}
	}
	if !slices.Equal(all, ids) {
		t.Fatalf("the windows have the pages %q, want %q", all, ids)
	}
}

func TestByHeadings(t *testing.T) {
	t.Parallel()
	headings := []parts.Heading{{Title: "1 Vectors", Page: 3}, {Title: "2. Matrices", Page: 10}, {Title: "Eigenvalues: what/they are", Page: 20}, {Title: "on the same page", Page: 20}}
	first := parts.ByHeadings(parts.Chapters, book(numbered(30)...), headings, nil)
	want := "00 Front matter: pages 1–2; 01 Vectors: pages 3–9; 02 Matrices: pages 10–19; 03 Eigenvalues what they are: pages 20–30"
	if got := shown(first); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}

	more := []parts.Heading{{Title: "1 Vectors", Page: 3}, {Title: "New", Page: 6}, {Title: "2. Matrices", Page: 11}, {Title: "Eigenvalues: what/they are", Page: 21}, {Title: "Index", Page: 30}}
	now := parts.ByHeadings(parts.Chapters, book(slices.Insert(numbered(30), 5, "new")...), more, first)
	want = "00 Front matter: pages 1–2; 01 Vectors: pages 3–5; 01b New: pages 6–10; 02 Matrices: pages 11–20; 03 Eigenvalues what they are: pages 21–29; 04 Index: pages 30–31"
	if got := shown(now); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := strings.Join(changed(first, now), ", "); got != "01 Vectors, 01b New, 03 Eigenvalues what they are, 04 Index" {
		t.Errorf("asked again are %s", got)
	}

	renamed := slices.Clone(headings)
	renamed[1].Title = "2. Matrices and maps"
	if got := changed(first, parts.ByHeadings(parts.Chapters, book(numbered(30)...), renamed, first)); len(got) > 0 {
		t.Errorf("a new title alone asks again: %q", got)
	}
	if got := shown(parts.ByHeadings(parts.Chapters, book(numbered(3)...), nil, nil)); got != "00 Front matter: pages 1–3" {
		t.Error(got)
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	first := parts.Windows(book(numbered(45)...), nil, 20, 0)
	now := parts.Windows(book(slices.Insert(numbered(45), 3, "new")...), first, 20, 0)
	if !parts.Moved(first[1], now[1]) {
		t.Error("a page before the part moves it")
	}
	if parts.Moved(first[1], first[1]) {
		t.Error("nothing moved")
	}
	labelled := first[1]
	labelled.Pages = slices.Clone(labelled.Pages)
	labelled.Pages[3].Label = "iv"
	if !parts.Moved(first[1], labelled) {
		t.Error("a page has another label")
	}
}
