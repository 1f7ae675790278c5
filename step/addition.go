package step

import (
	"bytes"
)

// holdsHalf reports whether now contains at least half of the lines that staged adds to base. Blank lines do not count, repeated
// ones do.
func holdsHalf(base, staged, now []byte) bool {
	added := lineCounts(staged)
	for line, n := range lineCounts(base) {
		added[line] -= n
	}
	have := lineCounts(now)
	for line, n := range lineCounts(base) {
		have[line] -= n // lines from before prove nothing
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

// lineCounts counts the trimmed lines of a text, without blank ones.
func lineCounts(text []byte) map[string]int {
	counts := map[string]int{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			counts[string(line)]++
		}
	}
	return counts
}
