package doubt

import "strings"

// stream is the letters of a text without spaces, and where its words begin and end.
type stream struct {
	letters string
	bounds  map[int]bool
}

func streamOf(words []string) stream {
	s := stream{letters: strings.Join(words, ""), bounds: map[int]bool{0: true}}
	at := 0
	for _, w := range words {
		at += len(w)
		s.bounds[at] = true
	}
	return s
}

// Readers put spaces into words and leave them out.
const (
	mostParts   = 4   // of a word
	mostDivided = 500 // words that are searched for in other divisions
)

// divides reports whether some text of the pool has the word at a place among others, divided in other places: "in the" for "inthe",
// "international" for "inter national". Whole words of the text must correspond to whole words around it, so that "legal" is not
// found in "illegal".
func (p *pool) divides(words []string, at int) bool {
	for first := max(0, at-mostParts+1); first <= at; first++ {
		before := len(strings.Join(words[first:at], ""))
		for end := at + 1; end <= min(len(words), first+mostParts); end++ {
			together := strings.Join(words[first:end], "")
			for _, text := range p.texts {
				if text.divides(together, before, before+len(words[at])) {
					return true
				}
			}
		}
	}
	return false
}

// divides reports whether the letters are words of the text, but those from begin to end are not a word of their own there.
func (s stream) divides(letters string, begin, end int) bool {
	for from := 0; ; {
		i := strings.Index(s.letters[from:], letters)
		if i < 0 {
			return false
		}
		i += from
		single := s.bounds[i+begin] && s.bounds[i+end]
		for b := i + begin + 1; single && b < i+end; b++ {
			single = !s.bounds[b]
		}
		if s.bounds[i] && s.bounds[i+len(letters)] && !single {
			return true
		}
		from = i + 1
	}
}
