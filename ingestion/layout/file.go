package layout

import (
	"cmp"
	"math"
	"slices"
)

// unmoved is the share of the items that the file has in the same order, from which on no other order is considered.
const unmoved = 0.9

// asInFile returns items in the order of the file if theirs is another one for which there is no reason. Programs mostly write a page as it is
// read; the reason for another order is that the file's jumps about the page more. A reading from the top down needs less of a reason.
func asInFile(items []item) []item {
	if inFile(items) >= unmoved {
		return items
	}
	file := slices.Clone(items)
	slices.SortStableFunc(file, func(a, b item) int { return cmp.Compare(a.place(), b.place()) })
	most := jumps(items)
	if !rises(items) {
		most /= 2
	}
	if jumps(file) > most {
		return items
	}
	return file
}

// place is where an item begins in the file.
func (it item) place() int {
	if it.table == nil {
		return it.line.at
	}
	first := math.MaxInt
	for _, l := range slices.Concat(slices.Concat(it.table.rows...)...) {
		first = min(first, l.at)
	}
	return first
}

// inFile is the share of the items that are in the longest part of an order that the file has so too.
func inFile(items []item) float64 {
	var ends []int // the lowest place at which a part of each length ends
	for _, it := range items {
		at := it.place()
		if i, _ := slices.BinarySearch(ends, at); i < len(ends) {
			ends[i] = at
		} else {
			ends = append(ends, at)
		}
	}
	return float64(len(ends)) / float64(max(len(items), 1))
}

// jumps counts the steps of an order that do not go down its column.
func jumps(items []item) int {
	n := 0
	for i := 1; i < len(items); i++ {
		a, b := items[i-1].box, items[i].box
		if overlap(a, b) <= 0 || b.Y1 < a.Y1 {
			n++
		}
	}
	return n
}
