package doubt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Seen is what readers found on a page.
type Seen struct {
	Kept       string   // the text that an answer would replace
	Others     []string // what other readers found, and what was left out of Kept, such as running heads
	Recognised bool     // Kept was recognised in a picture, and its letters may be wrong
	Sure       string   // the words of Kept that were recognised with confidence
}

// Shares of the words of a recognised page that may differ: recognised words only have to be similar. A text layer has the letters
// of the page, and an answer must have all of them and no others.
const (
	strangeOf = 0.15 // of the answer: words that no reader found
	lostOf    = 0.25 // of Kept: words that the answer lacks
	fewWords  = 2    // may differ on any page that has more
)

// Check returns why an answer must not replace the text of a page: it has words or numbers that no reader found, lacks some of the
// page, or has them in an order that contradicts every reader. Numbers must be the same, apart from those that were recognised
// without confidence. If the answer may be used, Check returns what about it the readers do not confirm.
func (s Seen) Check(answer string) ([]Doubt, error) {
	words, kept := wordsOf(answer), wordsOf(s.Kept)
	switch {
	case len(words) == 0:
		return nil, errors.New("it is empty")
	case len(kept) == 0 && strings.TrimSpace(strings.Join(s.Others, "")) == "":
		return nil, errors.New("no reader found any text on the page to compare it with")
	}
	if most := s.longest(); len(words) > 2*most+fewWords {
		return nil, fmt.Errorf("it has %d words, and the page %d", len(words), most)
	}
	left, err := s.letters(answer, words, kept)
	if err != nil {
		return nil, err
	}
	for _, check := range []func() (string, string, error){
		func() (string, string, error) { return s.order(words) },
		func() (string, string, error) { return s.cells(answer) },
	} {
		code, why, err := check()
		if err != nil {
			return nil, err
		}
		left = Add(left, code, why)
	}
	return left, nil
}

// letters compares the words of an answer with those of the page.
func (s Seen) letters(answer string, words, kept []string) (left []Doubt, err error) {
	strangers, numbers := s.pool().lacks(words)
	if numbers > 0 {
		return nil, errors.New("it has " + plural(numbers, "number") + " that no reader found")
	}
	if strangers > 0 && (!s.Recognised || over(strangers, len(words), strangeOf)) {
		return nil, fmt.Errorf("%d of its %d words were found by no reader", strangers, len(words))
	}
	gone, numbers := newPool(s.Recognised, answer).lacks(kept)
	differ := 0
	if s.Recognised {
		differ, numbers = newPool(false, answer).lacks(wordsOf(s.Sure))
		differ = max(differ, unmatched(s.Kept, answer))
	}
	if numbers > 0 {
		return nil, errors.New("it lacks " + plural(numbers, "number") + " of the page")
	}
	if gone > 0 && (!s.Recognised || over(gone, len(kept), lostOf)) {
		return nil, fmt.Errorf("it lacks %d of the %d words on the page", gone, len(kept))
	}
	if differ > 0 {
		left = Add(left, Recognition, fmt.Sprintf("a model read it, and differs from text recognition in %s of %d", plural(differ, "word"), len(fields(s.Kept))))
	}
	return left, nil
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
	words  map[string]int
	texts  []stream // readers divide words differently
	fuzzy  bool     // similar words count too
	like   map[int][]string
	unsure map[int][]string // words as they were recognised without confidence, digits and letters together
}

func newPool(fuzzy bool, texts ...string) *pool {
	p := &pool{words: map[string]int{}, fuzzy: fuzzy, like: map[int][]string{}, unsure: map[int][]string{}}
	for _, text := range texts {
		words := wordsOf(text)
		p.texts = append(p.texts, streamOf(words))
		for w, n := range count(words) {
			p.words[w] = max(p.words[w], n)
		}
	}
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
	places := map[string][]int{}
	for i, w := range words {
		places[w] = append(places[w], i)
	}
	tries := mostDivided
	for word, at := range places {
		missing := len(at) - p.words[word]
		if missing <= 0 || p.words[word] == 0 && p.similar(word) {
			continue
		}
		if isNumber(word) {
			numbers += missing
			continue
		}
		for _, i := range at {
			if tries--; missing > 0 && tries >= 0 && p.divides(words, i) {
				missing--
			}
		}
		others += missing
	}
	return others, numbers
}

// longWord is how long a recognised word must be to count as seen because its letters are, across spaces: a shorter one is among any
// letters.
const longWord = 4

// similar reports whether a word that the pool does not have was recognised differently.
func (p *pool) similar(word string) bool {
	if !p.fuzzy {
		return false
	}
	runes := []rune(word)
	within := func(t stream) bool { return len(runes) >= longWord && strings.Contains(t.letters, word) }
	return near(p.unsure, runes) || !isNumber(word) && slices.ContainsFunc(p.texts, within) || !isNumber(word) && near(p.like, runes)
}

// unmatched counts the words of one text that have no word like them in the other, each of which is used once.
func unmatched(a, b string) int {
	left, right := fields(a), fields(b)
	if len(left)+len(right) > mostFuzzy {
		return 0 // the shares of all words decide
	}
	n := count(right)
	left = slices.DeleteFunc(left, func(w string) bool { n[w]--; return n[w] >= 0 })
	m := count(fields(a))
	right = slices.DeleteFunc(right, func(w string) bool { m[w]--; return m[w] >= 0 })
	alone := 0
	for _, w := range left {
		if at := slices.IndexFunc(right, func(other string) bool { return alike([]rune(other), []rune(w)) }); at >= 0 {
			right = slices.Delete(right, at, at+1)
		} else {
			alone++
		}
	}
	return max(alone, len(right))
}

// fields returns the words of a text as they are written, digits and letters together.
func fields(text string) []string {
	text = strings.ToLower(hyphenated.ReplaceAllString(seen(text), "$1$2"))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
}

// alike reports whether two words differ in at most a third of the letters.
func alike(a, b []rune) bool {
	most := max(1, len(b)/3)
	return max(len(a), len(b))-min(len(a), len(b)) <= most && within(a, b, most)
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
