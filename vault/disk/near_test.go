package disk

import (
	"math/rand/v2"
	"testing"
)

// plain is the optimal string alignment distance, by the book.
func plain(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range b {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestMeasure_agreesWithTheBook(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	word := func() []rune {
		out := make([]rune, 1+r.IntN(9))
		for i := range out {
			out[i] = rune('a' + r.IntN(3))
		}
		return out
	}
	for range 20_000 {
		want := word()
		m := newMeasure(want)
		for range 3 { // the tables are used again
			name, allowed := word(), 1+r.IntN(3)
			got := m.distance(string(name), allowed)
			if right := min(plain(want, name), allowed+1); got != right && string(name) != string(want) {
				t.Fatalf("%q to %q, %d allowed: got %d, want %d", string(want), string(name), allowed, got, right)
			}
		}
	}
}
