package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// pageNumber is a line that only numbers its page. Four digits are rather a year.
var pageNumber = regexp.MustCompile(`^(?i)[-–—|\s]*(?:(?:page|p\.|seite|s\.|página|pagina)\s*)?(?:\d{1,3}|[ivxl]{1,7})(?:\s*(?:/|of|von|de|di|sur)\s*\d{1,4})?[-–—|\s]*$`)

// withoutNumbers drops the page's number, with what is beside it at the other margin, from the top and the bottom of a page. There has to
// be a gap to the text, and the type must be no larger than the body's, because no title may be lost. A library's copy has two numbers.
func (p Profile) withoutNumbers(lines []Line, height float64) []Line {
	return p.withoutNumber(p.withoutNumber(lines, height), height)
}

func (p Profile) withoutNumber(lines []Line, height float64) []Line {
	all := rowsOf(lines)
	if len(all) < 3 {
		return lines
	}
	text := boxOf(lines)
	dropped := map[int]bool{}
	for _, end := range [][2]int{{0, 1}, {len(all) - 1, len(all) - 2}} {
		row, next := all[end[0]], all[end[1]]
		at, size := row[0].base(), row[0].Size
		inBand := at < 1.25*headBand*height || at > (1-headBand)*height
		if gap := max(next[0].base()-at, at-next[0].base()); !inBand || gap < 1.8*max(size, next[0].Size) {
			continue
		}
		if p.numbers(row, text, 1.05) || end[0] > 0 && len(row) == 1 && p.numbers(row, text, largestHead) {
			for _, l := range row {
				dropped[l.at] = true
			}
		}
	}
	if len(dropped) == 0 {
		return lines
	}
	kept := make([]Line, 0, len(lines))
	for _, l := range lines {
		if !dropped[l.at] {
			kept = append(kept, l)
		}
	}
	return kept
}

// numbers reports whether a row is a page number alone, or one at a margin with text at the other, in type of at most so many sizes of the body.
func (p Profile) numbers(row []Line, text Box, largest float64) bool {
	found := -1
	for i, l := range row {
		if l.Size > largest*p.body {
			return false
		}
		if pageNumber.MatchString(l.Text) && (i == 0 || i == len(row)-1) {
			found = i
		}
	}
	if found < 0 || len(row) == 1 {
		return found == 0
	}
	number, box := row[found].Box, boxOf(row)
	gap := row[1].Box.X0 - row[0].Box.X1
	if found > 0 {
		gap = number.X0 - row[found-1].Box.X1
	}
	return len(row) <= 3 && gap > 2*row[found].Size && box.width() > 0.5*text.width()
}

// fewLineNumbers is how many numbers in a margin number the lines of a page; fewer may be of anything.
const fewLineNumbers = 5

// withoutLineNumbers drops the numbers of lines of prose, each one or every fifth, that are in the margin or between two columns: they are no
// words of the sentences beside them.
func withoutLineNumbers(lines []Line) []Line {
	var numbers []Line
	for _, l := range lines {
		if whole.MatchString(l.Text) && l.Turns == 0 {
			numbers = append(numbers, l)
		}
	}
	slices.SortStableFunc(numbers, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	for _, edge := range []func(Line) float64{func(l Line) float64 { return l.Box.X1 }, func(l Line) float64 { return l.Box.X0 }} {
		tried := []float64{}
		for _, first := range numbers {
			near := func(x float64) bool { return math.Abs(x-edge(first)) < 2 }
			if slices.ContainsFunc(tried, near) || len(tried) == maxColumns {
				continue
			}
			tried = append(tried, edge(first))
			column := slices.DeleteFunc(slices.Clone(numbers), func(l Line) bool { return !near(edge(l)) })
			if countUp(column) && besideProse(column, lines) {
				dropped := map[int]bool{}
				for _, l := range column {
					dropped[l.at] = true
				}
				return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return dropped[l.at] })
			}
		}
	}
	return lines
}

// countUp reports whether numbers rise by one, or by five from a multiple of it.
func countUp(numbers []Line) bool {
	if len(numbers) < fewLineNumbers {
		return false
	}
	step, last := 0, 0
	for i, l := range numbers {
		n, _ := strconv.Atoi(l.Text) // four digits
		if i == 1 {
			step = n - last
		}
		if i > 0 && n-last != step || i > 0 && numbers[i-1].base() > l.base()-0.8*l.Size {
			return false
		}
		last = n
	}
	return step == 1 || step == 5 && last%5 == 0
}

// besideProse reports whether numbers are each beside one line of prose that continues from line to line, and nothing is above or below them.
func besideProse(numbers, lines []Line) bool {
	box, widest := boxOf(numbers), 0.0
	beside := map[int]bool{}
	var prose []Line
	for _, l := range lines {
		if l.base() < box.Y0 || l.base() > box.Y1+l.Size || slices.ContainsFunc(numbers, func(n Line) bool { return n.at == l.at }) {
			continue
		}
		if overlap(l.Box, box) > 0 {
			return false
		}
		i, _ := slices.BinarySearchFunc(numbers, l.base()-0.6*l.Size, func(n Line, y float64) int { return cmp.Compare(n.base(), y) })
		if i < len(numbers) && numbers[i].base() < l.base()+0.6*l.Size {
			beside[i] = true
		}
		prose, widest = append(prose, l), max(widest, l.Box.width())
	}
	long, small := 0, 0
	for _, l := range prose {
		if l.runes() >= 30 && l.Box.width() > 0.7*widest {
			long++
		}
		if !beginsUpper(l.Text) {
			small++
		}
	}
	return len(beside)*10 >= 9*len(numbers) && long*10 >= 6*len(prose) && small*10 >= 3*len(prose)
}
