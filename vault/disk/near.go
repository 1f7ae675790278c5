package disk

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/vault"
)

// maxNear is how many similar names a missing link is answered with.
const maxNear = 3

// near finds files whose last part differs from a link's in a few letters, or only in its extension.
func (ix *index) near(linkpath string) []string {
	link, _ := vault.NormaliseLink(linkpath)
	want := []rune(vault.Fold(strings.TrimSuffix(path.Base(link), ".md")))
	if link == "" || len(want) > vault.MaxPartBytes {
		return nil
	}
	allowed := 1 + min(len(want)/5, 2)
	type hit struct {
		vault.IndexedName
		distance int
	}
	var hits []hit
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	m := newMeasure(want)
	for base, entries := range ix.names.Bases() {
		d := m.distance(strings.TrimSuffix(base, ".md"), allowed)
		if d > allowed {
			continue
		}
		for _, e := range entries {
			hits = append(hits, hit{e, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.Length, b.Length), strings.Compare(a.Name, b.Name))
	})
	var names []string
	for _, h := range hits[:min(len(hits), maxNear)] {
		names = append(names, h.Name)
	}
	return names
}

// measure compares one wanted name with many.
type measure struct {
	want            []rune
	whole, stem     string // want, and without its extension
	row, last, prev []int
}

func newMeasure(want []rune) *measure {
	whole := string(want)
	return &measure{want: want, whole: whole, stem: strings.TrimSuffix(whole, path.Ext(whole))}
}

// distance is the number of letters to insert, remove, replace or swap; one more than allowed means too many. A name
// that differs in its extension alone is at distance one.
func (m *measure) distance(name string, allowed int) int {
	if stem := strings.TrimSuffix(name, path.Ext(name)); stem != "" && (stem == m.whole || stem == m.stem) {
		if name == m.whole {
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
		// Cells further than allowed from the diagonal are too many edits away; their neighbours read them as such.
		from, to := max(1, i-allowed), min(n-1, i+allowed)
		m.row[from-1] = allowed + 1
		if from == 1 {
			m.row[0] = i
		}
		best := m.row[from-1]
		for j := from; j <= to; j++ {
			best = min(best, m.cell(name, i, j))
		}
		if best > allowed {
			return allowed + 1
		}
		if to+1 < n {
			m.row[to+1] = allowed + 1
		}
		m.prev, m.last, m.row = m.last, m.row, m.prev
	}
	return min(m.last[n-1], allowed+1)
}

// cell works out one field of the table.
func (m *measure) cell(name []rune, i, j int) int {
	cost := 1
	if name[i-1] == m.want[j-1] {
		cost = 0
	}
	d := min(m.last[j]+1, m.row[j-1]+1, m.last[j-1]+cost)
	if i > 1 && j > 1 && name[i-1] == m.want[j-2] && name[i-2] == m.want[j-1] {
		d = min(d, m.prev[j-2]+1)
	}
	m.row[j] = d
	return d
}
