package prompt

import (
	"fmt"
	"strconv"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
)

// rectWords says a part of a page.
func rectWords(r content.Rect) string {
	return fmt.Sprintf("part %g,%g,%g,%g", r.X1, r.Y1, r.X2, r.Y2)
}

// selectPages are the pages of the ranges that a document of n pages has, in the order of the ranges, each once. Without
// ranges they are all.
func selectPages(ranges []directives.Range, n int) []int {
	if len(ranges) == 0 {
		ranges = []directives.Range{{First: 1}}
	}
	seen := make([]bool, n+1)
	var list []int
	for _, r := range ranges {
		last := r.Last
		if last == 0 || last > n {
			last = n
		}
		for p := max(r.First, 1); p <= last; p++ {
			if !seen[p] {
				seen[p] = true
				list = append(list, p)
			}
		}
	}
	return list
}

// pageWords names a page: `page 3 of 12`, with the number that is printed on it when that is another one.
func pageWords(page, of int, label string) string {
	words := fmt.Sprintf("page %d of %d", page, of)
	if label = quoted(label); label != "" && label != strconv.Itoa(page) {
		words += ", printed as " + label
	}
	return words
}
