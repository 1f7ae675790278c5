package ingestion

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PageSet is a choice of pages. The zero value means all.
type PageSet struct{ runs []pageRun }

type pageRun struct{ first, last int } // inclusive

// maxRuns bounds the parts of a choice of pages.
const maxRuns = 1000

// ParsePages reads a choice such as "1-20,35,50-": single pages, runs, and a run to the end. Empty means all.
func ParsePages(s string) (PageSet, error) {
	var set PageSet
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
			return PageSet{}, fmt.Errorf("pages %q: %q is no page and no run of pages; write for example 1-20,35,50-", s, part)
		}
		if set.runs = append(set.runs, pageRun{first, last}); len(set.runs) > maxRuns {
			return PageSet{}, fmt.Errorf("pages: more than %d parts", maxRuns)
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

// String writes the choice in its shortest form; empty for all.
func (p PageSet) String() string {
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

// Has says whether a page is among those that were chosen.
func (p PageSet) Has(n int) bool {
	for _, r := range p.runs {
		if n >= r.first && n <= r.last {
			return true
		}
	}
	return len(p.runs) == 0
}

// of lists the chosen pages of a document, in order.
func (p PageSet) of(pages int) []int {
	var list []int
	for n := 1; n <= pages; n++ {
		if p.Has(n) {
			list = append(list, n)
		}
	}
	return list
}
