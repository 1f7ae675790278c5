package vault

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNear is how many similar names a missing link is answered with.
const maxNear = 3

// near finds files whose last part differs from a link's in a few letters, or only in its extension.
func (ix *index) near(linkpath string) []string {
	link, _ := normalise(linkpath)
	want := []rune(fold(strings.TrimSuffix(path.Base(link), ".md")))
	if link == "" || len(want) > maxSegment {
		return nil
	}
	allowed := 1 + min(len(want)/5, 2)
	type hit struct {
		entry
		distance int
	}
	var hits []hit
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	m := measure{want: want, stem: []rune(strings.TrimSuffix(string(want), path.Ext(string(want))))}
	for base, entries := range ix.byBase {
		d := m.distance(strings.TrimSuffix(base, ".md"), allowed)
		if d > allowed {
			continue
		}
		for _, e := range entries {
			hits = append(hits, hit{e, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.length, b.length), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, h := range hits[:min(len(hits), maxNear)] {
		names = append(names, h.name)
	}
	return names
}

// measure compares one wanted name with many.
type measure struct {
	want, stem      []rune
	row, last, prev []int
}

// distance is the number of letters to insert, remove, replace or swap; one more than allowed means too many. A name
// that differs in its extension alone is at distance one.
func (m *measure) distance(name string, allowed int) int {
	if stem := strings.TrimSuffix(name, path.Ext(name)); stem != "" && (stem == string(m.want) || stem == string(m.stem)) {
		if name == string(m.want) {
			return 0
		}
		return 1
	}
	if diff := utf8.RuneCountInString(name) - len(m.want); diff > allowed || -diff > allowed {
		return allowed + 1
	}
	return m.edits([]rune(name), allowed)
}

// edits is the optimal string alignment distance, given up as soon as it must exceed allowed.
func (m *measure) edits(name []rune, allowed int) int {
	n := len(m.want) + 1
	if len(m.row) < n {
		m.row, m.last, m.prev = make([]int, n), make([]int, n), make([]int, n)
	}
	for j := range n {
		m.last[j] = j
	}
	for i := 1; i <= len(name); i++ {
		m.row[0] = i
		best := i
		for j := 1; j < n; j++ {
			cost := 1
			if name[i-1] == m.want[j-1] {
				cost = 0
			}
			d := min(m.last[j]+1, m.row[j-1]+1, m.last[j-1]+cost)
			if i > 1 && j > 1 && name[i-1] == m.want[j-2] && name[i-2] == m.want[j-1] {
				d = min(d, m.prev[j-2]+1)
			}
			m.row[j] = d
			best = min(best, d)
		}
		if best > allowed {
			return allowed + 1
		}
		m.prev, m.last, m.row = m.last, m.row, m.prev
	}
	return m.last[n-1]
}
