package main

import (
	"math"
	"testing"
)

func close2(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestScoreMarkdown(t *testing.T) {
	truth := "# Report\n\nabcd\n\n<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>\n"
	for _, c := range []struct {
		name, got string
		teds, mhs float64
	}{
		{"the same as Markdown", "## Report\n\nabcd\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n", 1, 1},
		// of 7 nodes (table, 2 rows, 4 cells) one cell differs in all letters
		{"one cell wrong", "# Report\n\nabcd\n\n| a | b |\n| --- | --- |\n| 1 | 9 |\n", 1 - 1.0/7, -2},
		// an empty head row is no row
		{"an empty head", "# Report\n\nabcd\n\n|  |  |\n| --- | --- |\n| a | b |\n| 1 | 2 |\n", 1, 1},
		// a row and its two cells are missing: 3 of 7 nodes
		{"one row missing", "# Report\n\nabcd\n\n| a | b |\n| --- | --- |\n", 1 - 3.0/7, -2},
		{"no heading and no table", "Report abcd", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scoreMarkdown(truth, c.got)
			if !close2(s.teds, c.teds) || c.mhs != -2 && !close2(s.mhs, c.mhs) {
				t.Errorf("TEDS %v, want %v; MHS %v, want %v", s.teds, c.teds, s.mhs, c.mhs)
			}
		})
	}
	if s := scoreMarkdown("plain", "plain"); s.teds != undefined || s.mhs != undefined || s.nid != 1 || s.overall() != 1 {
		t.Errorf("without tables and headings only NID is defined: %+v", s)
	}
	// headings of one level: document, heading, content; the content is another, half of its letters differ
	if s := scoreMarkdown("# A\n\nabcd", "### A\n\nabxy"); !close2(s.mhs, 1-.5/3) {
		t.Errorf("MHS %v", s.mhs)
	}
	if s := scoreMarkdown("abcd", "abxy"); !close2(s.nid, .5) {
		t.Errorf("NID %v, want 2·2/8", s.nid)
	}
}

func TestTreeEdits(t *testing.T) {
	// the example of Zhang and Shasha: f(d(a c(b)) e) and f(c(d(a b)) e) are two edits apart
	n := func(l string, c ...*tree[string]) *tree[string] { return &tree[string]{l, c} }
	a := n("f", n("d", n("a"), n("c", n("b"))), n("e"))
	b := n("f", n("c", n("d", n("a"), n("b"))), n("e"))
	change := func(a, b string) float64 {
		if a == b {
			return 0
		}
		return 1
	}
	if d := treeEdits(a, b, change); d != 2 {
		t.Errorf("distance %v, want 2", d)
	}
}

func TestSimilar(t *testing.T) {
	long := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(i*i%23)
		}
		return string(b)
	}
	if got := alike(long(200), long(200)+"#"); !close2(got, 400.0/401) {
		t.Errorf("alike over more than one word of bits: %v", got)
	}
	if got := common([]rune("XMJYAUZ"), []rune("MZJAWXU")); got != 4 {
		t.Errorf("longest common subsequence %d, want MJAU", got)
	}
	if got := edits([]rune("kitten"), []rune("sitting")); got != 3 {
		t.Errorf("edits %d, want 3", got)
	}
	if got := alikePart("abxd", "....abcd...."); !close2(got, .75) {
		t.Errorf("best part: %v, want 2·3/8", got)
	}
	if got := near([]rune("abcd"), []rune("__abd__abcd__"), 1); len(got) != 2 || got[0].start != 2 || got[1] != (span{7, 11, 0}) {
		t.Errorf("places: %v", got)
	}
}
