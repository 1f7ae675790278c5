package step

import (
	"bytes"
)

// holdsHalf tells whether now holds at least half of the lines that staged has and base has not, blank ones aside. Lines
// that stand several times count as often. Nothing added is nothing held.
func holdsHalf(base, staged, now []byte) bool {
	added := lineCounts(staged)
	for line, n := range lineCounts(base) {
		added[line] -= n
	}
	have := lineCounts(now)
	for line, n := range lineCounts(base) {
		have[line] -= n // what the file held before is no sign
	}
	all, held := 0, 0
	for line, n := range added {
		if n > 0 {
			all += n
			held += max(0, min(n, have[line]))
		}
	}
	return all > 0 && 2*held >= all
}

// lineCounts counts the lines of a text that are not blank, without the blanks around them.
func lineCounts(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			counts[string(line)]++
		}
	}
	return counts
}
