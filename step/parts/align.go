package parts

import (
	"slices"
)

// smallGap is the size up to which a stretch without a unique entry is compared entry by entry.
const smallGap = 400

// align finds for each entry of now the equal one of old, or -1. The places ascend.
func align(old, now []string) []int {
	match := make([]int, len(now))
	for i := range match {
		match[i] = -1
	}
	alignInto(match, old, now, 0)
	return match
}

// alignInto fills match for now; old begins at the place from. Entries that occur once on both sides divide the lists.
func alignInto(match []int, old, now []string, from int) {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		match[0] = from
		match, old, now, from = match[1:], old[1:], now[1:], from+1
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		match[len(now)-1] = from + len(old) - 1
		match, old, now = match[:len(now)-1], old[:len(old)-1], now[:len(now)-1]
	}
	if len(old) == 0 || len(now) == 0 {
		return
	}
	anchors := ascending(unique(old, now))
	if len(anchors) == 0 {
		if len(old) <= smallGap && len(now) <= smallGap {
			longest(match, old, now, from)
		}
		return
	}
	o, n := 0, 0
	for _, a := range anchors {
		match[a[1]] = from + a[0]
		alignInto(match[n:a[1]], old[o:a[0]], now[n:a[1]], from+o)
		o, n = a[0]+1, a[1]+1
	}
	alignInto(match[n:], old[o:], now[n:], from+o)
}

// unique returns the places of entries that occur once in each list, in the order of now.
func unique(old, now []string) [][2]int {
	type places struct{ o, n, at, in int }
	count := map[string]places{}
	for i, id := range old {
		c := count[id]
		count[id] = places{c.o + 1, c.n, i, c.in}
	}
	for i, id := range now {
		c := count[id]
		count[id] = places{c.o, c.n + 1, c.at, i}
	}
	var list [][2]int
	for i, id := range now {
		if c := count[id]; c.o == 1 && c.n == 1 {
			list = append(list, [2]int{c.at, i})
		}
	}
	return list
}

// ascending returns a longest choice of pairs whose first places ascend too.
func ascending(pairs [][2]int) [][2]int {
	var tails []int // index into pairs of the smallest end of a chain, by length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tails, p[0], func(t, first int) int { return pairs[t][0] - first })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	var chain [][2]int
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		chain = append(chain, pairs[i])
	}
	slices.Reverse(chain)
	return chain
}

// longest matches a longest common subsequence.
func longest(match []int, old, now []string, from int) {
	lengths := make([][]int, len(old)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(now); {
		switch {
		case old[i] == now[j]:
			match[j] = from + i
			i, j = i+1, j+1
		case lengths[i+1][j] >= lengths[i][j+1]:
			i++
		default:
			j++
		}
	}
}

// owners returns for each entry of now the place in old that it belongs to: that of the equal entry, that of the one that it
// replaces, or that of the entry before it. The places do not descend. Entries behind the end of old, which replace nothing, have
// len(old).
func owners(old, now []string) []int {
	match := align(old, now)
	last := -1 // the place of the entry before
	for i := 0; i < len(match); {
		if match[i] >= 0 {
			last = match[i]
			i++
			continue
		}
		end := i
		for end < len(match) && match[end] < 0 {
			end++
		}
		next := len(old)
		if end < len(match) {
			next = match[end]
		}
		for ; i < end; i++ {
			switch {
			case last+1 < next: // it replaces the entry that was here
				last++
				match[i] = last
			case next < len(old):
				match[i] = max(last, 0) // inserted
			default:
				match[i] = len(old)
			}
		}
	}
	return match
}
