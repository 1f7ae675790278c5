package bidi

import (
	"slices"

	"golang.org/x/text/unicode/bidi"
)

// letters is a line of letters, each with its class in the Unicode bidi algorithm. A letter has its marks with it.
type letters struct {
	text    []string
	classes []bidi.Class
}

func classesOf(text []string) []bidi.Class {
	out := make([]bidi.Class, len(text))
	for i, s := range text {
		out[i] = bidi.ON
		for _, r := range s {
			properties, _ := bidi.LookupRune(r)
			out[i] = properties.Class()
			break
		}
	}
	return out
}

// levels returns the level of each letter, by the rules W1 to I2 of UAX #9. Marks are with their letters, and lines have no controls. Before the line is
// a letter of the class sos.
func (l letters) levels(rtl bool, sos bidi.Class) []int {
	base, side := 0, bidi.L
	if rtl {
		base, side = 1, bidi.R
	}
	classes := weak(l.classes, sos)
	if sos == bidi.AL {
		sos = bidi.R
	}
	l.brackets(classes, side, sos)
	for i := 0; i < len(classes); {
		end := i
		for end < len(classes) && neutral(classes[end]) {
			end++
		}
		if end == i {
			i++
			continue
		}
		before, after := sos, side
		if i > 0 {
			before = strong(classes[i-1])
		}
		if end < len(classes) {
			after = strong(classes[end])
		}
		to := side
		if before == after {
			to = before
		}
		for ; i < end; i++ {
			classes[i] = to
		}
	}
	out := make([]int, len(classes))
	for i, c := range classes {
		switch {
		case base == 0 && c == bidi.R, base == 1 && c != bidi.R:
			out[i] = base + 1
		case base == 0 && c != bidi.L:
			out[i] = 2
		default:
			out[i] = base
		}
	}
	return out
}

// weak applies the rules W2 to W7 to numbers and what belongs to them.
func weak(classes []bidi.Class, sos bidi.Class) []bidi.Class {
	out := slices.Clone(classes)
	last := sos
	for i, c := range out {
		switch c {
		case bidi.L, bidi.R, bidi.AL:
			last = c
		case bidi.EN:
			if last == bidi.AL {
				out[i] = bidi.AN
			}
		}
	}
	for i, c := range out {
		if c == bidi.AL {
			out[i] = bidi.R
		}
		if i == 0 || i+1 == len(out) || out[i-1] != out[i+1] {
			continue
		}
		if c == bidi.ES && out[i-1] == bidi.EN || c == bidi.CS && (out[i-1] == bidi.EN || out[i-1] == bidi.AN) {
			out[i] = out[i-1]
		}
	}
	for i := 0; i < len(out); i++ {
		end := i
		for end < len(out) && out[end] == bidi.ET {
			end++
		}
		if end > i && (i > 0 && out[i-1] == bidi.EN || end < len(out) && out[end] == bidi.EN) {
			for ; i < end; i++ {
				out[i] = bidi.EN
			}
		}
		i = max(i, end-1)
	}
	last = sos
	for i, c := range out {
		switch {
		case c == bidi.L || c == bidi.R:
			last = c
		case c == bidi.EN && last == bidi.L:
			out[i] = bidi.L
		}
	}
	return out
}

func neutral(c bidi.Class) bool {
	return c != bidi.L && c != bidi.R && c != bidi.EN && c != bidi.AN
}

// strong is the direction that neutral letters beside a number or letter take.
func strong(c bidi.Class) bidi.Class {
	if c == bidi.L {
		return bidi.L
	}
	return bidi.R
}

// brackets applies rule N0: both brackets of a pair have the direction of what is between them.
func (l letters) brackets(classes []bidi.Class, side, sos bidi.Class) {
	for _, pair := range l.pairs(classes) {
		same, other := false, false
		for _, c := range classes[pair[0]+1 : pair[1]] {
			if !neutral(c) {
				same, other = same || strong(c) == side, other || strong(c) != side
			}
		}
		to := side
		if !same && !other {
			continue
		}
		if !same {
			before := sos
			for i := pair[0] - 1; i >= 0; i-- {
				if !neutral(classes[i]) {
					before = strong(classes[i])
					break
				}
			}
			if before != side {
				to = before
			}
		}
		classes[pair[0]], classes[pair[1]] = to, to
	}
}

// pairs returns the places of brackets that belong together, in the order of the opening ones.
func (l letters) pairs(classes []bidi.Class) (out [][2]int) {
	var open []int
	for i, s := range l.text {
		if !neutral(classes[i]) {
			continue
		}
		if closing[s] != "" {
			open = append(open, i)
			continue
		}
		for n := len(open) - 1; n >= 0; n-- {
			if closing[l.text[open[n]]] == s {
				out, open = append(out, [2]int{open[n], i}), open[:n]
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

// drawn returns the numbers of letters from left to right, by rule L2.
func drawn(levels []int) []int {
	out := make([]int, len(levels))
	for i := range out {
		out[i] = i
	}
	for level := 2; level > 0; level-- {
		for i := 0; i < len(out); {
			end := i
			for end < len(out) && levels[out[end]] >= level {
				end++
			}
			slices.Reverse(out[i:end])
			i = max(end, i+1)
		}
	}
	return out
}
