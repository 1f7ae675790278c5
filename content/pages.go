package content

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxRange is the most pages that one part of a range may name.
const maxRange = 10_000

// PageNumbers lists the pages of a document that are meant, in order and each once: those of PageRange, or all of them. It is
// empty when they are not known. A range that is none, or names pages that the document has not, is an error.
func (d Document) PageNumbers() ([]int, error) {
	words := d.PageRange
	if words == "" && d.Pages > 0 {
		words = "1-" + strconv.Itoa(d.Pages)
	}
	if words == "" {
		return nil, nil
	}
	var pages []int
	for part := range strings.SplitSeq(words, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("%q is no page range", words)
		}
		if first < 1 || last < first || d.Pages > 0 && last > d.Pages || last-first > maxRange || len(pages) > maxRange {
			return nil, fmt.Errorf("pages %q are not there", part)
		}
		for page := first; page <= last; page++ {
			pages = append(pages, page)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages), nil
}

// PageCount returns how many pages of a document are meant: at least one, also when they are not known.
func (d Document) PageCount() int {
	pages, _ := d.PageNumbers()
	return max(1, len(pages))
}

// PageRange writes pages as a range: 1-4,7. Pages that follow each other are joined; their order is kept.
func PageRange(pages []int) string { return joined(pages, "-", ",") }

// PageList names pages for readers: page 7, pages 1–4, 7.
func PageList(pages []int) string {
	if len(pages) == 1 {
		return "page " + strconv.Itoa(pages[0])
	}
	return "pages " + joined(pages, "–", ", ")
}

// joined writes pages that follow each other as a run, from the first to the last.
func joined(pages []int, to, and string) string {
	var runs []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		run := strconv.Itoa(pages[i])
		if j > i {
			run += to + strconv.Itoa(pages[j])
		}
		runs = append(runs, run)
		i = j + 1
	}
	return strings.Join(runs, and)
}
