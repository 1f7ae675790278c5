package main

import (
	"math/bits"
)

// alike is 1 for equal texts and 0 for texts without a common letter: twice the longest common subsequence, by the sum of
// the lengths. Two empty texts are equal. It is the measure that rapidfuzz calls ratio.
func alike(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x)+len(y) == 0 {
		return 1
	}
	return 2 * float64(common(x, y)) / float64(len(x)+len(y))
}

// common is the length of the longest common subsequence. It works on a bit for each element of a (Hyyrö 2004).
func common[T comparable](a, b []T) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return newRow(a).add(b)
}

// bitRow is the state of a longest common subsequence: a zero bit where an element of the pattern is part of it.
type bitRow[T comparable] struct {
	length int
	places map[T][]uint64
}

func newRow[T comparable](pattern []T) *bitRow[T] {
	words := (len(pattern) + 63) / 64
	row := &bitRow[T]{length: len(pattern), places: map[T][]uint64{}}
	for i, x := range pattern {
		set := row.places[x]
		if set == nil {
			set = make([]uint64, words)
			row.places[x] = set
		}
		set[i/64] |= 1 << (i % 64)
	}
	return row
}

// add returns the length of the longest common subsequence of the pattern and a text.
func (row *bitRow[T]) add(text []T) int {
	words := (row.length + 63) / 64
	state := make([]uint64, words)
	for i := range state {
		state[i] = ^uint64(0)
	}
	for _, x := range text {
		set := row.places[x]
		if set == nil {
			continue
		}
		carry := uint64(0)
		for i := range state {
			u := state[i] & set[i]
			sum, c := bits.Add64(state[i], u, carry)
			state[i], carry = sum|(state[i]&^set[i]), c
		}
	}
	n := 0
	for i, s := range state {
		if i == words-1 && row.length%64 != 0 {
			s |= ^uint64(0) << (row.length % 64)
		}
		n += bits.OnesCount64(^s)
	}
	return n
}

// alikePart is the best alike of a text with any part of a longer one that is at most as long (rapidfuzz: partial_ratio).
func alikePart(part, whole string) float64 {
	x, y := []rune(part), []rune(whole)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) == 0 {
		if len(y) == 0 {
			return 1
		}
		return 0
	}
	row := newRow(x)
	best := 0.0
	try := func(window []rune) {
		best = max(best, 2*float64(row.add(window))/float64(len(x)+len(window)))
	}
	for i := 1; i < len(x); i++ {
		try(y[:i])
		try(y[len(y)-i:])
	}
	for i := 0; i+len(x) <= len(y) && best < 1; i++ {
		try(y[i : i+len(x)])
	}
	return best
}

// edits is the Levenshtein distance.
func edits[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		above := row[0]
		row[0] = i + 1
		for j := range b {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// span is a place in a text, in letters.
type span struct{ start, end, distance int }

// near finds the places of a text where a pattern stands with at most so many edits. Of places that overlap only the nearest
// is kept.
func near(pattern, text []rune, most int) []span {
	type cell struct{ distance, start int }
	row := make([]cell, len(pattern)+1)
	for i := range row {
		row[i] = cell{i, 0}
	}
	var found []span
	for at, r := range text {
		above := row[0]
		row[0] = cell{0, at + 1}
		for i, p := range pattern {
			best := above
			if p != r {
				best.distance++
			}
			if c := row[i+1]; c.distance+1 < best.distance {
				best = cell{c.distance + 1, c.start}
			}
			if c := row[i]; c.distance+1 < best.distance {
				best = cell{c.distance + 1, c.start}
			}
			above, row[i+1] = row[i+1], best
		}
		last := row[len(pattern)]
		if last.distance > most {
			continue
		}
		s := span{last.start, at + 1, last.distance}
		switch n := len(found); {
		case n == 0 || found[n-1].end <= s.start:
			found = append(found, s)
		case s.distance < found[n-1].distance:
			found[n-1] = s
		}
	}
	return found
}
