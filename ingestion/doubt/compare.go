package doubt

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of what two readers may differ in. A text of few words says nothing about its order.
const (
	lettersDiffer = 0.02 // of the letters
	fewLetters    = 12
	wordsDiffer   = 0.20 // of the words: they are divided in other places
	fewOrdered    = 30   // words that each text has once
	sameOrder     = 0.75 // of these words follow each other in both texts
	mostBytes     = 1 << 20
)

// Compare returns doubts about a text that two readers found: they read other letters, divide the words in other places, or have
// them in another order. ordered is the first reader's text in its final order.
func Compare(first, ordered, second string) (list []Doubt) {
	if len(first) > mostBytes || len(second) > mostBytes {
		return nil
	}
	a, b := wordsOf(first), wordsOf(second)
	letters := []rune(strings.Join(a, ""))
	differ := unlike(letters, []rune(strings.Join(b, "")))
	if differ > fewLetters && float64(differ) > lettersDiffer*float64(len(letters)) {
		list = Add(list, Readers, fmt.Sprintf("two programs read %d of its letters differently", differ))
	} else if n := unlike(a, b); n > fewLetters && float64(n) > wordsDiffer*float64(len(a)) {
		list = Add(list, Readers, fmt.Sprintf("two programs divide %d of its %d words differently", n, len(a)))
	}
	if share, n := Agreement(wordsOf(ordered), b); n >= fewOrdered && share < sameOrder {
		list = Add(list, Order, fmt.Sprintf("two programs have its words in a different order; %.0f %% of them agree", share*100))
	}
	return list
}

// unlike counts the words or letters that one of two texts lacks.
func unlike[T comparable](a, b []T) int {
	n, missing, more := count(b), 0, 0
	for word, times := range count(a) {
		missing += max(times-n[word], 0)
		n[word] -= times
	}
	for _, left := range n {
		more += max(left, 0)
	}
	return max(missing, more)
}

// Agreement returns the share of the words with one place in each text that are in the same order, and how many there are.
func Agreement(a, b []string) (share float64, n int) {
	inA, inB := count(a), count(b)
	at := map[string]int{}
	for i, w := range b {
		at[w] = i
	}
	var tails []int // ends of rising runs, by length
	for _, w := range a {
		if inA[w] != 1 || inB[w] != 1 {
			continue
		}
		n++
		i, _ := slices.BinarySearch(tails, at[w])
		if i == len(tails) {
			tails = append(tails, at[w])
		} else {
			tails[i] = at[w]
		}
	}
	if n == 0 {
		return 1, 0
	}
	return float64(len(tails)) / float64(n), n
}
