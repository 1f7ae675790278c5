package llm

import (
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// maxRange is the most pages of one document that a range may name.
const maxRange = 10_000

// pageCount is how many pages of a document are sent: at least one.
func pageCount(d content.Document) int { return max(1, len(pageNumbers(d))) }

// pageNumbers lists the pages of a document that are sent, in order. It is empty when they are not known.
func pageNumbers(d content.Document) []int {
	words := d.PageRange
	if words == "" && d.Pages > 0 {
		words = "1-" + strconv.Itoa(d.Pages)
	}
	var pages []int
	for part := range strings.SplitSeq(words, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || first < 1 || last < first || last-first > maxRange || len(pages) > maxRange {
			return nil
		}
		for n := first; n <= last; n++ {
			pages = append(pages, n)
		}
	}
	return pages
}

// pageRange writes pages as a range: 1-4,7. They are in order.
func pageRange(pages []int) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		part := strconv.Itoa(pages[i])
		if j > i {
			part += "-" + strconv.Itoa(pages[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
