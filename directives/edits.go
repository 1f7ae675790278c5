package directives

import (
	"strings"
	"unicode/utf8"
)

// mend gives edits to the diagnostic that was added last.
func (r *report) mend(edits ...Edit) {
	if len(r.list) > 0 {
		r.list[len(r.list)-1].Edits = edits
	}
}

// mendWord replaces a word by the candidate that it must mean; in doubt nothing is offered.
func (r *report) mendWord(at Position, word string, candidates []string) {
	if near, ok := Certain(word, candidates); ok {
		r.mend(Replace(at, utf8.RuneCountInString(word), near))
	}
}

// Certain is [Nearest] for corrections that nobody looks at: the candidate must be nearer than every other, and the word
// must have at least three characters.
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
