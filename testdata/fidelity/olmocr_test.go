package main

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	no, ten := false, 10
	table := "text\n\n| Model | Score | Rate |\n| --- | --: | --: |\n| GPT-4O | 0.38 | 12 |\n| Claude | 0.41 | 9 |\n"
	for _, c := range []struct {
		name string
		check
		text string
		want bool
	}{
		{"present over lines and marks", check{Type: "present", Text: "one two three"}, "a **one**\ntwo  *three*", true},
		{"present but for a letter", check{Type: "present", Text: "one two three"}, "one twe three", false},
		{"present within the differences", check{Type: "present", Text: "one two three", MaxDiffs: 1}, "so one tw three or so", true},
		{"another case", check{Type: "present", Text: "One", CaseSensitive: &no}, "none", true},
		{"quotes are one", check{Type: "present", Text: "it's"}, "it’s", true},
		{"absent", check{Type: "absent", Text: "page 3"}, "body text", true},
		{"absent, and there", check{Type: "absent", Text: "page 3"}, "body page 3 text", false},
		{"absent from the end", check{Type: "absent", Text: "page 3", LastN: 6}, "page 3 " + strings.Repeat("x", 20), true},
		{"ordered", check{Type: "order", Before: "first", After: "second"}, "first then second", true},
		{"in the other order", check{Type: "order", Before: "second", After: "first"}, "first then second", false},
		{"one is missing", check{Type: "order", Before: "first", After: "third"}, "first then second", false},
		{"neighbours of a cell", check{Type: "table", Cell: "0.38", Left: "GPT-4O", Right: "12", Up: "Score", Down: "0.41"}, table, true},
		{"a wrong neighbour", check{Type: "table", Cell: "0.38", Left: "Claude"}, table, false},
		{"headings of a cell", check{Type: "table", Cell: "9", TopHeading: "Rate", LeftHeading: "Claude"}, table, true},
		{"a wrong heading", check{Type: "table", Cell: "9", TopHeading: "Score"}, table, false},
		{"the same LaTeX", check{Type: "math", Math: `a^{2} + b`}, `so $a^{2}+b$ holds`, true},
		{"other LaTeX", check{Type: "math", Math: `a^2 + b`}, `so $a^3$ holds`, false},
		{"a page without text", check{Type: "baseline"}, " \n", false},
		{"a blank page that is blank", check{Type: "baseline", MaxLength: &ten}, "", true},
		{"repetition at the end", check{Type: "baseline"}, "text " + strings.Repeat("ab", 40), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.passes(c.text); got != c.want {
				t.Errorf("passes: %v", got)
			}
		})
	}
}

func TestDigest_pointer(t *testing.T) {
	oid := strings.Repeat("0", 63) + "1"
	sum, absent := digest([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 9\n"))
	if !absent || halfOf(sum) != seen {
		t.Error("a pointer of Git LFS has the digest of its file")
	}
}
