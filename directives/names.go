package directives

import (
	"maps"
	"slices"
	"strings"
)

// grammar says how the lines of one directive are read.
type grammar struct {
	single bool     // may be given once in a step
	target bool     // the value is `file: …` or `variable: …`
	bare   bool     // may stand without a value
	body   bool     // the value may be a fenced block below the line
	params []string // allowed parameters; nil: parentheses belong to the text
	lists  []string // parameters whose values may hold commas
}

// foreign holds AssistantMD's directives for chats, which have no counterpart here.
var foreign = []string{"recent_runs", "recent_summaries", "passthrough_runs"}

// canonical folds case and `-` to `_`.
func canonical(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

func isKnown(name string) bool {
	_, ok := byName[canonical(name)]
	return ok || slices.Contains(foreign, canonical(name))
}

func nearestDirective(name string) string { return Nearest(canonical(name), Names()) }

// Names lists the directives of the language, sorted.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }

// Nearest is the candidate with the smallest edit distance to word, or "" when none is near: at most two edits, and
// fewer than half of the word. Equal distances are decided by name, so the result does not depend on the order.
func Nearest(word string, candidates []string) string {
	best, at := "", min(2, (len([]rune(word))+1)/2)+1
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < at || d == at && best != "" && c < best {
			best, at = c, d
		}
	}
	return best
}

// distance is the edit distance of insertions, deletions, replacements and swaps of neighbours.
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

// didYouMean is a suggestion made of the nearest candidate, or else.
func didYouMean(word string, candidates []string, otherwise string) string {
	if n := Nearest(word, candidates); n != "" {
		return "did you mean " + n + "?"
	}
	return otherwise
}

// oneOf joins words for a message: `a, b or c`.
func oneOf(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
