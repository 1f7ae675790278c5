package llm

import "github.com/vaultflow/vaultflow/content"

// pageNumbers lists the pages of a document that are sent, in order. It is empty when they are not known.
func pageNumbers(d content.Document) []int {
	pages, _ := d.PageNumbers() // of a range that is none nothing is known
	return pages
}

// pageCount is how many pages of a document are sent: at least one.
func pageCount(d content.Document) int { return max(1, len(pageNumbers(d))) }
