package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	got := words(plainText("# A Head\n\nSome *exam-\nple* of **well-known** ﬁles, p. 12.\n\n| a | b |\n| --- | --- |\n| 漢字 | x&amp;y |\n\n```\ncode line\n```\n\n![[pic.png]]\n"))
	want := []string{"a", "head", "some", "example", "of", "wellknown", "files", "p", "12", "a", "b", "漢", "字", "x", "y", "code", "line"}
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
