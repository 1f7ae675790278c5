// Package choose decides which pages of a document are imported, and which of them text recognition reads.
package choose

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Pages is a selection of pages. The zero value means all.
type Pages struct{ runs []pageRun }

type pageRun struct{ first, last int } // inclusive

// maxRuns limits the parts of a selection.
const maxRuns = 1000

// ParsePages reads a selection such as "1-20,35,50-": pages, ranges, and a range to the end. Empty means all.
func ParsePages(s string) (Pages, error) {
	var set Pages
	if strings.TrimSpace(s) == "" {
		return set, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRun := strings.Cut(strings.TrimSpace(part), "-")
		first, err := pageNumber(from)
		last := first
		switch {
		case err != nil:
		case isRun && strings.TrimSpace(to) == "":
			last = math.MaxInt
		case isRun:
			last, err = pageNumber(to)
		}
		if err != nil || last < first {
			return Pages{}, fmt.Errorf("pages %q: %q is not a page or a range; write, for example, 1-20,35,50-", s, part)
		}
		if set.runs = append(set.runs, pageRun{first, last}); len(set.runs) > maxRuns {
			return Pages{}, fmt.Errorf("pages: too long; at most %d parts are allowed", maxRuns)
		}
	}
	return set, nil
}

func pageNumber(s string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}

// String returns the selection in its shortest form, or "" for all.
func (p Pages) String() string {
	parts := make([]string, len(p.runs))
	for i, r := range p.runs {
		switch r.last {
		case r.first:
			parts[i] = strconv.Itoa(r.first)
		case math.MaxInt:
			parts[i] = strconv.Itoa(r.first) + "-"
		default:
			parts[i] = strconv.Itoa(r.first) + "-" + strconv.Itoa(r.last)
		}
	}
	return strings.Join(parts, ",")
}

// Has reports whether a page was chosen.
func (p Pages) Has(n int) bool {
	for _, r := range p.runs {
		if n >= r.first && n <= r.last {
			return true
		}
	}
	return len(p.runs) == 0
}

// Of returns the chosen pages of a document, in order.
func (p Pages) Of(pages int) []int {
	var list []int
	for n := 1; n <= pages; n++ {
		if p.Has(n) {
			list = append(list, n)
		}
	}
	return list
}
