package diag

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate with the smallest edit distance to word, or "" if none is near: at most two edits, and one if
// the word has fewer than five letters. Ties are broken by name, so the order of the candidates does not matter.
func Nearest(word string, candidates []string) string {
	best, at := "", 3
	if utf8.RuneCountInString(word) < 5 {
		at = 2
	}
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < at || d == at && best != "" && c < best {
			best, at = c, d
		}
	}
	return best
}

// distance returns the edit distance: the number of insertions, deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 65
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// Certain is [Nearest] for corrections that nobody reviews: the candidate must be nearer than any other, and the word must
// have at least three characters.
func Certain(word string, candidates []string) (string, bool) {
	near := Nearest(word, candidates)
	if near == "" || utf8.RuneCountInString(word) < 3 {
		return "", false
	}
	d := distance(strings.ToLower(word), strings.ToLower(near))
	for _, c := range candidates {
		if c != near && distance(strings.ToLower(word), strings.ToLower(c)) <= d {
			return "", false
		}
	}
	return near, true
}

// DidYouMean suggests the nearest candidate, or returns otherwise if none is near.
func DidYouMean(word string, candidates []string, otherwise string) string {
	if n := Nearest(word, candidates); n != "" {
		return "did you mean " + n + "?"
	}
	return otherwise
}

// OneOf joins words for a message: `a, b or c`.
func OneOf(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
