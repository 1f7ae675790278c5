// Package bidi brings the letters of a line, as they are drawn from left to right, into the order in which they are written and read: the
// reverse of the Unicode bidi algorithm (UAX #9).
package bidi

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/bidi"
)

// closing has the brackets that form pairs.
var closing = map[string]string{"(": ")", "[": "]", "{": "}"}

// mirrors has the signs that look the other way round in text that runs from right to left.
var mirrors = strings.NewReplacer("(", ")", ")", "(", "[", "]", "]", "[", "{", "}", "}", "{", "<", ">", ">", "<", "«", "»", "»", "«", "‹", "›", "›", "‹", "≤", "≥", "≥", "≤")

// Line is the letters of a line from left to right. Each is a string: a letter with its marks, or a ligature in the order in which it is read.
type Line struct {
	Visual []string
	RTL    bool // the paragraph runs from right to left
	Turned bool // Visual has brackets of text from right to left as they are written, not as they look
}

// Logical returns the text of a line as it is written. It is sure if the bidi algorithm draws this text in the line's order; what came
// before the line may have an effect on it.
func (l Line) Logical() (text string, sure bool) {
	shown := letters{l.Visual, classesOf(l.Visual)}
	if !slices.ContainsFunc(shown.classes, func(c bidi.Class) bool { return c == bidi.R || c == bidi.AL || c == bidi.AN }) {
		return strings.Join(l.Visual, ""), true
	}
	var first string
	for _, before := range []bidi.Class{bidi.R, bidi.AL} {
		if !l.RTL {
			before = bidi.L
		}
		order := shown.order(l.RTL, before)
		written, ok := l.written(shown, order, before)
		if ok {
			return written, true
		}
		if first == "" {
			first = written
		}
	}
	return first, false
}

// written returns letters in an order, and whether they are drawn as the line is.
func (l Line) written(shown letters, order []int, before bidi.Class) (string, bool) {
	var out letters
	level := shown.sides(order, l.RTL)
	for i, n := range order {
		s := l.Visual[n]
		if level[i] && !l.Turned {
			s = mirrors.Replace(s)
		}
		out.text, out.classes = append(out.text, s), append(out.classes, shown.classes[n])
	}
	for i, n := range drawn(out.levels(l.RTL, before)) {
		if l.Visual[order[n]] != l.Visual[i] {
			return strings.Join(out.text, ""), false
		}
	}
	return strings.Join(out.text, ""), true
}

// sides reports for each letter of an order whether it is one of text from right to left: the letter before it in the order is behind it
// on the line, or the one after it is before it.
func (l letters) sides(order []int, rtl bool) []bool {
	out := make([]bool, len(order))
	for i, n := range order {
		switch {
		case i > 0 && order[i-1] == n-1 || i+1 < len(order) && order[i+1] == n+1:
		case i > 0 && order[i-1] == n+1 || i+1 < len(order) && order[i+1] == n-1:
			out[i] = true
		default:
			out[i] = rtl
		}
	}
	return out
}

// order returns the numbers of the letters in the order in which they are read.
func (l letters) order(rtl bool, before bidi.Class) (out []int) {
	if rtl {
		return l.leftwards(0, len(l.text), before)
	}
	for i := 0; i < len(l.text); i++ {
		end := i
		for n := i; n < len(l.text) && l.classes[n] != bidi.L; n++ {
			if l.runsLeft(n) {
				end = n + 1
			}
		}
		if !l.runsLeft(i) || end == i {
			out = append(out, i)
			continue
		}
		out = append(out, l.leftwards(i, l.enclosed(i, end), bidi.L)...)
		i = l.enclosed(i, end) - 1
	}
	return out
}

// enclosed returns the end of text with the bracket that closes one within it.
func (l letters) enclosed(from, end int) int {
	open := 0
	for i := from; i < end; i++ {
		switch {
		case closing[l.text[i]] != "":
			open++
		case closing[mirrors.Replace(l.text[i])] == l.text[i] && open > 0:
			open--
		}
	}
	if open == 1 && end < len(l.text) && closing[mirrors.Replace(l.text[end])] == l.text[end] {
		return end + 1
	}
	return end
}

func (l letters) runsLeft(i int) bool {
	return l.classes[i] == bidi.R || l.classes[i] == bidi.AL || l.classes[i] == bidi.AN
}

// leftwards returns the numbers of letters from one to another, which are read from the right. Words and numbers within are read from the
// left.
func (l letters) leftwards(from, to int, before bidi.Class) (out []int) {
	for i := to - 1; i >= from; {
		start := i
		switch c := l.classes[i]; {
		case c == bidi.R || c == bidi.AL:
			before = c
		default:
			if start = l.words(from, i); start <= i {
				before = bidi.L
			} else {
				start = min(l.number(from, i, before == bidi.AL), i)
			}
		}
		for n := start; n <= i; n++ {
			out = append(out, n)
		}
		i = start - 1
	}
	return out
}

// words returns where words begin that run from left to right and end with letter i, with the numbers beside them, or more than i if
// none do. A bracket ends them if it closes one within.
func (l letters) words(from, i int) int {
	begin, opens, bracket := i+1, -1, false
	switch c := l.classes[i]; {
	case c == bidi.L || c == bidi.EN:
	case slices.Contains([]string{")", "]", "}"}, l.text[i]):
		bracket = true
	default:
		return begin
	}
	for n := i; n >= from && !l.runsLeft(n); n-- {
		if bracket && opens < 0 && closing[l.text[n]] == l.text[i] {
			opens = n
		}
		if l.classes[n] == bidi.L {
			begin = n
		}
	}
	if begin > i || bracket && begin >= opens {
		return i + 1
	}
	number, n := begin, begin-1 // before the words, as in 2nd and 3 GB
	for ; n >= from && (l.classes[n] == bidi.EN || n > from && n < begin && l.classes[n-1] == bidi.EN && l.classes[n] != bidi.R && l.classes[n] != bidi.AL && l.text[n] != ","); n-- {
		number = n
	}
	return number
}

// number returns where a number begins that ends with letter i, or i. After Arabic letters, fewer signs belong to it.
func (l letters) number(from, i int, arabic bool) int {
	is := func(n int, classes ...bidi.Class) bool { return n >= from && slices.Contains(classes, l.classes[n]) }
	n := i
	for !arabic && is(n, bidi.ET) {
		n--
	}
	if !is(n, bidi.EN, bidi.AN) {
		return i
	}
	for {
		for is(n-1, l.classes[n]) {
			n--
		}
		if is(n-2, l.classes[n]) && (is(n-1, bidi.CS) || is(n-1, bidi.ES) && !arabic && l.classes[n] == bidi.EN) {
			n -= 2
			continue
		}
		break
	}
	for !arabic && l.classes[n] == bidi.EN && is(n-1, bidi.ET) {
		n--
	}
	if is(n-1, bidi.ES) && (n-2 < from || is(n-2, bidi.WS)) { // a sign, whose number somebody set from left to right
		n--
	}
	return n
}

// Turned reports whether the brackets of lines form more pairs if those of text from right to left stand as they are written.
func Turned(lines []Line) bool {
	var turned, upright strings.Builder
	for _, l := range lines {
		l.Turned = true
		text, _ := l.Logical()
		turned.WriteString(text)
		l.Turned = false
		text, _ = l.Logical()
		upright.WriteString(text)
	}
	return pairsIn(turned.String()) > pairsIn(upright.String())
}

func pairsIn(text string) (n int) {
	var l letters
	for _, r := range text {
		l.text = append(l.text, string(r))
	}
	l.classes = make([]bidi.Class, len(l.text))
	for i := range l.classes {
		l.classes[i] = bidi.ON
	}
	return len(l.pairs(l.classes))
}
