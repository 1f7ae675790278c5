package main

import (
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// pageText makes text and evidence of page n of a document, and gives the table that ends the page. before gives that of the page before.
func pageText(page layout.Page, profile layout.Profile, n int, before func() *layout.Tail) (*extract.PageText, *layout.Tail) {
	plain, markdown, tail := profile.TextAfter(page, n, before)
	return &extract.PageText{Plain: plain, Markdown: markdown, Evidence: evidenceOf(page)}, tail
}

// noTable stands for the page before where there is none to read.
func noTable() *layout.Tail { return nil }

// sampled lists the pages that a document's profile is made of: pairs, since left and right pages have heads of their own,
// spread evenly over the document.
func sampled(pages int) []int {
	const pairs = 6
	var out []int
	if pages <= 2*pairs {
		for n := 1; n <= pages; n++ {
			out = append(out, n)
		}
		return out
	}
	for i := range pairs {
		n := 1 + i*(pages-2)/(pairs-1)
		out = append(out, n, n+1)
	}
	return out
}

// sideBySide says whether lines stand beside one another. Where none do, the page has neither columns nor tables, and MuPDF's
// HTML tells all there is to know of it.
func sideBySide(page layout.Page) bool {
	rows := map[int]float64{}
	for _, line := range page.Lines {
		row := int(line.Box.Y0 / 12)
		for _, at := range []int{row - 1, row, row + 1} {
			if left, ok := rows[at]; ok && (left-line.Box.X0 > 2*line.Size || line.Box.X0-left > 2*line.Size) {
				return true
			}
		}
		rows[row] = line.Box.X0
	}
	return false
}
