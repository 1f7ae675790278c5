package layout

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// ordinal is the number before an item of a list.
var ordinal = regexp.MustCompile(`^(\d{1,3})[.)]\s+`)

// ordinalOf returns the number that a line begins with, and the length of it with its punctuation; -1 if there is none.
func ordinalOf(text string) (n, length int) {
	m := ordinal.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, 0
	}
	n, _ = strconv.Atoi(text[m[2]:m[3]]) // three digits
	return n, m[1]
}

// reach is how many numbered lines ahead the next item of a list may be; it limits the work on hostile pages.
const reach = 500

// counted is a line that begins with a number.
type counted struct {
	at, n      int
	left, size float64
}

// lettered is the small letter before an item of a list, as in "a." or "(b)".
var lettered = regexp.MustCompile(`^\(?([a-z])[.)]\s+\S`)

// letterOf returns the letter that a line begins with as a number, or -1.
func letterOf(text string) int {
	if m := lettered.FindStringSubmatch(text); m != nil {
		return int(m[1][0] - 'a')
	}
	return -1
}

// clause is the number of a section or an article before a paragraph, as in "2.3 Fees" or "§ 4 Fees".
var clause = regexp.MustCompile(`^(?:§ ?|Art\. ?|Arti(?:cle|kel) )?(\d{1,3}(?:\.\d{1,2}){0,3})[.)]?\s+\S`)

// clauseOf returns the number of a section or an article that a line begins with as one number, or -1. Numbers of sections have several parts; the others
// have a word or a sign before them.
func clauseOf(text string) int {
	m := clause.FindStringSubmatch(text)
	if m == nil || m[1][0] == text[0] && !strings.Contains(m[1], ".") {
		return -1
	}
	n := 0
	for part := range strings.SplitSeq(m[1], ".") {
		i, _ := strconv.Atoi(part) // three digits
		n = n*1000 + i
	}
	return n
}

// note is the number before a note, as in "1 See above" or "[1] See above".
var note = regexp.MustCompile(`^(?:(\d{1,3})|\[(\d{1,3})\])\s+\S`)

// noteOf returns the number that a line begins with as a note does, or -1.
func noteOf(text string) int {
	m := note.FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1] + m[2]) // three digits
	return n
}

// numberOf returns the number that a line begins with, or -1.
func numberOf(text string) int {
	n, _ := ordinalOf(text)
	return n
}

// numbered finds the lines that begin items of numbered lists. A number alone is no item, since lines of prose begin with
// dates and amounts: another line at the same margin has to count on.
func numbered(all []Line, number func(text string) int) map[int]bool {
	var lines []counted
	for i, line := range all {
		if n := number(line.Text); n >= 0 {
			lines = append(lines, counted{i, n, line.Box.X0, line.Size})
		}
	}
	items := map[int]bool{}
	for i, first := range lines {
		if items[first.at] {
			continue
		}
		last := first
		for _, line := range lines[i+1 : min(len(lines), i+reach)] {
			if line.n == last.n+1 && math.Abs(line.left-first.left) <= first.size*0.7 { // numbers may be set flush right
				items[first.at], items[line.at], last = true, true, line
			}
		}
	}
	return items
}
