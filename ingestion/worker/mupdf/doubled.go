package mupdf

import (
	"math"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// dropCovered drops lines all of whose letters are also those of another line, at the same places. Some programs print text twice, the second
// time without the letters that a font lacks.
func dropCovered(page *layout.Page, runs [][]glyph) {
	type place struct {
		text string
		x, y int
	}
	near := func(g glyph, dx, dy int) place {
		return place{g.text, int(math.Round(g.x)) + dx, int(math.Round(g.y)) + dy}
	}
	type lines struct {
		n  int
		at [4]int
	}
	owners := map[place]lines{}
	for i, run := range runs {
		for _, g := range run {
			at := near(g, 0, 0)
			if known := owners[at]; known.n < len(known.at) {
				known.at[known.n] = i
				known.n++
				owners[at] = known
			}
		}
	}
	gone := make([]bool, len(runs))
	for i, run := range runs {
		covered := map[int]int{}
		for _, g := range run {
			var found []int
			for n := range 9 {
				known := owners[near(g, n%3-1, n/3-1)]
				for _, owner := range known.at[:known.n] {
					if owner != i && !slices.Contains(found, owner) {
						found = append(found, owner)
					}
				}
			}
			if found == nil {
				break // this letter is not covered, so the line is not
			}
			for _, owner := range found {
				covered[owner]++
			}
		}
		for owner, n := range covered {
			longer := len(runs[owner]) - len(run)
			gone[i] = gone[i] || n == len(run) && !gone[owner] && (longer > 0 || longer == 0 && owner < i)
		}
	}
	kept := page.Lines[:0]
	for i, line := range page.Lines {
		if !gone[i] {
			kept = append(kept, line)
		}
	}
	page.Lines = kept
}
