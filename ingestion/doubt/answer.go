package doubt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Seen is what readers found on a page.
type Seen struct {
	Kept       string   // the text that an answer would replace
	Others     []string // what other readers found, and what was left out of Kept, such as running heads
	Recognised bool     // Kept was recognised in a picture, and its letters may be wrong
	Sure       string   // the words of Kept that were recognised with confidence
}

// Shares of the words that may differ. A text layer has the letters of the page: what differs is hyphenation, spacing and
// footnote marks. Recognised words only have to be similar.
const (
	strange   = 0.02 // of the answer: words that no reader found
	strangeOf = 0.15 // likewise, of a recognised page
	lost      = 0.10 // of Kept: words that the answer lacks
	lostOf    = 0.25 // likewise, of a recognised page
	fewWords  = 2    // may differ on any page that has more
)

// Check returns why an answer must not replace the text of a page, or nil: it has words or numbers that no reader found, or lacks
// some of the page. Numbers must be the same, apart from those that were recognised without confidence.
func (s Seen) Check(answer string) error {
	words, kept := wordsOf(answer), wordsOf(s.Kept)
	switch {
	case len(words) == 0:
		return errors.New("it is empty")
	case len(kept) == 0 && strings.TrimSpace(strings.Join(s.Others, "")) == "":
		return errors.New("no reader found any text on the page to compare it with")
	}
	if most := s.longest(); len(words) > 2*most+fewWords {
		return fmt.Errorf("it has %d words, and the page %d", len(words), most)
	}
	tolerated, tolerateLost := strange, lost
	if s.Recognised {
		tolerated, tolerateLost = strangeOf, lostOf
	}
	strangers, numbers := s.pool().lacks(words)
	if numbers > 0 {
		return errors.New("it has " + plural(numbers, "number") + " that no reader found")
	}
	if over(strangers, len(words), tolerated) {
		return fmt.Errorf("%d of its %d words were found by no reader", strangers, len(words))
	}
	gone, numbers := newPool(s.Recognised, answer).lacks(kept)
	if s.Recognised {
		_, numbers = newPool(false, answer).lacks(slices.DeleteFunc(wordsOf(s.Sure), func(w string) bool { return !isNumber(w) }))
	}
	if numbers > 0 {
		return errors.New("it lacks " + plural(numbers, "number") + " of the page")
	}
	if over(gone, len(kept), tolerateLost) {
		return fmt.Errorf("it lacks %d of the %d words on the page", gone, len(kept))
	}
	return nil
}

// longest returns the number of words of the reader that found most.
func (s Seen) longest() int {
	most := len(wordsOf(s.Kept))
	for _, other := range s.Others {
		most = max(most, len(wordsOf(other)))
	}
	return most
}

func over(n, of int, share float64) bool {
	return n > fewWords && float64(n) > share*float64(of) || n > 0 && n*2 >= of
}

func plural(n int, what string) string {
	if n == 1 {
		return "a " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pool is the words of texts, each as often as the text has it that has it most.
type pool struct {
	words   map[string]int
	letters string // of all texts, without spaces: readers divide words differently
	fuzzy   bool   // similar words count too
	like    map[int][]string
	unsure  map[int][]string // words as they were recognised without confidence, digits and letters together
}

func newPool(fuzzy bool, texts ...string) *pool {
	p := &pool{words: map[string]int{}, fuzzy: fuzzy, like: map[int][]string{}, unsure: map[int][]string{}}
	var b strings.Builder
	for _, text := range texts {
		words := wordsOf(text)
		b.WriteString(strings.Join(words, "") + "\n")
		for w, n := range count(words) {
			p.words[w] = max(p.words[w], n)
		}
	}
	p.letters = b.String()
	if p.fuzzy = fuzzy && len(p.words) <= mostFuzzy; p.fuzzy {
		for w := range p.words {
			n := len([]rune(w))
			p.like[n] = append(p.like[n], w)
		}
	}
	return p
}

// mostFuzzy is how many different words are searched for similar ones: many times those of a page.
const mostFuzzy = 5000

// pool returns the words that an answer may have.
func (s Seen) pool() *pool {
	texts := append([]string{s.Kept}, s.Others...)
	p := newPool(s.Recognised, texts...)
	if p.fuzzy {
		sure := count(strings.Fields(s.Sure))
		for _, text := range texts {
			for _, w := range strings.Fields(text) {
				if sure[w] == 0 {
					n := len([]rune(w))
					p.unsure[n] = append(p.unsure[n], strings.ToLower(w))
				}
			}
		}
	}
	return p
}

// lacks counts the words, and apart from them the numbers, that the pool does not have, or not as often.
func (p *pool) lacks(words []string) (others, numbers int) {
	for word, n := range count(words) {
		missing := n - p.words[word]
		if missing <= 0 || p.words[word] == 0 && p.similar(word) {
			continue
		}
		if isNumber(word) {
			numbers += missing
		} else {
			others += missing
		}
	}
	return others, numbers
}

// longWord is how long a word must be to count as seen because its letters are, across spaces: a shorter one is among any letters.
const longWord = 4

// similar reports whether a word that the pool does not have was divided or recognised differently.
func (p *pool) similar(word string) bool {
	runes := []rune(word)
	if isNumber(word) {
		return p.fuzzy && near(p.unsure, runes)
	}
	return len(runes) >= longWord && strings.Contains(p.letters, word) || p.fuzzy && (near(p.like, runes) || near(p.unsure, runes))
}

// near reports whether one of the words, which are by length, differs in at most a third of the letters.
func near(words map[int][]string, from []rune) bool {
	most := max(1, len(from)/3)
	for n := len(from) - most; n <= len(from)+most; n++ {
		for _, w := range words[n] {
			if within([]rune(w), from, most) {
				return true
			}
		}
	}
	return false
}

// within reports whether the edit distance of two words is at most that.
func within(a, b []rune, most int) bool {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return false
		}
	}
	return row[len(b)] <= most
}
