package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

func TestWords(t *testing.T) {
	got := words(plainText("# A Head\n\nSome *exam-\nple* of **well-known** ﬁles, p. 12.\n\n| a | b |\n| --- | --- |\n| 漢字 | x&amp;y |\n\nso $x_{i}^2$ is\n\n```\ncode line\n```\n\n![[pic.png]]\n"))
	want := []string{"a", "head", "some", "example", "of", "wellknown", "files", "p", "12", "a", "b", "漢", "字", "x", "y", "so", "xi2", "is", "code", "line"}
	if !slices.Equal(got, want) {
		t.Errorf("words %q", got)
	}
}

func TestSameOrder(t *testing.T) {
	left, right := strings.Fields("a b c d e f g h i j"), strings.Fields("k l m n o p q r s t")
	columns := slices.Concat(left, right)
	var lines []string
	for i := range left {
		lines = append(lines, left[i], right[i])
	}
	if inOrder, complete := sameOrder(columns, columns); inOrder != 1 || complete != 1 {
		t.Errorf("the same words: %v %v", inOrder, complete)
	}
	// over the lines of two columns: of 20 words, a left half and one of the right stay in order
	if inOrder, complete := sameOrder(lines, columns); inOrder != 11.0/20 || complete != 1 {
		t.Errorf("columns read across: %v %v", inOrder, complete)
	}
	if inOrder, complete := sameOrder(left, columns); inOrder != 1 || complete != .5 {
		t.Errorf("a column is missing: %v %v", inOrder, complete)
	}
	if inOrder, _ := sameOrder(slices.Concat(right, left), columns); inOrder != .5 {
		t.Errorf("the right column first: %v", inOrder)
	}
}

func TestRunningHeads(t *testing.T) {
	page := func(n, body string) string { return "Annual Report " + n + "\n\n" + strings.Repeat(body+"\n", 8) }
	pages := []string{page("7", "alpha beta"), page("8", "gamma delta")}
	heads := runningHeads(pages, 1)
	if len(heads) != 1 || !slices.Equal(heads[0], []string{"annual", "report", "7"}) {
		t.Fatalf("heads %q", heads)
	}
	if got := without(words(pages[0]), heads); len(got) != 16 || got[0] != "alpha" {
		t.Errorf("without its head: %q", got)
	}
}

func TestAgree(t *testing.T) {
	a := strings.Fields(strings.Repeat("x y z ", 20) + "end")
	if !agree(a, a) || agree(a, a[:50]) {
		t.Error("agreement needs the words of both and 60 of them")
	}
}

func TestSuspectPages(t *testing.T) {
	right, wrong := "a b c d e f g h i j", "f g h i j a b c d e"
	read := [2][]string{words(right), words(right)}
	var pages []orderPage
	for n := range 4 {
		pages = append(pages, orderPage{document{sha256: "x"}, n + 1, read})
	}
	doubtful := manifest.Page{N: 2, Doubts: []doubt.Doubt{{Code: doubt.Order}}}
	got := map[string]imported{"x": {[]string{right, wrong, wrong, "a b c"}, manifest.Manifest{Pages: []manifest.Page{{N: 1}, doubtful, {N: 3}, {N: 4}}}}}
	var found []suspect
	for _, s := range suspectPages(pages, got) {
		found = append(found, suspect{orderPage{page: s.page}, s.inOrder, s.complete, s.doubtful})
	}
	want := []suspect{{orderPage{page: 2}, .5, 1, true}, {orderPage{page: 3}, .5, 1, false}, {orderPage{page: 4}, 1, .3, false}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("suspect: %+v", found)
	}
}

// A reader that writes the letters of a form apart has the same words as one that joins them; letters that no word of the other is stay apart.
func TestSameOrder_lettersApart(t *testing.T) {
	t.Parallel()
	apart, whole := words("Name R O E a b c Account 8 6 0 1 R O E"), words("Name ROE a b c Account 8601 ROE")
	for _, c := range [][2][]string{{apart, whole}, {whole, apart}} {
		if inOrder, complete := sameOrder(c[0], c[1]); inOrder != 1 || complete != 1 {
			t.Errorf("%v and %v: %v in order, %v complete", c[0], c[1], inOrder, complete)
		}
	}
	if got := spelled(words("x y z"), whole); len(got) != 3 {
		t.Errorf("got %v", got)
	}
}
